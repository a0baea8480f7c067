#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=10
#
# Objects with the smallest number of servers, n = 4b + 1, which is enough with signed ranks, while
# one lies; and refusals of servers, as an application sees them.
#
#
#	bftm-c1 … bftm-c3 ---- bridge ---- bftm-s1 … bftm-s5, s4 lies    b = 1
#
# Functions are called by name, load may have no arguments, and variables are
# shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/order.sh
. "$(dirname "$0")/../../lib/order.sh"

cleanup() {
	kill_liar 4
	down
}

# room_for COUNT: makes this many objects, or prints the error
room_for() {
	local n
	for ((n = 1; n <= $1; n++)); do
		submit 1 "object-$n" "create counter"
	done | xargs
}

load || bail "module"
up --servers 5 -b 1 --clients 3 --lease-max 1s || bail "no cluster"
is "too few servers, unless ranks are signed" "$(submit 1 counter get)" EPROTONOSUPPORT
tune 'signed-ranks = yes' || bail "configuration"
for n in {1..5}; do
	s "$n" bftmutexctl server stop >/dev/null
	honest "$n" --lease-max 1s --max-objects 4 --token-floor 0
done
ready || bail "no cluster"
lie 4 honest --order signed,outrank,inflate,permit,deny --lease-max 1s --token-floor 0 \
	--seed "$BFTMUTEX_SEED" || bail "no liar"
is "create" "$(submit 1 counter "create counter")" "0 "
ok "signed ranks: all are answered" load_into added --object counter --request "add 1" \
	--clients 1-3 --threads 2 --count 20 --timeout 60
is "signed ranks: each once" "$(added answered) $(submit 1 counter get)" "120 0 120"
is "signed ranks: nobody else is blamed" "$(servers 1 \
	'[.[] | select(.suspect and .id != 4)] | length')" 0
kill_liar 4

# Server 4 says nothing any more.
is "no more objects than a server has room for" "$(room_for 4)" "0 0 0 ENOSPC"
ok "what is full is said" says 69 "the object tables of the servers are full (max-objects, 4096" \
	c 1 bftmutexctl object create object-5 counter
is "what is there goes on" "$(submit 2 object-3 "add 5")" "0 5"

echo 'access { client = 1 } access { client = 2-3 prefix = "object-" }' >"$dev/rules"
for n in 1 2 3 5; do
	s "$n" bftmutexctl server access set "$dev/rules" >/dev/null
done
is "access: refused" "$(submit 2 counter get)" EACCES
is "access: by the beginning of the name" "$(submit 2 object-3 get)" "0 5"
is "access: another client" "$(submit 1 counter get)" "0 120"
finish
