#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An operation on an object that nobody else uses; and many threads at once, whose
# requests are packed into operations. Puts of etcd beside it are in the row etcd.
# shellcheck disable=SC2154  # variables of lib.sh
# shellcheck source=selftests/measure/bench/lib.sh
. "$(dirname "$0")/../lib.sh"

# load ARG...: order_load on the client
load() { at order_load --clients 0-0 --object "$object" --request "add 1" "$@" >"$work/load"; }
value() { sed -n "s/^$1=//p" "$work/load"; }
datagrams() { at bftmutexctl servers --json | gojq ".clusters[0].servers | map(.$1) | add"; }

submits() { # COUNT
	local sent received
	sent=$(datagrams sent) received=$(datagrams received)
	load --count "$1" || return
	sent=$(($(datagrams sent) - sent)) received=$(($(datagrams received) - received))
	echo "submit.p50 $(value p50) ns"
	echo "submit.p99 $(value p99) ns"
	awk -v s="$sent" -v r="$received" -v n=$((7 * $1)) 'BEGIN {
		printf "submit.sent %.2f datagrams\nsubmit.received %.2f datagrams\n", s / n, r / n }'
}

operations() { at bftmutexctl stats --json | gojq .helper.ordering.operations; }

threads() { # N COUNT
	local before
	before=$(operations)
	load --threads "$1" --count "$2" || return
	echo "submit_$1.p50 $(value p50) ns"
	echo "submit_$1.per_request $(($(value ns) / $(value answered))) ns"
	awk -v r="$(value answered)" -v o=$(($(operations) - before)) -v n="$1" \
		'BEGIN { printf "submit_%d.batch %.2f requests\n", n, r / o }'
}

cluster 7 1 || bail "no cluster"
object=row
is "create" "$(at order_load --clients 0-0 --object $object --request "create counter" --print)" "0 "
row "a submit" submits 200
diag "$(grep datagrams "$work/values")"
for n in 1 4 16 64; do
	row "$n threads" threads $n $((n == 1 ? 64 : 256 / n + 4))
	diag "$(grep -v p50 "$work/values")"
done
finish
