#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=26
#
# A cluster whose servers have journals: all of them lose their memory at once, and one its file as
# well.
#
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 … bftm-s7    n = 7, b = 1
#
# shellcheck disable=SC2317,SC2119,SC2154,SC2034  # called by name, shared
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/order.sh
. "$(dirname "$0")/../../lib/order.sh"

declare -A keeper
cleanup() {
	local n
	for n in "${!keeper[@]}"; do
		kill -KILL "${keeper[$n]}" 2>/dev/null
	done
	down
}

server_stop() { s "$1" bftmutexctl server stop >/dev/null; }
server_start() {
	s "$1" bftmutexctl server start --key "$dev/keys/server-$1.key" --lease-max 1s \
		--state "$dev/kept" --durability sync >/dev/null
}
follow() {
	netns_exec "bftm-s$1" bftmutexctl server journal --file "$dev/kept/journal-$id-$1" \
		2>"$dev/journal-$1" &
	keeper[$1]=$!
	wait_for 10 grep -q "is kept in" "$dev/journal-$1"
}
unfollow() {
	kill "-${2:-TERM}" "${keeper[$1]}" 2>/dev/null
	wait "${keeper[$1]}" 2>/dev/null
	unset "keeper[$1]"
}
each() {
	local n
	for n in 1 2 3 4 5 6 7; do
		"$@" "$n" || return
	done
}
die() { unfollow "$1" KILL; }
recovered() { [[ $(server_objects "$1" '[.[] | select(.recovering)] | length') == 0 ]]; }
has() { [[ $(server_objects "$1" "map(.name) | contains([\"$2\"])") == true ]]; }

load || bail "module"
up --servers 7 -b 1 --clients 2 --lease-max 1s || bail "no cluster"
id=$(s 1 bftmutexctl server show --json | gojq .cluster)
# The cluster begins with journals.
{ each server_stop && each server_start && each follow; } || bail "journals"
ready || bail "not ready"

is "create" "$(submit 1 counter "create counter")" "0 "
ok "clients count" load_into first --object counter --request "add 1" --clients 1-2 --threads 2 \
	--count 10 --timeout 60
is "to the sum" "$(first answered) $(submit 1 counter get)" "40 0 40"

# Journals stand still, as when disks hang: their servers are silent, about objects alone.
pause() { kill -STOP "${keeper[$1]}"; }
pause 2
is "six of seven servers are enough" "$(submit 1 counter get)" "0 40"
ok "its server tells that it stores nothing" says 1 "its journal has stored nothing for 3 s" \
	s 2 bftmutexctl check -s
ok "that of another is well" says 0 "grants locks" s 3 bftmutexctl check -s
pause 3
pause 5
silent="servers 2, 3, 5 silent about objects, and the others are too few"
ok "three that stand still: a request names their servers" says 75 "$silent" \
	c 1 bftmutexctl object submit --wait 4s counter add 0
ok "and check does" says 1 "$silent" c 1 bftmutexctl check
ok "and the log" grep -q "'counter' cannot be had: no answer about it from servers 2, 3 and 5" "$dev/c1/log"
kill -CONT "${keeper[2]}" "${keeper[3]}" "${keeper[5]}"
is "they go on" "$(submit 2 counter get)" "0 40"
all_well() { s 2 bftmutexctl check -s; }
ok "and all is stored" wait_for 10 all_well

# Power fails for all at once, in the middle.
history=$dev/history
order_load --object counter --request "add 1" --clients 1-2 --threads 2 --count 30 --timeout 60 \
	--history "$history" >"$dev/loaded" 2>/dev/null &
loader=$!
ok "there is traffic" wait_for 30 grows "$history"
each die
each server_stop
ok "all start again" each server_start
ok "and their journals" each follow
wait "$loader"
# shellcheck disable=SC1090
. "$dev/loaded"
total=$(submit 2 counter get | cut -d' ' -f2)
diag "$answered of $requests answered, $unknown not known, total $total"
ok "what was answered is there, and nothing twice" \
	test "$total" -ge $((40 + answered)) -a "$total" -le $((40 + answered + unknown))
is "a new object can be made" "$(submit 1 later "create counter")" "0 "

# One server comes back without its file, while clients go on.
die 7
server_stop 7
rm "$dev/kept/journal-$id-7"*
ok "a server that has lost its file" server_start 7
ok "begins a new one" follow 7
ok "clients go on" load_into more --object counter --request "add 1" --clients 1-2 --count 20 \
	--timeout 60
ok "they tell it what there is" wait_for 60 has 7 counter
ok "and it has recovered" wait_for 60 recovered 7
unfollow 7
server_stop 7
server_start 7
ok "which is kept" recovered 7
ok "likewise" has 7 counter
is "nothing is lost" "$(submit 1 counter get)" "0 $((total + $(more answered)))"
finish
