#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm time=25
#
# bftmutex-trace judges right what "bftmutexctl trace record" writes on each host of a cluster: a
# lock that goes from hand to hand by messages; one whose holder is cut off, by its lease; and one
# that servers who lie gave to two clients.
#
#	bftm-c1  bftm-c2 ---- bridge ---- bftm-s1 … bftm-s4, each host with a recording
#
# shellcheck disable=SC2317,SC2154,SC2119
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/recordings.sh
. "$(dirname "$0")/../../lib/recordings.sh"

hosts=(c1 c2 s1 s2 s3 s4)

holds() { grep -q inside "$work/inside"; }

# hold N SECONDS [ARG...]: client N is inside
hold() {
	rm -f "$work/inside"
	touch "$work/inside"
	c "$1" bftmutex "${@:3}" trace sh -c "echo inside >'$work/inside'; exec sleep $2" 2>/dev/null &
	holder=$!
	wait_for 20 holds
}

own_work
load || bail "module"
up --servers 4 -b 1 --clients 2 --lease-max 6s || bail "no cluster"

record || bail "no recording"
for n in 1 2 1 2; do
	c $n bftmutex -w 20 trace true || bail "no lock"
done
record_end
judge
is "from hand to hand: by messages alone" "$verdict" no
explain
is "four entries were recorded" "$(cat "$work"/c[12] | grep -c '"e":"won"')" 4
is "… and their ends" "$(cat "$work"/c[12] | grep -c '"e":"released"')" 4
is "what the clients say of the cluster" \
	"$(grep -ho '"servers":4,"b":1,"protocol":"backoff","m":null' "$work"/* | wc -l)" 2
ok "… is enough for a predicate that needs it" \
	bftmutex-trace waited-but-free "${hosts[@]/#/$work/}"
sed '/"e":"cluster"/d' "$work/c1" >"$work/old"
bftmutex-trace waited-but-free "$work/old" 2>/dev/null
is "a recording without it is read, but such a predicate needs options" $? 65
ok "… and has enough with them" bftmutex-trace --servers 4 -b 1 waited-but-free "$work/old"
is "each of the six hosts recorded datagrams" \
	"$(grep -lc '"e":"recv"' "${hosts[@]/#/$work/}" | wc -l)" 6

record || bail "no recording"
hold 1 30 --lease 1s || bail "no lock"
ip -n bftm-c1 link set eth0 down
ok "the other gets it when the lease is over" c 2 bftmutex -w 30 trace true
kill $holder 2>/dev/null
wait $holder 2>/dev/null
ip -n bftm-c1 link set eth0 up
record_end
judge
is "its holder is cut off: no, by the lease" "$verdict" "no, if clocks keep rho"
explain
for n in 1 2; do
	wait_for 60 c $n bftmutex -w 20 "again-$n" true || bail "no network"
done

for n in 2 3 4; do
	lie $n always-free --lease-max 6s || bail "no liar"
done
for n in 1 2; do
	wait_for 60 c $n bftmutex -w 20 "lied-$n" true || bail "no lock from liars"
done
record || bail "no recording"
hold 1 3 --lease 6s || bail "no lock"
c 2 bftmutex -w 20 --lease 6s trace true
wait $holder
is "three liars let the other in" "$(grep -c '"e":"won"' "$work/c2")" 1
record_end
judge
ok "two were inside: '$verdict'" test "$verdict" = possibly -o "$verdict" = definitely
explain
ok "a server that granted too early is named" \
	grep -q 'server [234] granted trace to client .* left of the lease' "$work/said"
for n in 2 3 4; do
	kill_liar $n
done
finish
