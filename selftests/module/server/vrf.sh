#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=9
#
# Hosts whose network card is in a VRF: a server answers the way it was asked, and what the
# kernel sends for the daemon goes where the daemon's own does.
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 … bftm-s4    n = 4, b = 1, F = 3
#
# Functions are called by name.
# shellcheck disable=SC2317,SC2119
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

cleanup() { down; }

# vrf NETNS: as an administrator does it whose services are to be reached in every VRF.
vrf() {
	ip -n "$1" link add red type vrf table 10 && ip -n "$1" link set red up &&
		ip -n "$1" link set eth0 master red &&
		ip netns exec "$1" sysctl -qw net.ipv4.udp_l3mdev_accept=1
}
servers_in_vrf() {
	local n
	for n in 1 2 3 4; do
		vrf "bftm-s$n" || return
	done
}
failed() { s "$1" bftmutexctl server show --json | gojq .stats.send_failed; }

# How many of 8 acquires the kernel made by itself.
won() { c "$1" bftmutexctl servers --json | gojq '.clusters[0].fast_won'; }
lent() { [[ $(c "$1" bftmutexctl servers --json | gojq '.clusters[0].fast_path') == true ]]; }
taken() {
	local before i
	wait_for 10 lent "$1" || return
	before=$(won "$1")
	for ((i = 0; i < 8; i++)); do
		c "$1" bftmutex -w 20 own true || return
	done
	(($(won "$1") - before >= 4)) || {
		echo "the kernel took $(($(won "$1") - before)) of 8"
		return 1
	}
}

load || bail "the module cannot be loaded"
# The device loads its module.
ip link add red type vrf table 10 || skip_all "no VRF in this kernel"
ip link del red
up --servers 4 --clients 2 --lease-max 4s || bail "no cluster"

ok "servers go into a VRF" servers_in_vrf
ok "and answer there" c 1 bftmutex -w 30 vrf true
ok "the kernel of a host outside takes locks of theirs" taken 1
ok "no answer failed" test "$(failed 1)" = 0

# shellcheck disable=SC2034  # start_helper reads it
run_helper=(ip vrf exec red)
kill_helper 2
ok "a client goes into a VRF" vrf bftm-c2
ok "and its daemon" start_helper 2
ok "which takes a lock" c 2 bftmutex -w 30 vrf true
ok "as its kernel does" taken 2
finish
