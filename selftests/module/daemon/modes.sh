#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=20
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

own_work

# A lock that no other test has.
new_lock() {
	next_lock
	rm -f "$work"/*
}

# ask N WHO ARG...: client N asks for the lock; WHO is in $work/order when it has it, and it keeps
# the lock until let_go WHO. Its token is in $work/token.WHO.
ask() {
	local n=$1 who=$2
	shift 2
	mkfifo "$work/go.$who"
	netns_exec "bftm-c$n" bftmutex -w 100 "$@" "$lock" sh -c "
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
# fast N WHAT: a counter of what the kernel of client N does without the daemon
fast() { c "$1" bftmutexctl servers --json | gojq ".clusters[0].$2"; }

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
# By the kernel alone
#

new_lock
won=$(fast 1 fast_won)
is "free: CR, CW, PR, PW, EX" "$(try 1 CR) $(try 1 CW) $(try 1 PR) $(try 1 PW) $(try 1 EX)" "0 0 0 0 0"
is "free: the kernel takes them" $(($(fast 1 fast_won) - won)) 5
won=$(($(fast 1 fast_won) + $(fast 2 fast_won)))
hold 1 a -s
hold 2 b -s
is "readers of two hosts: the kernels take them" $(($(fast 1 fast_won) + $(fast 2 fast_won) - won)) 2
left=$(fast 3 fast_left)
is "readers of two hosts: a writer is kept out" "$(try 3 EX) $(try 3 PW)" "1 1"
is "readers of two hosts: its kernel leaves it to the daemon" $(($(fast 3 fast_left) - left)) 2
let_go a b
wait_jobs
won=$(fast 3 fast_won)
hold 3 writer
is "a writer after them: the kernel takes it" $(($(fast 3 fast_won) - won)) 1
is "a writer after them: readers are kept out" "$(try 1 PR) $(try 2 CR)" "1 1"
let_go writer
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
# Conversion
#

# shell N WHO: a process of client N that has a descriptor 9 of the device
shell() {
	mkfifo "$work/in.$2" "$work/out.$2"
	netns_exec "bftm-c$1" bash -c "exec 9<>/dev/bftmutex
		while read -r line <&8; do
			eval \"\$line\" 2>$work/err.$2
			echo \$? >&7
		done" 8<>"$work/in.$2" 7<>"$work/out.$2" &
	local asks answers
	exec {asks}<>"$work/in.$2" {answers}<>"$work/out.$2"
	in[$2]=$asks out[$2]=$answers
}
declare -A in out

# say WHO WORD...: it does that; result WHO: the exit status of what it did
say() {
	local who=$1
	shift
	echo "$*" >&"${in[$who]}"
}
result() {
	local status=none
	read -r -t 60 status <&"${out[$1]}"
	echo "$status"
}
does() { say "$@" && result "$1"; }
# convert WHO MODE ARG...
convert() { does "$1" bftmutex --fd 9 --convert --mode "${@:2}"; }
converts() { [[ $(c "$1" bftmutexctl holders --json | gojq -r '[.[] | .goal // empty] | join(" ")') == "$2" ]]; }
end_shells() {
	local who asks answers
	for who in "${!in[@]}"; do
		say "$who" "exit 0"
		asks=${in[$who]} answers=${out[$who]}
		exec {asks}>&- {answers}>&-
	done
	wait_jobs
	in=() out=()
}

new_lock
shell 1 a
shell 2 b
is "a reader" "$(does a bftmutex --fd 9 -s "$lock")" 0
is "converts to EX" "$(convert a EX -w 20) $(held 1) $(try 2 PR)" "0 EX 1"
is "and back" "$(convert a PR) $(held 1) $(try 2 PR) $(try 2 EX)" "0 PR 0 1"
is "another reader" "$(does b bftmutex --fd 9 -s "$lock")" 0
is "beside whom there is no EX" "$(convert a EX -n) $(held 1) $(held 2)" "1 PR PR"
is "after a time limit neither" "$(convert a EX -w 0.5) $(held 1)" "1 PR"
say a bftmutex --fd 9 --convert -w 50
ok "one waits for EX" wait_for 20 converts 1 EX
is "which its servers list in PR, with another" "$(s 1 bftmutexctl locks --json | gojq -r --arg name "$lock" '.[] | select(.name == $name) | "\(.mode) \(.holders)"')" "PR 2"
is "a newcomer does not overtake it" "$(try 3 PR)" 1
is "and the other cannot have EX: each would wait for the other" "$(convert b EX -w 50) $(held 2)" "1 PR"
ok "which is said" grep -q 'not converted to mode EX: another holder converts the lock too' "$work/err.b"
is "so it gives the lock back" "$(does b bftmutex --fd 9 -u)" 0
is "then the first has EX" "$(result a) $(held 1)" "0 EX"
is "EX to CW to PR" "$(convert a CW) $(held 1) $(convert a PR -w 20) $(held 1)" "0 CW 0 PR"
is "beside CW there is no PR" "$(convert a CW -w 20) $(does b bftmutex --fd 9 -n --mode CW "$lock") $(convert a PR -n) $(held 1)" "0 0 1 CW"
end_shells

# Two of one host.
new_lock
shell 1 a
shell 1 b
is "two readers of one host" "$(does a bftmutex --fd 9 -s "$lock") $(does b bftmutex --fd 9 -s "$lock")" "0 0"
say a bftmutex --fd 9 --convert -w 50
wait_for 20 converts 1 EX
say b bftmutex --fd 9 --convert -w 50
# One of them is told; attempts decide which.
loser=a winner=b
until read -r -t 0.1 status <&"${out[$loser]}"; do
	[[ $loser == a ]] && loser=b winner=a || loser=a winner=b
done
is "both want EX: one is told of the deadlock" "$status" 1
is "and gives back, so that the other has it" "$(does $loser bftmutex --fd 9 -u) $(result $winner) $(held 1)" "0 0 EX"
end_shells

# Tokens
new_lock
shell 1 a
shell 2 b
does a bftmutex --fd 9 -s --fence --print "$lock" ">$work/a.1" >/dev/null
does b bftmutex --fd 9 -s --fence --print "$lock" ">$work/b.1" >/dev/null
does b bftmutex --fd 9 -u >/dev/null
convert a EX -w 20 --fence --print ">$work/a.2" >/dev/null
convert a PR --fence --print ">$work/a.3" >/dev/null
does b bftmutex --fd 9 -s --fence --print "$lock" ">$work/b.2" >/dev/null
number() { sed -n 's/^BFTMUTEX_TOKEN=//p' "$work/$1"; }
diag "$(number a.1) $(number b.1) | $(number a.2) | $(number a.3) $(number b.2)"
ok "tokens: EX has one of its own" test "$(number a.2)" -gt "$(number a.1)"
ok "tokens: PR after it has another" test "$(number a.3)" -gt "$(number a.2)"
is "tokens: which readers share" "$(number b.2)" "$(number a.3)"
end_shells

# A daemon that comes in the middle.
new_lock
shell 1 a
shell 2 b
is "two readers" "$(does a bftmutex --fd 9 -s -l 4s "$lock") $(does b bftmutex --fd 9 -s "$lock")" "0 0"
say a bftmutex --fd 9 --convert -w 50
wait_for 20 converts 1 EX
kill_helper 1
start_helper 1 || bail "no daemon"
is "another daemon goes on with a conversion" "$(does b bftmutex --fd 9 -u) $(result a) $(held 1)" "0 0 EX"
end_shells

#
# Another daemon
#

new_lock
hold 1 a -s -l 4s
kill_helper 1
start_helper 1 || bail "no daemon"
renewed() { (($(c 1 bftmutexctl stats --json | gojq .local.renewed) > renewals)); }
renewals=$(c 1 bftmutexctl stats --json | gojq .local.renewed)
ok "another daemon has come, and the reader's lock is renewed" wait_for 20 renewed
before=$(c 1 bftmutexctl stats --json | gojq .local.renewed)
renewed() { (($(c 1 bftmutexctl stats --json | gojq .local.renewed) >= before + 3)); }
ok "and renews its lock" wait_for 20 renewed
is "which others share" "$(held 1) $(try 1 PR) $(try 2 PR) $(try 2 EX)" "PR 0 0 1"
let_go a
wait_jobs
ok "nobody is suspected" test -z "$(for n in 1 2 3; do servers $n '.[] | select(.suspect) | .id'; done)"
finish
