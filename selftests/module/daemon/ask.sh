#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=20
#
# ask = first, ask = auto: so many servers are asked for a lock as it needs, and the others when one of
# those is silent or lies. The kernel sees to that by itself.
#
#	bftm-c1 ---- bridge ---- bftm-s1 … bftm-s4, of which three are enough
#
# Functions are called by name, and variables are shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

cleanup() {
	kill_liar 4
	down
}

# grants N...: of these servers together
grants() {
	local n sum=0
	for n; do
		sum=$((sum + $(s "$n" bftmutexctl server show --json | gojq .stats.granted)))
	done
	echo "$sum"
}

# fast WHAT: a counter of what the kernel does without the daemon
fast() { c 1 bftmutexctl servers --json | gojq ".clusters[0].$1"; }

# heard N: requests that the liar in place of server N has had
heard() {
	rm -f "$dev/liar-$1.json"
	kill -USR1 "$(cat "$dev/liar-$1.pid")"
	wait_for 5 gojq -e .requests "$dev/liar-$1.json" >/dev/null
	gojq .requests "$dev/liar-$1.json"
}

# take N: so many locks, one after the other, each of another name
taken=0
take() {
	local i
	for ((i = 0; i < $1; i++)); do
		c 1 bftmutex -w 20 "ask-$((++taken))" true || return
	done
}

# few WHAT: 20 locks took three servers each. One that was slow at the start is suspected, and is asked
# for each 16th lock as well; one that is slow now has another asked. Ten times are not to be expected.
few() {
	local granted=$(($(grants 1 2 3 4) - before))
	diag "$granted grants of 20 locks"
	ok "$1: three servers are asked" eval "((granted >= 60 && granted < 70))"
}

load || bail "module"
up --servers 4 -b 1 --clients 1 --lease-max 20s || bail "no cluster"
# The daemon may not have heard all servers yet when it asks for the first ones.
take 4 || bail "no locks"
is "ask = auto: that is the default" "$(c 1 bftmutexctl servers --json | gojq -r '.clusters[0].ask')" auto
# The first ones find out how long servers take.
ok "ask = auto: locks are taken" take 4
before=$(grants 1 2 3 4)
ok "ask = auto: more are taken" take 20
few "ask = auto"

tune 'ask = all' || bail "configuration"
take 4 || bail "no locks"
before=$(grants 1 2 3 4)
ok "ask = all: locks are taken" take 20
is "ask = all: all servers are asked" $(($(grants 1 2 3 4) - before)) 80

tune 'ask = first' || bail "configuration"
take 4 || bail "no locks"
before=$(grants 1 2 3 4) won=$(fast fast_won)
ok "ask = first: locks are taken" take 20
few "ask = first"
is "ask = first: the kernel takes them" $(($(fast fast_won) - won)) 20

# The other server is asked after a while, and that by the kernel.
s 4 bftmutexctl server stop >/dev/null || bail "server 4 does not stop"
won=$(fast fast_won)
ok "a server is silent: locks are taken" take 20
is "a server is silent: the kernel takes them" $(($(fast fast_won) - won)) 20
before=$(grants 1 2 3)
ok "a server is silent: more are taken" take 20
is "a server is silent: each of the others is asked for each lock" $(($(grants 1 2 3) - before)) 60

# Rounds in which servers disagree are the daemon's for a while, so it learns who lies as well.
lie 4 always-locked --lease-max 20s || bail "no liar"
ok "a server lies: locks are taken" take 80
# It is one of the three for 15 of 20 locks. A suspect hears of each 16th acquire, and of its end.
before=$(heard 4)
ok "a server lies: more are taken" take 20
ok "a server lies: it is suspected, and asked among the last" test $(($(heard 4) - before)) -lt 15
finish
