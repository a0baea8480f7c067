#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# /dev/bftmutex on a client of a cluster of four, from client 1's point of view.
# Client 2 competes; the helper of client 3 is stopped and killed as needed.
# shellcheck disable=SC2317  # cleanup is called by tap.sh

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../lib/cluster.sh"

cleanup() { down; }

load || bail "the module cannot be loaded"
up --servers 4 --clients 3 --lease-max 1s || bail "no cluster"
for program in ${1:-device_acquire device_lease device_renew device_signal device_matrix device_abi device_arguments device_share}; do
	embed c 1 "$program"
done
finish
