#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One server: its round trip, what authentication costs, and the same core as a
# program.
# shellcheck disable=SC2154  # variables of lib.sh
# shellcheck source=selftests/measure/bench/lib.sh
. "$(dirname "$0")/../lib.sh"

# batch_row NAME [KIND]: one client each, none is heard after another used its keys
client=200
batch_row() {
	new_client $((++client))
	row "bursts: $1" at batch "$1" 100 1 10.73.0.1 "$keys" "${@:2}"
}

cluster 4 1 || bail "no cluster"
new_client 200
row "one server's try" at try try 1000 1 10.73.0.1 "$keys"
batch_row kernel
batch_row forged forged
batch_row stray stray
deaf s1
batch_row lost lost
hearing s1
lie 1 honest --lease-max 6s --no-quarantine || bail "no server in user space"
batch_row user
new_client 199
row "one server's try, in user space" at try try_user 1000 1 10.73.0.1 "$keys"
kill_liar 1
finish
