#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=17
#
# Modes of a lock, from bftmutex(1) to the servers and back: programs that hold it together on one
# host and on two, writers that come between readers, and tokens.
#
#	bftm-c1, bftm-c2, bftm-c3 ---- bridge ---- bftm-s1 … bftm-s4
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
count=0

cleanup() {
	stop_jobs
	down
	rm -rf "$work"
}

# A lock that no other test has.
new_lock() {
	count=$((count + 1))
	lock=modes.$count
	rm -f "$work"/*
}

# ask N WHO ARG...: client N asks for the lock; WHO is in $work/order when it has it, and it keeps
# the lock until let_go WHO. Its token is in $work/token.WHO.
ask() {
	local n=$1 who=$2
	shift 2
	mkfifo "$work/go.$who"
	ip netns exec "bftm-c$n" bftmutex -w 100 "$@" "$lock" sh -c "
		echo \$BFTMUTEX_TOKEN >$work/token.$who
		echo $who >>$work/order
		read word <$work/go.$who" 2>"$work/err.$who" &
}

has() { grep -qx "$1" "$work/order" 2>/dev/null; }

# hold N WHO ARG...: the same, and has it
hold() {
	ask "$@"
	wait_for 20 has "$2" || diag "$2: $(<"$work/err.$2")"
	ok "$lock: $2 has it" has "$2"
}

let_go() {
	local who
	for who; do
		: >"$work/go.$who"	# the reader has it open, or will
	done
}

order() { [[ $(xargs <"$work/order") == "$*" ]]; }

# try N MODE: the exit status of one that does not wait
try() {
	c "$1" bftmutex -n --mode "$2" "$lock" true 2>"$work/err"
	echo $?
}

held() { c "$1" bftmutexctl holders --json | gojq -r '[.[] | select(.state == "held") | .mode] | sort | join(" ")'; }
pending() { c "$1" bftmutexctl holders --json | gojq '[.[] | select(.state == "pending")] | length'; }
waits_here() { (($(pending "$1") == $2)); }
# Each server has so many in the queue of the lock.
queued() {
	local n
	for n in 1 2 3 4; do
		(($(s "$n" bftmutexctl locks --json |
			gojq --arg name "$lock" '[.[] | select(.name == $name) | .waiters] | add // 0') == $1)) ||
			return
	done
}
token() { cat "$work/token.$1"; }

load || bail "the module cannot be loaded"
up --servers 4 -b 1 --clients 3 --lease-max 10s || bail "no cluster"

#
# Beside one another
#

new_lock
hold 1 a -s
hold 1 b --shared
hold 2 c --mode pr
is "three readers: on client 1" "$(held 1)" "PR PR"
is "three readers: on client 2" "$(held 2)" PR
for n in 1 3; do
	is "beside readers, client $n: CR, CW, PR, PW, EX" \
		"$(try $n CR) $(try $n CW) $(try $n PR) $(try $n PW) $(try $n EX)" "0 1 0 1 1"
done
let_go a b c
wait_jobs
hold 1 writer
is "beside a writer" "$(try 1 CR) $(try 2 CR) $(try 2 PR)" "1 1 1"
let_go writer
wait_jobs

new_lock
hold 1 a --mode PW
for n in 1 2; do
	is "beside PW, client $n: CR, CW, PR, PW, EX" \
		"$(try $n CR) $(try $n CW) $(try $n PR) $(try $n PW) $(try $n EX)" "0 1 1 1 1"
done
let_go a
wait_jobs

#
# Who comes first
#

# The writer waits in the queue of the servers.
new_lock
hold 1 a -s
hold 1 b -s
hold 2 c -s
ask 3 writer
ok "a writer waits" wait_for 20 queued 1
is "a writer waits: nobody overtakes it" "$(try 1 PR) $(try 2 PR) $(try 3 PR)" "1 1 1"
ask 2 late -s
ok "a later reader waits too" wait_for 20 queued 2
let_go a
let_go c
ok "one reader is left" wait_for 20 waits_here 2 1
ok "and the writer has to wait" order a b c
let_go b
ok "then the writer has it, and not the later reader" wait_for 20 order a b c writer
let_go writer
ok "then the later reader" wait_for 20 order a b c writer late
let_go late
wait_jobs

# All on one host.
new_lock
hold 1 a -s
ask 1 writer
wait_for 20 waits_here 1 1
ask 1 late -s
wait_for 20 waits_here 1 2
is "one host: nobody overtakes the writer" "$(try 1 PR)" 1
ok "one host: it has to wait" order a
let_go a
ok "one host: the writer has it" wait_for 20 order a writer
let_go writer
ok "one host: then the later reader" wait_for 20 order a writer late
let_go late
wait_jobs

#
# Tokens
#

new_lock
hold 1 first --fence
let_go first
wait_jobs
hold 1 a -s --fence
hold 2 b -s --fence
let_go a b
wait_jobs
hold 3 second --fence
let_go second
wait_jobs
hold 1 c -s --fence
let_go c
wait_jobs
diag "$(token first) | $(token a) $(token b) | $(token second) | $(token c)"
ok "tokens: a reader's is above that of the writer before it" test "$(token a)" -gt "$(token first)"
is "tokens: readers share one" "$(token b)" "$(token a)"
ok "tokens: a writer's is above those of the readers before it" test "$(token second)" -gt "$(token b)"
ok "tokens: and so on" test "$(token c)" -gt "$(token second)"

#
# Another daemon
#

new_lock
hold 1 a -s -l 4s
kill_helper 1
start_helper 1 || bail "no daemon"
adopted() { (($(c 1 bftmutexctl stats --json | gojq .helper.adopted) == 1)); }
ok "another daemon has taken the reader over" wait_for 20 adopted
before=$(c 1 bftmutexctl stats --json | gojq .local.renewed)
renewed() { (($(c 1 bftmutexctl stats --json | gojq .local.renewed) >= before + 3)); }
ok "and renews its lock" wait_for 20 renewed
is "which others share" "$(held 1) $(try 1 PR) $(try 2 PR) $(try 2 EX)" "PR 0 0 1"
let_go a
wait_jobs
ok "nobody is suspected" test -z "$(for n in 1 2 3; do servers $n '.[] | select(.suspect) | .id'; done)"
finish
