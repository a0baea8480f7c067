#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm kernels=6.1 clock=instructions about=module time=25
# check: vm name=before_ip-newer tier=all kernels=6.12 clock=instructions about=module time=70
#
# The kernel of a client takes answers at a device before IP, by "ingress" of the configuration.
# Other answers come through IP, and no lock is lost when the device, the daemon or the namespace goes.
#
# Functions are called by name, single quotes are for gojq, and libraries set variables.
# shellcheck disable=SC2317,SC2016,SC2154
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

cleanup() {
	ip netns delete bftm-gone 2>/dev/null
	down
}

# configure N LINE: of client N's cluster, instead of its key "ingress"
configure() {
	sed -i -e '/^\tingress = /d' -e "s/^cluster .*/&\n\t$2/" "$dev/c$1/bftmutex.conf"
	: >"$dev/c$1/log"
	kill -HUP "$(helper "$1")"
}
# Of client 1, or N: its device, whether the kernel takes locks, and how many answers came before IP.
device() { c "${1:-1}" bftmutexctl servers --json | gojq -r '.clusters[0] | "\(.ingress) \(.fast_path)"'; }
has() { [[ $(device "${2:-1}") == "$1 true" ]]; }
taken() { c "${1:-1}" bftmutexctl stats --json | gojq .local.ingress; }
fast() { c 1 bftmutexctl servers --json | gojq '.clusters[0].fast_won'; }
lock() { c 1 bftmutex -w 20 "lock-$RANDOM-$RANDOM" true; }

# by more|none WHAT COMMAND...: COMMAND succeeds, the kernel takes a lock, and answers at the device
by() {
	local before won
	before=$(taken) won=$(fast)
	ok "$2" "${@:3}"
	ok "$2: by the kernel" test "$(fast)" -gt "$won"
	if [[ $1 == more ]]; then
		ok "$2: answers were taken at the device" test "$(taken)" -ge $((before + 3))
	else
		is "$2: none were taken at the device" "$(taken)" "$before"
	fi
}
at_device() { by more "$@"; }
through_ip() { by none "$@"; }

load || bail "module"
ip link add red type vrf table 10 && ip link del red
bftmutexctl dev up --servers 4 -b 1 --clients 2 --lease-max 2s >/dev/null || bail "no cluster"
ready || bail "no lock"

is "none" "$(device)" "null true"
through_ip "without a device" lock

# named NAME: client 1's device is called so
named() {
	local now
	now=$(c 1 ip -j link | gojq -r '.[] | select(.ifname != "lo") | .ifname')
	c 1 ip link set "$now" down
	c 1 ip link set "$now" name "$1"
	c 1 ip link set "$1" up
}

configure 1 "ingress = later"
ok "a device that is not there" wait_for 20 grep -q \
	"key 'ingress' = 'later': this network namespace has no such device; answers of servers come through IP until it has one" \
	"$dev/c1/log"
is "is waited for" "$(device)" "later true"
through_ip "and takes nothing" lock
named later
at_device "one that gets that name" lock
named eth0
configure 1 "ingress = lo"
ok "one that is not of Ethernet" wait_for 20 grep -q \
	"key 'ingress' = 'lo': only a device of Ethernet can hand datagrams over;" "$dev/c1/log"
through_ip "which takes nothing either" lock

configure 1 "ingress = eth0"
ok "one that is there" wait_for 20 has eth0
at_device "an acquire" lock

# state N NAME: of that lock, by client N
state() { c "$1" bftmutexctl holders --json | gojq -r --arg name "$2" '.[] | select(.name == $name) | .state'; }
state_is() { [[ $(state "$1" "$2") == "$3" ]]; }
# hold N NAME: in the background, until let_go
hold() {
	ip netns exec "bftm-c$1" bftmutex -w 60 "$2" sleep 1000 &
	disown
}
let_go() { pkill -f "^sleep 1000"; }

# A client that waits is told by servers unasked.
configure 2 "ingress = eth0"
ok "at another client, too" wait_for 20 has eth0 2
hold 2 queue
ok "another client holds" wait_for 60 state_is 2 queue held
ip netns exec bftm-c1 bftmutex -w 60 queue true &
waiter=$!
ok "one waits" wait_for 20 state_is 1 queue pending
before=$(taken)
let_go
ok "it gets the lock" wait "$waiter"
ok "what it was told was taken at the device" test "$(taken)" -ge $((before + 3))
ok "and the other's as well" test "$(taken 2)" -ge 3

c 1 ip xfrm policy add src 192.0.2.1/32 dst 192.0.2.2/32 dir out
through_ip "where there are policies of IPsec" lock
c 1 ip xfrm policy flush
c 1 wiretap late any >"$dev/tapped" &
wait_for 10 grep -q listening "$dev/tapped"
through_ip "while a program captures" lock
pkill wiretap
at_device "and later" lock
c 1 ip link set eth0 down
c 1 ip link set eth0 up
at_device "down, and up again" lock
named else
at_device "under another name" lock
named eth0

# A daemon that is killed leaves its line, with the hook, to the kernel; the next one replaces it.
# It begins a lock only by its own.
hold 1 kept
ok "a lock is held" wait_for 60 state_is 1 kept held
kill_helper 1
ok "a daemon that was killed is followed by another" start_helper 1
ok "with the device" wait_for 20 has eth0
at_device "an acquire" lock
is "the lock is still held" "$(state 1 kept)" held
let_go

# The device leaves the namespace, and comes back.
dmesg -c >/dev/null
ip netns add bftm-gone
ip -n bftm-c1 link set eth0 netns bftm-gone
ok "the kernel's log tells of a device that has gone" grep -q \
	"cluster demo: its device eth0 has gone, from now on all datagrams come through IP" <(dmesg)
ip -n bftm-gone link set eth0 netns bftm-c1
ip -n bftm-c1 addr add 10.73.0.101/24 dev eth0
ip -n bftm-c1 link set eth0 up
at_device "the device is back" lock
configure 1 "ingress = none"
ok "none" wait_for 20 has null
through_ip "none" lock
configure 1 "ingress = eth0"
ok "reload" wait_for 20 has eth0
at_device "and the device after a reload" lock

# Code that holds RTNL may wait for the machine's sleep to begin, which ends sessions: these do not
# wait for RTNL.
insmod "$(dirname "$BFTMUTEX_KO")/stall/stall.ko" || bail "no stall.ko"
echo 10000 >/sys/module/stall/parameters/rtnl &
rtnl=$!
dmesg -c >/dev/null
kill_helper 1
destroyed() { dmesg | grep -q "bftmutex: destroyed line"; }
ok "the daemon ends while RTNL is held, and so does its line" wait_for 8 destroyed
ok "RTNL is held still" kill -0 "$rtnl"
wait "$rtnl"
rmmod stall
ok "the next daemon" start_helper 1
ok "with the device" wait_for 20 has eth0
at_device "an acquire" lock
# Namespace, daemon and hook end at once.
kill_helper 2
ip netns delete bftm-c2
gone2() { ! ip netns list | grep -q bftm-c2; }
ok "the other client's namespace goes" wait_for 20 gone2
finish
