#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=20
#
# Bad networks: nobody enters while another is inside, everybody gets in, no
# honest server is said to lie, and when too many servers were cut off, soon
# after they are back.
#
#
#	bftm-c1, bftm-c2, four contenders each ---- bridge ---- bftm-s1 … bftm-s7
#
# Functions are called by name, load may have no arguments, and variables are
# shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

count=8
entries_each=4
! short || entries_each=2
delta_ms=5
lease_ms=500
# Longest time to an entry after all faults have ended: 10 × (Δ + 2δ)
bound=$((10 * (lease_ms + 2 * delta_ms)))
all=(c1 c2 s1 s2 s3 s4 s5 s6 s7)
work=(--lease 0.5 --hold 3 --jitter 3 --pause 10 --timeout 60)

cleanup() { down; }

judge() {
	local desc=$1 begin=$SECONDS
	shift
	ok "$desc: all complete" "$@"
	ok "$desc: no entry is lost" counted $((count * entries_each))
	ok "$desc: one at a time" no_overlap
	diag "$desc: $((SECONDS - begin)) s"
}

# through DESC NETEM...: with this on all links, in both directions
through() {
	local desc=$1
	shift
	netem "${all[@]}" -- "$@" || bail "netem $*"
	judge "$desc" contend $count --entries $entries_each --lock "$desc" "${work[@]}"
}

rounds() { servers "$1" '[.[].rounds] | max'; }
owned() {
	[[ $(s 1 bftmutexctl locks --json | gojq ".[] | select(.name == \"$1\") | .client") == [1-9]* ]]
}
more_rounds() { (($(rounds 1) > $1)); }

# honest_all: no client has heard a lie from any server.
honest_all() {
	local n
	for n in $(clients); do
		is "$1: client $n has heard no lie" "$(servers "$n" 'map(.lies) | add')" 0 ||
			diag "$(servers "$n" 'map([.id, .evidence]) | tostring')"
	done
}

preload bftmutexctl bftmutexd contender gojq
load || bail "module"
modprobe sch_netem || bail "sch_netem"
up --servers 7 -b 1 --clients 2 --lease-max 1s || bail "no cluster"
tune "delta = ${delta_ms}ms" 'retry-max = 600ms' || bail "configuration"

through "loss of 20 percent" loss 20%
through "delay and reordering" delay 5ms 4ms reorder 20%
through "duplication" duplicate 20%
through "all of these" delay 5ms 4ms reorder 20% duplicate 20% loss 20%
netem "${all[@]}"
honest_all "bad networks"

# This server is farther away than δ, its round trip is longer than 4δ, and it is honest.
netem s2 -- delay 20ms || bail "netem"
tune || bail "configuration"
judge "a far server" contend $count --entries $entries_each --lock far "${work[@]}"
for n in $(clients); do
	is "a far server: client $n calls it slow, and does not suspect it" "$(servers "$n" \
		'.[] | select(.id == 2) | [.state, .suspect, .rtt_ns > 20000000] | tostring')" \
		'["slow",false,true]'
done
netem s2
honest_all "a far server"

# Servers grant the lock to a client that does not hear it. Others may have to wait for the lock,
# but not for long.
deaf c2
netns_exec bftm-c2 bftmutex -w 60 -l 500ms unheard true &
asker=$!
ok "a client hears nothing: it is granted the lock" wait_for 20 owned unheard
begin=$(now_ns)
ok "a client hears nothing: another gets it" c 1 bftmutex -w 60 -l 500ms unheard true
took=$((($(now_ns) - begin) / 1000000))
diag "a client hears nothing: another waited for $took ms"
figure "a client hears nothing: soon" test $took -le $bound
hearing c2
ok "a client hears again: it gets the lock" wait "$asker"

deaf s2
judge "a server hears nothing" contend $count --entries $entries_each --lock deaf "${work[@]}"
hearing s2
netem s2 -- loss 100%
judge "a server is not heard" contend $count --entries $entries_each --lock mute "${work[@]}"
netem s2

# Three servers are not heard by anybody, but grant: four answers are not enough to enter.
netem s1 s2 s3 -- loss 100%
before=$(rounds 1)
contend_start $count --entries $entries_each --lock healing "${work[@]}"
ok "without a quorum: the contenders try" wait_for 20 more_rounds "$before"
is "without a quorum: nobody enters" "$(wc -l <"$entries")" 0
healed=$(now_ns)
netem s1 s2 s3
judge "healed" contend_end
first=$(sort -k2,2n "$entries" | awk -v healed="$healed" \
	'NR == 1 { printf "%d", ($2 - healed) / 1e6 }')
diag "healed: the first one entered after $first ms, at most $bound"
ok "healed: not before" test "$first" -ge 0
figure "healed: soon" test "$first" -le $bound
finish
