#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=12
#
# bftmutex --and: one command under several locks.
#
#	bftm-c1 … bftm-c2 ---- bridge ---- bftm-s1 … bftm-s4, of which server 4 lies
#
# Single quotes are for the command's shell; lib/tool.sh sets variables, and calls the script again
# as a client of a cluster that is there.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154,SC1091,SC2119,SC2034,SC2317
set -u
if [[ ! ${BFTMUTEX_BIN-} ]]; then
	top=$(cd "$(dirname "$0")/../../.." && pwd)
	(
		. "$top/selftests/lib/tap.sh"
		. "$top/selftests/lib/cluster.sh"
		load && up --servers 4 --clients 2 --lease-max 15s && lie 4 always-free && finish
	) >/dev/null || { echo "not ok 1 - no cluster"; echo 1..1; exit 1; }
	BFTMUTEX_BIN=$top/build/bin BFTMUTEX_OTHER=bftm-c2 exec ip netns exec bftm-c1 "$0"
fi
. "$(dirname "$0")/../../lib/tool.sh"

# other ARG...: the tool on another host
other() { ip netns exec "$BFTMUTEX_OTHER" "$tool" "$@" </dev/null; }

#
# All are held, and given back
#

new_lock
a=$lock.a b=$lock.b c=$lock.c
start -l "$long" --and "$c" --and "$a" "$b" sh -c "env >$mark.env; ls -l /proc/self/fd >$mark.fds; mv $mark.env $mark; exec sleep 60"
for name in "$a" "$b" "$c"; do
	other -n "$name" true 2>/dev/null
	is "$name is held" $? 1
done
is "the command inherits a handle for each" "$(grep -c /dev/bftmutex "$mark.fds")" 3
is "BFTMUTEX_NAME is NAME" "$(sed -n 's/^BFTMUTEX_NAME=//p' "$mark")" "$b"
ok "no tokens without --fence" ! grep -q ^BFTMUTEX_TOKEN "$mark"
stop_background
for name in "$a" "$b" "$c"; do
	other -w 10 "$name" true
	is "$name is given back" $? 0
done

new_lock
t --fence --and "$lock z" --and "$lock=a b" "$lock.m" sh -c 'printf %s "$BFTMUTEX_TOKENS"; echo; echo "$BFTMUTEX_TOKEN"'
is "--fence" "$status" 0
is "tokens: a line each, NAME first" "$(sed -E '4!s/=[0-9]+$/=N/' <<<"$out")" "$lock.m=N
$lock z=N
$lock=a b=N
$(tail -n 1 <<<"$out")"
is "tokens: BFTMUTEX_TOKEN is that of NAME" "$(sed -n "s/^$lock\.m=//p" <<<"$out")" "$(tail -n 1 <<<"$out")"
BFTMUTEX_TOKENS=old t "$lock" env
ok "no tokens of other locks without --and" ! grep -q ^BFTMUTEX_TOKENS= "$dir/out"

new_lock
for options in "--shared" "--mode PW --fence" "--margin 100ms" "--notify" "--close" "--no-renew -l 5s"; do
	# shellcheck disable=SC2086  # words
	t $options --and "$lock.2" "$lock.1" true
	is "$options --and: status" "$status$err" 0
done
start -l "$long" -s --and "$lock.2" "$lock.1" sh -c "touch $mark; exec sleep 60"
other -s -n --and "$lock.1" "$lock.2" true
is "-s: both are shared" $? 0
other -n "$lock.2" true
is "-s: neither is to be written meanwhile" $? 1
stop_background
t --hash-name --and "$lock.$(printf %100s x)" "$lock.$(printf %100s y)" true
is "--hash-name: names of any length" "$status$err" 0
sixteen=()
for n in {1..16}; do sixteen+=(--and "$lock.s$n"); done
t --fence "${sixteen[@]}" "$lock" sh -c 'printf "%s\n" "$BFTMUTEX_TOKENS" | wc -l'
is "sixteen beside NAME" "$status$out" 017

#
# Programs that take them in other orders of the command line never wait in a cycle
#

new_lock
runners=()
for turn in 1 2 3 4; do
	other -w 60 --and "$lock.2" "$lock.1" sh -c "echo >>$mark.turns" 2>>"$mark.err" &
	runners+=($!)
	"$tool" -w 60 --and "$lock.1" "$lock.2" sh -c "echo >>$mark.turns" 2>>"$mark.err" &
	runners+=($!)
done
wait "${runners[@]}"
is "no cycle: all had their turn" "$(wc -l <"$mark.turns")" 8

#
# One is taken
#

new_lock
hold
t -n -l "$long" --and "$lock" "$lock.a" true
is "-n: one is taken" "$status$err" 1
t -n "$lock.a" true
is "-n: the other is given back" "$status" 0
t -n -E 0 --and "$lock" "$lock.a" touch "$mark.no"
is "-n -E 0" "$status" 0
ok "-n -E 0: the command does not run" ! test -e "$mark.no"
begin=${EPOCHREALTIME/./}
t -w 1.5 --verbose --and "$lock" "$lock.zz" true
is "-w: one is taken" "$status" 1
ok "-w: one limit over all" test $((${EPOCHREALTIME/./} - begin)) -ge 1500000
said "-w: which one is told" "lock '$lock': not held after --wait 1.5"
stop_background

# The smaller name is held and renewed while the larger one is waited for.
new_lock
less=$lock.a lock=$lock.z
hold
"$tool" -l 500ms --and "$lock" "$less" true 2>"$dir/waits" &
waiter=$!
other -w 2 "$less" true
is "what is held is renewed while another is waited for" $? 1
ok "what is held: it waits still" ! gone $waiter
stop_background
wait $waiter
is "what is held: it got both" "$?$(<"$dir/waits")" 0

new_lock
less=$lock.a lock=$lock.z
hold
t -l 300ms --no-renew --lost-exit-code 0 --and "$less" "$lock" touch "$mark.no"
is "lost while another is waited for: --lost-exit-code" "$status" 0
ok "lost while another is waited for: the command does not run" ! test -e "$mark.no"
t -l 300ms --no-renew --and "$less" "$lock" true
is "lost while another is waited for" "$status" 79
said "lost while another is waited for: message" "lock '$less' lost: its lease ended, while lock '$lock' was waited for"
t -l 600ms --no-renew --margin 300ms --and "$less" "$lock" true
is "the margin while another is waited for" "$status" 79
said "the margin while another is waited for: message" "lock '$less': its lease ends in less than --margin 300ms, while"
stop_background

# A process that is stopped until --wait is over does not start its command, even if it gets all.
new_lock
less=$lock.a lock=$lock.z
states() {
	"${tool%/*}/bftmutexctl" holders --json |
		gojq -c --arg name "$lock" 'map(select(.name == $name).state) | sort'
}
waits() { [[ $(states) == '["held","pending"]' ]]; }
has_it() { [[ $(states) == '["held"]' ]]; }
start -l "$long" "$lock" sh -c "touch $mark; until [ -e $mark.go ]; do sleep 0.1; done"
"$tool" -w 5 --and "$lock" "$less" touch "$mark.no" 2>"$dir/waits" &
waiter=$!
ok "stopped while it waits: it waits" wait_for 4 waits
kill -STOP $waiter
touch "$mark.go"
ok "stopped while it waits: it gets the lock" wait_for 4 has_it
other -w 6 "$lock" true
is "stopped while it waits: and keeps it" $? 1
kill -CONT $waiter
wait $waiter
is "stopped while it waits: not in time" "$?" 1
ok "stopped while it waits: the command does not run" ! test -e "$mark.no"
ended

#
# One is lost while the command runs
#

new_lock
t -l 1s --no-renew --and "$lock.b" "$lock.a" sleep 60
is "lost: status" "$status" 79
said "lost: message" "lost: its lease ended before the command; sending SIGTERM"
for name in "$lock.a" "$lock.b"; do
	other -w 10 "$name" true
	is "lost: $name is given back" $? 0
done

#
# What is refused
#

new_lock
wrong "twice" 64 "--and '$lock' is NAME too" --and "$lock" "$lock" true
wrong "twice by --and" 64 "--and 'x' comes twice" --and x --and y --and x "$lock" true
wrong "seventeen" 64 "--and 'more': at most 16 locks beside NAME" "${sixteen[@]}" --and more "$lock" true
wrong "an empty name" 65 "the lock name is empty" --and "" "$lock" true
wrong "a long name" 65 "the name has 65 bytes" --and "$(printf %65s x)" "$lock" true
wrong "a line feed" 65 "the name has a line feed" --and $'a\nb' "$lock" true
for option in "--fd 3" "-F" "--value" "--fdstore" "-u"; do
	# shellcheck disable=SC2086  # words
	wrong "$option" 64 "--and 'x' takes no" --and x $option "$lock" true
done

finish
