#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=50
#
# Locks without a lease, from bftmutex(1) to the servers and back: they outlast all servers and the
# helper, are released in the end, and go to others only when their host was evicted.
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 … bftm-s4		n = 4, b = 1
#
# shellcheck disable=SC2154,SC2317  # set by, or called from, what is sourced
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

own_work
servers=$dev/servers

# A lock that no other test has.
new_lock() {
	next_lock
	lock=disk/$lock
	rm -f "$work"/*
}

# hold N: client N has the lock without a lease, until let_go.
hold() {
	mkfifo "$work/go"
	netns_exec "bftm-c$1" bftmutex --no-lease "$lock" sh -c "
		touch $work/held; read word <$work/go" 2>"$work/err" &
	holder=$!
	wait_for 60 test -e "$work/held"
	ok "$lock: client $1 has it" test -e "$work/held"
}
let_go() {
	echo >"$work/go"
	wait "$holder"
	is "$lock: the command has ended" $? 0
}

# ask N: client N waits for the lock, which is in $work/next when it has it.
ask() {
	netns_exec "bftm-c$1" bftmutex -w 200 "$lock" touch "$work/next" 2>"$work/err.$1" &
	asker=$!
}
is_next() { test -e "$work/next"; }
# given N: who asked has it.
given() {
	wait_for 60 is_next
	ok "$lock: $1" is_next
	wait "$asker"
}

# try N ARG...: the exit status of one that asks; its words are in $err.
try() {
	c "$1" bftmutex "${@:2}" true 2>"$work/try"
	status=$?
	err=$(<"$work/try")
	echo $status
}
says() { ok "$1" grep -qF -- "$2" <(echo "$err"); }

lease_max=1s
start_server() {
	s "$1" bftmutexctl server start --key "$dev/keys/server-$1.key" --lease-max "$lease_max" \
		--state "$servers" --config "$servers/bftmutex.conf" >/dev/null
}
restart() {
	local n
	for n; do
		s "$n" bftmutexctl server stop >/dev/null && start_server "$n" || return
	done
}
# is_open [SERVER...]: all members have told them what they hold, and none is in quarantine.
is_open() {
	local n
	(($#)) || set -- 1 2 3 4
	for n; do
		[[ $(s "$n" bftmutexctl server show --json | gojq -c '[.awaited, .quarantine_ns]') == "[0,0]" ]] ||
			return
	done
}
awaited() { s "$1" bftmutexctl server show --json | gojq .awaited; }
# Servers that clients 1 and 2 suspect.
suspects() {
	local n
	for n in 1 2; do
		c "$n" bftmutexctl servers --json | gojq '.clusters[].servers[] | select(.suspect) | .id'
	done
}
awaits() { [[ $(awaited "$1") == "$2" ]]; }

load || bail "the module cannot be loaded"
up --servers 4 --clients 2 --lease-max 1s || bail "no cluster"

new_lock
is "this host is no member" "$(try 1 --no-lease "$lock")" 77
try 1 --no-lease "$lock" >/dev/null
says "no member: it says what to do" 'leaseless = yes'
tune 'leaseless = yes' || bail "configuration"
try 1 --no-lease "$lock" >/dev/null
is "the servers know no members" $status 77
says "no rule for members: it says what to do" 'no access rule says "leaseless = yes" for client 1'
sed -i 's|^}|\taccess { client = 1-2  prefix = "disk/"  leaseless = yes }\n\taccess { client = any }\n}|' \
	"$servers/bftmutex.conf"
ok "servers with members" restart 1 2 3 4
ok "both members tell each server that they hold nothing" wait_for 60 is_open

hold 1
is "no end: deadline and rest" "$(c 1 bftmutexctl holders --json |
	gojq -c '[.[] | select(.state == "held") | .deadline_ns == null, .remaining_ns == null]')" "[true,true]"
ok "no end: bftmutexctl holders says so" grep -q "no end" <(c 1 bftmutexctl holders)
is "no end: the command is told of none" "$(BFTMUTEX_DEADLINE_NS=1 c 1 bftmutex --no-lease disk/end \
	sh -c "echo \${BFTMUTEX_DEADLINE_NS-unset}")" unset
is "client 2 does not get it" "$(try 2 -n "$lock")" 1
is "no clock ends it" "$(try 2 -w 12 "$lock")" 1

# No quarantine outlasts it.
ok "all servers restart" restart 1 2 3 4
ask 2
ok "the members tell each of them" wait_for 60 is_open
is "other locks are granted" "$(try 2 -w 20 disk/other)" 0
ok "a lock that was held before is not" test ! -e "$work/next"
let_go
given "client 2 gets it after the release"
is "no server lies, whatever it tells members" "$(suspects)" ""

# Without a helper nobody tells the servers.
new_lock
hold 1
kill_helper 1
ok "all servers restart without it" restart 1 2 3 4
ok "client 2 tells them" wait_for 60 awaits 1 1
all_recover() { [[ $(servers 2 'map(.recovering) | all') == true ]]; }
ok "bftmutexctl servers: each waits for a member" wait_for 60 all_recover
is "and says so" "$(c 2 bftmutexctl servers | grep -c "^  server [1-4] waits since its start for members")" 4
is_silent() { [[ $(servers 2 '.[3] | "\(.state) \(.recovering)"') == 'silent null' ]]; }
ok "server 4 stops" s 4 bftmutexctl server stop
ok "bftmutexctl servers: it is silent, and so it is not known that it waits" wait_for 60 is_silent
is "and says so of the others alone" "$(c 2 bftmutexctl servers | grep -c "^  server [1-4] waits since its start for members")" 3
ok "server 4 starts" start_server 4
try 2 --verbose -w 15 disk/other >/dev/null
is "they grant nothing yet, whoever asks" $status 69
says "they wait for a member: it says so" "wait to hear from members"
ok "the helper is back" start_helper 1
ok "and tells them" wait_for 60 is_open
none_recovers() { [[ $(servers 2 'map(.recovering) | any') == false ]]; }
ok "bftmutexctl servers: none waits any more" wait_for 60 none_recovers
is "now they do" "$(try 2 -w 20 disk/other)" 0
is "but not the lock that is held" "$(try 2 -n "$lock")" 1
kill_helper 1
let_go
sleep_past_grace() { c 1 bftmutex -n "$lock" true 2>/dev/null; [[ $? == 69 ]]; }
ok "no helper is expected any more" wait_for 20 sleep_past_grace
is "servers were not told of the release" "$(try 2 -n "$lock")" 1
ask 2
ok "the helper is back again" start_helper 1
given "client 2 gets it then"

# A server lies: nobody else gets the lock, nor does its holder lose it, nor does it stay.
lies=(false-member always-free)
short || mapfile -t lies < <(strategies)
for lie in "${lies[@]}"; do
	ok "$lie: a server lies" lie 4 "$lie" || continue
	new_lock
	hold 1
	ok "client 2 does not get it" test "$(try 2 -w 3 "$lock")" != 0
	ok "the others restart" restart 1 2 3
	ask 2
	ok "the members tell them" wait_for 60 is_open 1 2 3
	ok "the lock that was held before is not granted" test ! -e "$work/next"
	let_go
	given "client 2 gets it after the release"
done
kill_liar 4
ok "server 4 is honest again" start_server 4
ok "and is told" wait_for 60 is_open

# Several locks for one command.
new_lock
mkfifo "$work/go"
netns_exec bftm-c1 bftmutex --no-lease --and "$lock.b" "$lock.a" sh -c "
	touch $work/held; read word <$work/go" &
holder=$!
wait_for 60 test -e "$work/held"
ok "all servers restart" restart 1 2 3 4
ok "the members tell each of them" wait_for 60 is_open
is "--and: client 2 does not get the one" "$(try 2 -n "$lock.a")" 1
is "--and: nor the other" "$(try 2 -n "$lock.b")" 1
# One that has the first of two locks, and waits for the second, is killed.
netns_exec bftm-c2 bftmutex --no-lease --and "$lock.0" "$lock.a" true &
waiter=$!
is_taken() { [[ $(try 1 -n "$lock.0") == 1 ]]; }
ok "--and: client 2 has the first, and waits" wait_for 60 is_taken
kill -KILL $waiter
wait $waiter 2>/dev/null
is "--and: the first of one that was killed is given back" "$(try 1 -w 30 "$lock.0")" 0
let_go
is "--and: the one is given back" "$(try 2 -w 30 "$lock.a")" 0
is "--and: the other is given back" "$(try 2 -w 30 "$lock.b")" 0

# Evicted at each server, as if the host was cut off: only that ends it.
new_lock
hold 1
netns_exec bftm-c1 bftmutex --no-lease --and "$lock.b" "$lock.a" sh -c "
	touch $work/both; exec sleep 600" 2>"$work/err.both" &
both=$!
wait_for 60 test -e "$work/both"
ask 2
read -r incarnation <"$(echo "$dev"/c1/cluster-*-client-1)"
for n in 1 2 3 4; do
	s $n bftmutexctl client evict --state "$servers" 1 "$incarnation" --fenced >/dev/null
done
given "client 2 gets it after the eviction"
wait "$holder"
is "$lock: who had it has lost it" $? 79
ok "and is told why" grep -q "servers have evicted this host" "$work/err"
wait "$both"
is "--and: who had both has lost them" $? 79
ok "--and: and is told why" grep -q "servers have evicted this host" "$work/err.both"
for name in "$lock.a" "$lock.b"; do
	is "--and: client 2 gets $name" "$(try 2 -w 30 --no-lease "$name")" 0
done
is "an evicted host gets no lock" "$(try 1 -w 20 "$lock")" 77
try 1 -w 20 "$lock" >/dev/null
says "an evicted host: it says what to do" "restart bftmutexd"
kill_helper 1
ok "its helper is restarted" start_helper 1
is "then it gets locks again" "$(try 1 -w 20 --no-lease "$lock")" 0

# The state file is lost while the kernel's session outlives the daemon: the next daemon has to hear of
# the leases that the kernel holds before its SYNC, which ends what it does not name.
lease_max=8s
ok "the members hear of longer leases" tune 'leaseless = yes' 'lease-max = 8s'
ok "servers with longer leases" restart 1 2 3 4
ok "the members tell each of them" wait_for 60 is_open
won() { c 1 bftmutexctl servers --json | gojq '.clusters[0].fast_won'; }
kernel_holds() { (($(won) > before)); }
synced() { s "$1" bftmutexctl server show --json | gojq .stats.synced; }
all_synced() {
	local n
	for n in 1 2 3 4; do (($(synced "$n") > was[n])) || return; done
}
lost_state() {
	local before n was=() status=0
	before=$(won)
	netns_exec bftm-c1 timeout 60 contender --client c1 --counter "$work/count" --log "$work/log" --entries 1 \
		--hold 3500 --lease 8 --lock own &
	holder=$!
	wait_for 10 kernel_holds || { echo "the kernel has not won it"; return 1; }
	for n in 1 2 3 4; do was[n]=$(synced "$n"); done
	kill_helper 1
	rm "$dev"/c1/cluster-* && start_helper 1 || return
	wait_for 10 all_synced || { echo "no SYNC came"; return 1; }
	c 2 bftmutex -n own true || status=$?
	kill -0 "$holder" || { echo "it was not held for long enough"; return 1; }
	((status == 1)) || { echo "another gets it: status $status"; return 1; }
	wait "$holder"
}
ok "a state file is lost while the kernel holds a lock" lost_state
ok "then the kernel's lock is given back" wait_for 20 c 2 bftmutex -n own true
finish
