#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# From host to host, and contenders: 1 to 64 hosts, each in its namespace with its
# helper, which hold for 2 ms. And all of them hold shared, and one writes after that.
# shellcheck disable=SC2154  # variables of lib.sh
# shellcheck source=selftests/measure/bench/lib.sh
. "$(dirname "$0")/../lib.sh"

hosts=64
hold_us=2000

# as_rows PREFIX COMMAND...: key=value is made "PREFIX.key value unit"
as_rows() {
	"${@:2}" | awk -F= -v prefix="$1" '{
		sub(/^(acquire|handover)_/, "", $1)
		unit = $1 ~ /^(p50|p99|total|per_grant)$/ ? "ns" : "1"
		print prefix "." $1, $2, unit
	}'
}

# times COMMAND...: NAME_p50=value is made "NAME.p50 value ns"
times() { "$@" | awk -F= '{ sub(/_/, ".", $1); print $1, $2, "ns" }'; }

dev_up --servers 7 -b 1 --clients "$hosts" --lease-max 6s || bail "no cluster"
ready || bail "the cluster does not grant"
row "acquire from host to host" as_rows near handover alone 100
row "hand-over" as_rows handover handover pair 100
row "shared, from host to host" as_rows near_shared handover alone 100 shared
row "$hosts readers, and a writer" times handover readers "$hosts" 10
for ((t = 1; t <= hosts; t *= 2)); do
	row "$t hosts, queue" as_rows "queue_$t" handover crowd "$t" $((t < 16 ? 20 : 5)) "$hold_us"
done
for t in 2 4 8 16; do
	row "$t hosts, back-off" as_rows "backoff_$t" handover crowd "$t" 3 "$hold_us" backoff
done
finish
