#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm tier=all clock=instructions time=300
#
# The daemon's work for a lock that is waited for, held for long, or fenced: it waits in the
# servers' queue, renews, adopts the locks of a killed daemon, and tells restarted servers which
# tokens were given.
#
#
#	bftm-c1, bftm-c2, bftm-c3 ---- bridge ---- bftm-s1 … bftm-s6
#
# n = 6, b = 1, F = 4; a token needs 5 servers, and a restarted one 4 others.
#
# Functions are called by name, load may have no arguments, and variables are
# shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

own_work
lease_max=4s

# A lock that no other test has.
new_lock() {
	next_lock
	rm -f "$work"/mark.*
}

# hold N ARG...: client N has the lock until $holder ends; its status in $work/left.
hold() {
	local n=$1
	shift
	rm -f "$work/left" "$work/in"
	{
		netns_exec "bftm-c$n" bftmutex --grace 0.1 "$@" "$lock" \
			sh -c "touch $work/in; exec sleep 1000" 2>"$work/err.$n"
		echo "$? $(ms)" >"$work/left"
	} &
	disown $!
	wait_for 20 test -e "$work/in"
}

# let_go N: the holder on client N ends, with $status at $released ms.
let_go() {
	c "$1" bftmutexctl holders --json | gojq -r '.[] | select(.state == "held") | .pid' |
		xargs -r kill 2>/dev/null
	wait_for 10 test -s "$work/left"
	read -r status released <"$work/left"
}

# lost: the holder was told that it has lost the lock
lost() {
	wait_for 10 test -s "$work/left"
	read -r status released <"$work/left"
	((status == 79)) || { echo "status $status"; return 1; }
}

# ask N ARG...: client N waits for the lock; $work/mark.N gets the time of its acquire.
ask() {
	local n=$1
	shift
	netns_exec "bftm-c$n" bftmutex "$@" "$lock" \
		sh -c "awk '{ printf \"%d\", \$1 * 1000 }' /proc/uptime >$work/mark.$n" 2>"$work/err.$n" &
	wait_for 10 in_state "$n" pending
}

# again FUNCTION: repeats it, three times at most, since a machine may stand still for longer than a
# lease.
again() {
	local turn
	for turn in first second third; do
		new_lock
		"$@" && return
		echo "the $turn time"
		let_go 1
	done
	return 1
}

ms() { awk '{ printf "%d\n", $1 * 1000 }' /proc/uptime; }
states() { c "$1" bftmutexctl holders --json | gojq -r '.[].state' | sort | xargs; }
in_state() { [[ $(states "$1") == *"$2"* ]]; }
total() { c "$1" bftmutexctl stats --json | gojq ".$2"; }
adopted() { (($(total "$1" helper.adopted) == 1)); }
asked_again() { (($(total 2 helper.rounds) >= rounds + 3)); }
# taken N: client N cannot get the lock now
taken() { c "$1" bftmutex -n "$lock" true 2>"$work/err"; (($? == 1)); }

# stays MS: client 1 holds the lock for that time, and client 2 cannot get it.
stays() {
	local end=$(($(ms) + $1))
	while (($(ms) < end)); do
		in_state 1 held || { c 1 bftmutexctl holders; c 1 bftmutexctl stats --json; tail -n 5 "$dev"/c1/log; return 1; }
		taken 2 || { echo "client 2 has it too: $(<"$work/err")"; return 1; }
		# Looks all the time would cost too much of a clock that counts instructions.
		sleep 0.1
	done
	in_state 1 held
}

# token N: the fencing token of a lock that client N takes for a moment
token() { c "$1" bftmutex -w 20 --fence "$lock" sh -c 'echo $BFTMUTEX_TOKEN' 2>"$work/err"; }

# Starts a server that does not know which tokens it stamped.
start_ignorant() {
	s "$1" bftmutexctl server start --token-floor unknown --key "$dev/keys/server-$1.key" \
		--lease-max $lease_max >/dev/null
}

# forget SERVER: restarts it without its tokens
forget() { s "$1" bftmutexctl server stop >/dev/null && start_ignorant "$1"; }

learned() { grep -q "server $1 has restarted and has learned from the others" "$dev"/c*/log; }
out_of_quarantine() { (($(s "$1" bftmutexctl server show --json | gojq .quarantine_ns) == 0)); }

waited() { s 1 bftmutexctl server show --json | gojq .stats.waited; }
waited_more() { (($(waited) >= before + $1)); }

# Client 3 has had the lock before. The two others never asked, and wait in the order of their coming:
# each polls soon, with a priority behind those that the servers have seen.
newcomers_in_turn() {
	local turn
	for turn in 1 2 3; do
		c 3 bftmutex -w 10 "$lock" true || return
	done
	hold 3 -l 4s
	before=$(waited)
	ask 2 -l 4s
	wait_for 5 waited_more 2
	ask 1 -l 4s
	wait_for 5 waited_more 4
	let_go 3
	wait_for 10 test -s "$work/mark.1" -a -s "$work/mark.2"
	wait_jobs
	diag "client 2 had it at $(<"$work/mark.2") ms, client 1 at $(<"$work/mark.1") ms"
	(($(<"$work/mark.2") < $(<"$work/mark.1")))
}

load || bail "the module cannot be loaded"
up --servers 6 -b 1 --clients 3 --lease-max $lease_max || bail "no cluster"
# Daemons whose log can be read: dev up starts its own in the background.
for n in 1 2 3; do
	kill_helper "$n"
	start_helper "$n" || bail "no daemon on client $n"
done
tune 'delta = 10ms' || bail "configuration"

#
# Hand-over
#

ok "newcomers: in the order of their coming" again newcomers_in_turn

new_lock
hold 1 -l 4s
ask 2 -l 4s
ask 3 -l 4s
# The time is read before and after the counters.
began=${EPOCHREALTIME/./}
rounds=$(total 2 helper.rounds)
ok "queue: who waits asks again" wait_for 20 asked_again
more=$(($(total 2 helper.rounds) - rounds))
eighths=$(((${EPOCHREALTIME/./} - began) / 500000))
diag "in $eighths eighths of a lease: $more polls"
ok "queue: about each eighth of a lease" test "$more" -le $((eighths + 3))
let_go 1
ok "queue: the next has it" wait_for 10 test -s "$work/mark.2" -a -s "$work/mark.3"
wait_jobs
for n in 2 3; do
	diag "client $n had it $(($(<"$work/mark.$n") - released)) ms after the release"
done
# Back-off sleeps for a lease and more between two tries.
last=$(sort -n "$work"/mark.? | tail -1)
figure "queue: both long before back-off would" test $((last - released)) -lt 3000

ok "queue: contenders all complete" contend 9 --entries 6 --lock crowd --lease 1 --hold 3 \
	--jitter 3 --fence --timeout 60
ok "queue: no entry is lost" counted 54
ok "queue: one at a time" no_overlap
ok "queue: tokens grow from holder to holder" sh -c "sort -k2,2n $entries | awk '\$7 <= last { bad = 1; print } { last = \$7 } END { exit bad }'"
ok "back-off: contenders all complete" contend 6 --entries 4 --lock backoff --lease 0.3 \
	--hold 3 --backoff --timeout 60
ok "back-off: no entry is lost" counted 24
ok "back-off: one at a time" no_overlap

#
# Renewal
#

# A machine may stand still for half a lease without harm.
for_ten_leases() {
	hold 1 -l 2s
	before=$(total 1 local.renewed)
	stays 20000
}
ok "renewed: held for ten leases" again for_ten_leases
ok "renewed: at half of each" test $(($(total 1 local.renewed) - before)) -ge 18
let_go 1
is "renewed: ended by itself" "$status" 143
c 2 bftmutex -w 5 "$lock" true
is "renewed: released" $? 0

new_lock
hold 1 -l 1s --no-renew
ok "not renewed: lost after one lease" lost

#
# The daemon is killed
#

new_lock
hold 1 -l 4s
kill_helper 1
start_helper 1 || bail "no daemon"
ok "killed: the next one has taken over" wait_for 5 adopted 1
ok "killed: held for two leases more" stays 8000
# Besides the adopted lock, the same host may ask for the lock.
ask 1 -w 60
kill_helper 1
start_helper 1 || bail "no daemon"
ok "killed again: held for two leases more" stays 8000
ok "killed again: another of the host waits" in_state 1 pending
let_go 1
ok "killed again: it has the lock" wait_for 10 test -s "$work/mark.1"
diag "$(($(<"$work/mark.1") - released)) ms after the release"
wait_jobs

# The next one has another default.
with_default() {
	sed -i -e '/^\tlease = /d' "$dev/c1/bftmutex.conf"
	kill -HUP "$(helper 1)"
	hold 1
	kill_helper 1
	sed -i 's/^cluster .*/&\n\tlease = 3s/' "$dev/c1/bftmutex.conf"
	start_helper 1 && stays 8000
}
ok "killed, default lease: held for two leases more" again with_default
let_go 1
is "killed, default lease: ended by itself" "$status" 143

new_lock
hold 1 -l 2s
kill_helper 1
killed=$(ms)
ok "not restarted: the holder is told that it has lost" lost
diag "not restarted: told after $((released - killed)) ms"
figure "not restarted: when the lease is over" test $((released - killed)) -le 3000
start_helper 1 || bail "no daemon"
c 1 bftmutex -w 10 "$lock" true
is "restarted: locks can be had" $? 0

#
# The daemon is stopped
#

new_lock
hold 1 -l 1s
kill -STOP "$(helper 1)"
ok "stopped: the holder is told that it has lost" lost
c 2 bftmutex -w 10 "$lock" true
is "stopped: another has the lock" $? 0
kill -CONT "$(helper 1)"
c 1 bftmutex -w 10 "$lock" true
is "continued: all as before" $? 0

#
# Another configuration
#

read_again() {
	hold 1 -l 2s
	ask 2 -w 60
	tune || return
	stays 6000
}
ok "configuration read again: held for three leases more" again read_again
ok "configuration read again: the other waits" in_state 2 pending
let_go 1
ok "configuration read again: and has it then" wait_for 10 test -s "$work/mark.2"
wait_jobs

#
# Tokens
#

new_lock
last=0
for n in 1 2 3 4 5 6; do
	got=$(token 1)
	ok "server $n: a token above $last: $got" test "${got:-0}" -gt "$last"
	last=${got:-0}
	forget "$n" || bail "no restart"
	ok "server $n restarted: it is told" wait_for 20 learned "$n"
	wait_for 20 out_of_quarantine "$n"
done
got=$(token 2)
ok "all restarted, one after the other: a token above $last: $got" test "${got:-0}" -gt "$last"

# At the same time, since otherwise one could learn from another.
for n in 1 2 3 4 5 6; do
	s "$n" bftmutexctl server stop >/dev/null
done
for n in 1 2 3 4 5 6; do
	start_ignorant "$n" || bail "no restart"
done
for n in 1 2 3 4 5 6; do
	wait_for 20 out_of_quarantine "$n"
done
c 1 bftmutex -l 500ms -w 20 --fence "$lock" true 2>"$work/err"
is "all restarted at once: no token (status)" $? 69
diag "$(<"$work/err")"
ok "all restarted at once: it says so, and what to do" grep -q "see --token-floor" "$work/err"
c 1 bftmutex -w 20 "$lock" true
is "all restarted at once: locks without token" $? 0
ok "nobody is suspected" test -z "$(for n in 1 2 3; do servers $n '.[] | select(.suspect) | .id'; done)"

#
# Suspects
#

netns_exec bftm-c1 bftmutexctl watch --json >"$work/events" 2>/dev/null &
watcher=$!
lie 4 always-locked --lease-max $lease_max || bail "no liar"
lie="answered what it was not asked"	# LOCKED, to who waits in its queue
told() { c 1 bftmutex -w 20 liar.$RANDOM true; grep -q "server 4 $lie" "$dev/c1/log"; }
ok "a liar is logged" wait_for 30 told
ok "a liar is told to who watches" wait_for 5 grep -q "$lie" "$work/events"
is "a liar: once" "$(grep -c "$lie" "$work/events")" 1
is "nobody else is suspected" "$(servers 1 '[.[] | select(.suspect) | .id | tostring] | join(" ")')" 4
kill $watcher
kill_liar 4
finish
