#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=25
#
# A restarted server has forgotten its grants: it grants nothing until the longest of those leases
# is over.
#
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 … bftm-s4    n = 4, b = 1, F = 3
#
# Functions are called by name, load may have no arguments, and variables are
# shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

lease_max=1500
# ⌈Δmax(1 + ρ)⌉ and a tick
quarantine_ns=$((lease_max * 1002000 + 1000))
shorter=300
longer=5000

cleanup() { down; }

show() { s "$1" bftmutexctl server show --json | gojq -r "$2"; }
grants() { [[ $(show "$1" .quarantine_ns) == 0 ]]; }

# restart SERVER LEASE_MAX_MS
restart() {
	s "$1" sh -c "bftmutexctl server stop && bftmutexctl server start \
		--key $dev/keys/server-$1.key --lease-max $2ms" >/dev/null
}

# The server itself says in one answer that it is in quarantine and has granted nothing. On a slow
# machine it may be over before the first look.
looks() {
	local answer left granted
	while :; do
		answer=$(show 1 '"\(.quarantine_ns) \(.stats.granted)"') || return
		read -r left granted <<<"$answer"
		((left > 0)) || break
		((granted == 0)) || { echo "granted $granted, quarantine for $left ns more"; return 1; }
		sleep 0.2
	done
}

# waits DESC LEASE_MAX_MS: server 1, restarted with this longest lease, says WAIT for the
# quarantine, which covers the former longest lease if that was longer.
waits() {
	local raw free asked waits part began
	[[ $2 == "$lease_max" ]] || began=${EPOCHREALTIME/./}000
	s 1 bftmutexctl server stop >/dev/null
	c 1 raw 1 10.73.0.1 quarantine "$dev/keys/client-50.client" >"$dev/raw" 2>&1 &
	raw=$!
	# From the start of this server, or the stop of the previous one.
	: "${began:=${EPOCHREALTIME/./}000}"
	honest 1 --lease-max "$2ms"
	ok "$1: it says that it has granted nothing" looks
	wait $raw
	is "$1: WAIT, then FREE" "$? $(grep -v free_ns "$dev/raw")" "0 "
	read -r free asked waits part < <(tr -dc '0-9 \n' < <(grep free_ns "$dev/raw"))
	diag "$1: FREE after $(((free - began) / 1000)) us and $waits WAIT"
	ok "$1: it was long enough" test $((free - began)) -ge $quarantine_ns
	# Below 100 by chance once in 40 million starts.
	ok "$1: grant numbers begin with parts of a second" test "$part" -gt 100
	# On a slow machine it may be over before the first question.
	ok "$1: it said WAIT" test $((waits > 0 || asked - began >= quarantine_ns)) = 1
}

# The deadline of client 1, which holds the lock "$1" for as long as possible.
hold() {
	rm -f "$dev/deadline"
	c 1 bftmutex --no-renew -l "${longer}ms" "$1" sh -c \
		"echo \$BFTMUTEX_DEADLINE_NS >$dev/deadline; sleep 60" 2>/dev/null &
	holder=$!
	wait_for 10 test -s "$dev/deadline" || bail "nobody holds the lock"
	deadline=$(<"$dev/deadline")
}

# knows CLIENT SERVER: its helper has the epoch of the server that runs
knows() { [[ $(servers "$1" ".[$2 - 1].epoch") == "$(show "$2" .epoch)" ]]; }

load || bail "module"
up --servers 4 -b 1 --clients 2 --lease-max ${lease_max}ms || bail "no cluster"
tune 'delta = 5ms' 'retry-max = 600ms' || bail "configuration"
bftmutexctl keygen --dir "$dev/keys" --clients 50 >/dev/null || bail "no keys"

waits "restarted" $lease_max
waits "restarted with shorter leases" $shorter

# All of them, while a lock is held and another client waits for it; so long that
# the last one is back long before the holder's lease ends.
for n in 1 2 3 4; do
	restart "$n" $longer || bail "no restart"
done
tune "lease-max = ${longer}ms" || bail "configuration"
ready
hold all
polling=2
contend_start 2 --entries 1 --lock all --lease 0.2 --pause 50 --timeout 60
polling=
for n in 1 2 3 4; do
	restart "$n" $shorter || bail "no restart"
done
diag "all restarted $(((deadline - $(now_ns)) / 1000000)) ms before the holder's deadline"
ok "all restarted: others get the lock" contend_end
wait $holder
is "all restarted: the holder keeps it to the end" $? 79
entered=$(sort -k2,2n "$entries" | awk 'NR == 1 { print $2 }')
diag "entered $(((entered - deadline) / 1000)) us after the holder's deadline"
ok "all restarted: nobody enters before the deadline" test "$entered" -gt "$deadline"

# One after the other, while contenders come and go.
contend_start 8 --entries 12 --lock epoch --lease 0.25 --hold 10 --jitter 10 --pause 50 \
	--timeout 30
for n in 1 2; do
	restart "$n" $shorter || bail "no restart"
	ok "server $n restarted: client 1 finds out" wait_for 10 knows 1 "$n"
	ok "server $n restarted: client 2 finds out" wait_for 10 knows 2 "$n"
	# Two at once would be one too many.
	wait_for 20 grants "$n"
done
ok "servers restarted: all complete" contend_end
ok "servers restarted: no entry is lost" counted 96
ok "servers restarted: one at a time" no_overlap
finish
