#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: part
#
# One of the three VMs of a cluster of unlike machines, by "selftests/vm/arch":
#
#	VM 1, amd64   servers 1, 2, 3, client 1
#	VM 2, arm64   servers 4, 5,    client 2
#	VM 3, s390x   servers 6, 7,    client 3
#
# Server N is bftm-sN, 10.77.0.(10 + N), client N is bftm-cN, 10.77.0.(100 + N), all of them on
# the link. Six of seven servers, of whom one may lie, are a quorum: none is without a server of
# each machine. In its turn a VM takes a lock, the next one tries to, and adds to a counter.
# shellcheck disable=SC2119,SC2154,SC2317  # set by, and called from, what is sourced
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/link.sh
. "$(dirname "$0")/../../lib/link.sh"

me=$BFTMUTEX_INDEX next=$((BFTMUTEX_INDEX % 3 + 1))
servers_of=('' '1 2 3' '4 5' '6 7')
# VMs have real clocks: a holder may stand still for half of it.
lease_max=40s

cleanup() { kill_helper "$me"; }

# told FILE: by another VM; limits of its own has the VM.
told() { wait_for 60 appears "$1" || bail "nobody said '$1'"; }

start_server() {
	link_namespace "bftm-s$1" $((10 + $1)) &&
		s "$1" bftmutexctl server start --key "$share/keys/server-$1.key" --lease-max "$lease_max"
}

start_client() {
	local i
	link_namespace "bftm-c$me" $((100 + me)) || return
	mkdir -p "$dev/c$me"
	{
		printf 'cluster unlike {\n\tid = 9\n\tb = 1\n\tlease-max = %s\n' "$lease_max"
		printf '\tcredentials = "%s"\n' "$share/keys/client-$me.client"
		for i in 1 2 3 4 5 6 7; do
			printf '\tserver %d { address = 10.77.0.%d }\n' "$i" $((10 + i))
		done
		echo '}'
	} >"$dev/c$me/bftmutex.conf"
	start_helper "$me"
}

heard_all() { [[ $(servers "$me" 'map(select(.state == "ok" or .state == "slow")) | length') == 7 ]]; }

# While the lock is held here, the next VM tries to take it. Prints the token.
hold() {
	# shellcheck disable=SC2016  # for the shell that holds it
	c "$me" bftmutex --fence --lease 39s -w 600 turns bash -c '
		. "$0/selftests/lib/link.sh"
		echo "$BFTMUTEX_TOKEN"
		touch "$share/held-$1"
		until appears "tried-$1"; do read -rt 0.2 <> <(:) || :; done' "$top" "$me"
}

takes_a_turn() {
	local token before
	[[ $me == 1 ]] || told "turn-$me"
	token=$(hold) || return
	before=$(cat "$share/token" 2>/dev/null || echo 0)
	echo "token $token after $before"
	((token > before)) || return
	echo "$token" >"$share/token"
}

tries() {
	local previous=$(((me + 1) % 3 + 1)) status=0
	told "held-$previous"
	c "$me" bftmutex -n turns true || status=$?
	touch "$share/tried-$previous"
	echo "status $status instead of 1"
	((status == 1))
}

counts() { says 0 "$me" c "$me" bftmutexctl object submit --wait 300s visits add 1; }

# A reader that becomes a writer. Prints the mode.
converts() {
	# shellcheck disable=SC2016  # for the shell that holds it
	c "$me" bash -c 'exec 9<>/dev/bftmutex && bftmutex --fd 9 --lease 39s -w 600 -s "of-$0" &&
		eval "$(bftmutex --fd 9 --convert --print -w 600 -x --fence)" &&
		echo "$BFTMUTEX_MODE $((BFTMUTEX_TOKEN > 0))"' "$me"
}
lists() { c "$me" bftmutexctl object list --wait 300s --json | gojq -r '.[] | "\(.name) \(.type)"'; }

load || bail "module"
mkdir -p "$dev"
for n in ${servers_of[me]}; do
	ok "server $n" start_server "$n" || bail "server $n"
done
ok "client $me" start_client || bail "client: $(<"$dev/c$me/log")"
touch "$share/up-$me"
for n in 1 2 3; do
	told "up-$n"
done
ok "all seven servers are heard" wait_for 60 heard_all || diag "$(servers "$me" 'map([.id, .state])')"
ready
# The last to have its turn is the one that VM 1 tries against.
if ((me == 1)); then
	ok "an object is made" c 1 bftmutexctl object create visits counter
	ok "the lock is taken, and the token is the largest" takes_a_turn
else
	ok "the lock that VM $((me - 1)) holds is not to be had" tries
	ok "the lock is taken, and the token is the largest" takes_a_turn
fi
ok "the counter is $me" counts
touch "$share/turn-$next"
if ((me == 1)); then
	ok "the lock that VM 3 holds is not to be had" tries
fi
touch "$share/over-$me"
for n in 1 2 3; do
	told "over-$n"
done
ok "the counter is 3 for client $me" says 0 3 c "$me" bftmutexctl object submit --wait 300s visits get
is "the list of objects has it" "$(lists)" "visits counter"
is "a reader becomes a writer with a token" "$(converts)" "EX 1"
for n in ${servers_of[me]}; do
	ok "server $n has granted" test "$(s "$n" bftmutexctl server show --json | gojq '.stats.granted')" -gt 0
	s "$n" bftmutexctl objects --json | gojq -r '.[] | "\(.version) \(.digest)"' >"$share/state-$n"
done
touch "$share/checked-$me"
for n in 1 2 3; do
	told "checked-$n"
done
finish
