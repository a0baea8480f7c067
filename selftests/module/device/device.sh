#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm kernels=6.1,6.12,6.12-debug clock=instructions about=module time=17
#
# /dev/bftmutex on a client of a cluster of four, from client 1's point of view.
# Client 2 competes; the helper of client 3 is stopped and killed as needed, and the
# kernel leaves everything to it.
#
#
# shellcheck disable=SC2154,SC2317  # dev is of cluster.sh, functions are called by tap.sh

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

cleanup() { down; }

load || bail "the module cannot be loaded"
up --servers 4 --clients 3 --lease-max 1s || bail "no cluster"
left_to_helper() { [[ $(c 3 bftmutexctl servers --json | gojq '.clusters[0].fast_path') == false ]]; }
sed -i "s/^cluster .*/&\n\tfast-path = no/" "$dev/c3/bftmutex.conf"
kill -HUP "$(helper 3)"
wait_for 10 left_to_helper || bail "client 3 is on the fast path"
for program in ${1:-device_acquire device_lease device_renew device_signal device_matrix device_abi device_arguments device_share device_slewed}; do
	embed c 1 "$program"
done
finish
