#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions about=module time=40
#
# The fast path: a lock that nobody else wants is taken by the kernel alone. Such a lock is held,
# renewed, given back and handed over like any other, also when the daemon and the servers are
# killed or restarted meanwhile.
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

work=$(mktemp -d)
mkfifo "$work/enough"

cleanup() {
	stop_jobs
	down
	rm -rf "$work"
}

# know N KEY: what the daemon of client N says of its cluster
know() { c "$1" bftmutexctl servers --json | gojq ".clusters[0].$2"; }
lent() { [[ $(know "$1" fast_path) == "${2:-true}" ]]; }

# entries COUNT ARG...: client 1 alone enters a lock of its own so many times
entries() {
	c 1 contender --client c1 --counter "$work/own" --log "$work/own.log" --hold 0 \
		--lease 2 --lock own --entries "$@"
}

# taken COUNT: so many of them by the kernel; a busy machine may miss a few
taken() {
	local before after
	before=$(know 1 fast_won)
	entries "$1" || return
	after=$(know 1 fast_won)
	((after - before >= $1 * 4 / 5)) || {
		echo "the kernel took $((after - before)) of $1"
		return 1
	}
}

load || bail "the module cannot be loaded"
up --servers 4 --clients 2 --lease-max 4s || bail "no cluster"

ok "the daemon lends what it takes" wait_for 10 lent 1
ok "the kernel takes what nobody wants" taken 20

#
# Held
#

# Renewals that are waited for.
often=3
! short || often=1
renewed() { c 1 bftmutexctl stats --json | gojq .local.renewed; }
renewed_again() { (($(renewed) >= before + often)); }
holds() {
	before=$(renewed)
	netns_exec bftm-c1 bftmutex -l 1s kept sh -c "touch $work/kept; read line <$work/enough" &
	holder=$!
	wait_for 10 test -e "$work/kept" || return
	c 2 bftmutex -n kept true
	status=$?
	((status == 1)) || { echo "another gets it: status $status"; return 1; }
	wait_for 20 renewed_again || return
	echo >"$work/enough"
	wait "$holder"
}
ok "what it took is renewed, and nobody else's" holds
ok "and given back" c 2 bftmutex -w 20 kept true

#
# Held, and wanted by others of the same host: they wait, or not, and that is all
#

# spoil NAME SPOILER...: it is held and renewed while that is done, and after it
spoil() {
	local name=$1 status spoiled=0
	shift
	rm -f "$work/$name"
	netns_exec bftm-c1 bftmutex -l "${lease:-1s}" "$name" \
		sh -c "touch $work/$name; read line <$work/enough" 2>"$work/$name.err" &
	holder=$!
	wait_for 10 test -e "$work/$name" || return
	"$@" "$name" || spoiled=$?
	adopted || echo "$name: not renewed"
	timeout 20 sh -c "echo >$work/enough"
	wait "$holder"
	status=$?
	((status == 0)) || echo "$name: status $status, $(<"$work/$name.err")"
	((status == 0 && spoiled == 0))
}
# refused STATUS ARG... NAME: another of this host does not get it
refused() {
	local want=$1 status=0
	shift
	c 1 bftmutex "${@:1:$#-1}" "${!#}" true 2>/dev/null || status=$?
	((status == want)) || { echo "${!#}: status $status, not $want"; return 1; }
}
adopted() { before=$(renewed) && wait_for 20 renewed_again; }
busy() { refused 1 -n "$1"; }
busy_later() { adopted && busy "$1"; }
patient_later() { adopted && refused 1 -w 0.5 "$1"; }
backoff_later() { adopted && refused 1 -w 0.5 --way backoff "$1"; }
helper_gone() { kill_helper 1 && start_helper 1 && busy "$1" && patient_later "$1"; }
# A busy machine may outlast a lease, and a daemon take longer to come than a short one.
ok "another does not wait, at once" again spoil busy busy
ok "another does not wait, of what the daemon has" again spoil busy-later busy_later
ok "another waits for a while" again spoil patient-later patient_later
ok "another backs off" again spoil backoff-later backoff_later
pestered() {
	local pest status
	netns_exec bftm-c1 pester 500 >"$work/pest" 2>&1 &
	pest=$!
	wait_for 20 grep -q pestering "$work/pest" && adopted
	status=$?
	kill "$pest" || status=1
	wait "$pest" 2>/dev/null
	grep -v pestering "$work/pest"
	return "$status"
}
ok "another asks for what it cannot have, all the time" again spoil pestered pestered
lease=4s
ok "others, and another daemon" again spoil helper-gone helper_gone
# The kernel's session outlives the daemon, for the grace; the next daemon lends it another line.
sessions() { dmesg | grep -c 'bftmutex: created session'; }
nobody_there() {
	local before
	before=$(sessions)
	kill_helper 1 || return
	busy "$1" &
	waiter=$!
	entries 5 || return
	c 1 bftmutex -n "new-$1" true || return
	start_helper 1 && wait_for 10 lent 1 || return
	wait "$waiter" || return
	(($(sessions) == before)) || { echo "the session was made anew"; return 1; }
	taken 20
}
ok "the kernel goes on without a daemon" again spoil nobody nobody_there
lease=

# waits N: a program of client N
waits() {
	c "$1" bftmutexctl holders --json |
		gojq -e '.[] | select(.state == "pending")' >/dev/null
}
# handed_over NAME N: who waits, at client N, gets it when the holder lets go, long before
# the lease is over
handed_over() {
	local begin
	rm -f "$work/$1"
	netns_exec bftm-c1 bftmutex -l 4s --no-renew "$1" \
		sh -c "touch $work/$1; read line <$work/enough" &
	holder=$!
	wait_for 10 test -e "$work/$1" || return
	netns_exec "bftm-c$2" bftmutex -w 20 "$1" true &
	waiter=$!
	wait_for 10 waits "$2" || return
	begin=$(now_ns)
	echo >"$work/enough"
	wait "$waiter" || return
	! in_time || (($(now_ns) - begin < 3000000000))
}
ok "who waits here is next" again handed_over here 1
ok "who waits elsewhere is next" again handed_over elsewhere 2

#
# Who watches, and looks away for longer than the kernel has room
#

watching() { c 1 bftmutex -w 20 seen true && [[ -s $work/events ]]; }
# It follows the mark: whoever keeps account begins anew there.
held_still() {
	sed '1,/"event":"missed"/d' "$work/events" |
		gojq -es 'any(.name == "unseen" and .state == "held")' >/dev/null
}
misses() {
	rm -f "$work/kept"
	netns_exec bftm-c1 bftmutexctl watch --json >"$work/events" 2>"$work/missed" &
	watcher=$!
	wait_for 20 watching || return
	kill -STOP "$watcher"
	entries "${BFTMUTEX_EVENTS:-400}" || return
	netns_exec bftm-c1 bftmutex -l 4s unseen \
		sh -c "touch $work/kept; read line <$work/enough" &
	holder=$!
	wait_for 10 test -e "$work/kept" || return
	kill -CONT "$watcher"
	wait_for 20 grep -q "some are lost: the locks that are held now follow" "$work/missed"
}
ok "events that are missed are said to be" misses
ok "and what is held is told" wait_for 10 held_still
# Nobody reads it when the lock was lost meanwhile.
timeout 20 sh -c "echo >$work/enough"
wait "$holder"
kill "$watcher"
wait "$watcher" 2>/dev/null

#
# Two clients at once, and what may happen meanwhile
#

exact() { no_overlap && counted "$1"; }

count=25
! short || count=8
ok "contended: all come to their end" contend 4 --entries $count --hold 2 --lease 2
ok "contended: exact" exact $((4 * count))

# Requests are under way when their daemon ends, or reads its configuration again.
restless() {
	local turn=0
	while [[ ! -e $work/quiet ]]; do
		turn=$((turn + 1))
		if ((turn % 3)); then
			tune_one
		else
			kill_helper 1
			start_helper 1 || return
		fi
		c 1 bftmutex -w 20 "restless-$turn" true
	done
	echo "$turn" >"$work/turns"
}
# Another configuration, though it says the same.
tune_one() {
	sed -i -e '/^\trho = /d' -e "s/^cluster .*/&\n\trho = $((3000 + turn))/" \
		"$dev/c1/bftmutex.conf"
	kill -HUP "$(helper 1)"
}
restless &
restless=$!
# A request that waits for a daemon may have to wait for the end of a lost lease.
ok "restarts: all come to their end" contend 4 --entries $count --hold 2 --lease 2 --pause 40
ok "restarts: exact" exact $((4 * count))
touch "$work/quiet"
wait "$restless"
diag "restarts: $(<"$work/turns") of daemon or configuration"
ok "restarts: there were some" test "$(<"$work/turns")" -ge 3
ok "restarts: the kernel takes locks again" again taken 20

many=200
! short || many=20
# A liar that has been started anew each time it is asked: the kernel hears of that by itself.
lent_again() {
	local now
	now=$(sessions)
	((now == before)) || { echo "lent $((now - before)) times"; return 1; }
}
always_another() {
	local begin=$SECONDS
	lie 4 challenge --lease-max 4s --seed "$RANDOM" || return
	before=$(sessions)
	taken "$many" || return
	wait_for 10 grep -q "server 4 has restarted" "$dev/c1/log" || return
	said=$(grep -c "server 4 has restarted" "$dev/c1/log") said_within=$((SECONDS - begin))
	lent_again
}
ok "always another start: the kernel goes on" always_another
# When it became one, and once a minute.
said() { ((said > 0 && said <= 2 + said_within / 60)) || { echo "$said lines in $said_within s"; return 1; }; }
ok "and the log has that once a minute" said
honest 4

netem c1 c2 s1 s2 s3 s4 -- delay 1ms loss 20%
ok "loss: all come to their end" contend 4 --entries 5 --hold 2 --lease 2 --timeout 60
ok "loss: exact" exact 20
netem c1 c2 s1 s2 s3 s4

# It is in quarantine, and then another incarnation, which the kernel hears of by itself.
before=$(sessions)
s 2 bftmutexctl server stop >/dev/null
honest 2
known() { [[ $(servers 1 '[.[] | select(.epoch)] | length') == 4 ]]; }
# The daemon wants to see some rounds after those with two hosts and losses.
ok "a server was restarted: locks are taken" entries 64
ok "a server was restarted: the kernel takes locks" again taken 10
ok "when all are back as well" again taken 10
# Where three are needed, and one is silent, the one that was restarted counts.
s 3 bftmutexctl server stop >/dev/null
ok "and counts on the one that was restarted" again taken 10
ok "without another loan" lent_again
honest 3

tune 'fast-path = no'
ok "switched off" wait_for 10 lent 1 false
before=$(know 1 fast_won)
ok "then the daemon takes them" entries 10
is "and the kernel none" "$(know 1 fast_won)" "$before"

finish
