#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm tier=all clock=instructions time=200
#
# bftmutex(1) and the processes that its command starts: a process that leaves the process group is
# also ended when the lock is lost, keeps the lock, and gets the signals of the terminal.
#
# Functions are called by name, variables are shared with the libraries, and single quotes
# are for the command's shell.
# shellcheck disable=SC2016,SC2034,SC2154,SC2317,SC2119
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

dir=$(mktemp -d) || bail "mktemp failed"
chmod 711 "$dir"
mark=$dir/mark
long=15s
count=0

cleanup() {
	stop_jobs
	pkill -KILL -f '^sleep 7[0-9]{5,6}$'
	down
	rm -rf "$dir"
}

new_lock() {
	count=$((count + 1))
	lock=family.$count
	rm -f "$mark" "$mark".*
}

# start ARG...: run the tool in the background, on client $client, until it shows $mark.
# A session of its own, so that a signal to its group is none to ours.
client=1
start() {
	netns_exec "bftm-c$client" setsid env --default-signal=INT,QUIT "${as[@]}" bftmutex "$@" \
		>"$mark.out" 2>"$mark.err" </dev/null &
	pid=$!
	wait_for 20 test -e "$mark" || bail "tool did not start: $* ($(<"$mark.err"))"
}
as=()

ended() {
	wait "$pid" 2>/dev/null
	status=$?
	err=$(<"$mark.err")
}

# A process is identified by the time that it sleeps: 7, the number of a loss, the number of a way.
sleeps() { pgrep -f "^sleep 7$1\$" >/dev/null; }
no_sleep() { ! sleeps "$1"; }
free() { c 1 bftmutex -n "$lock" true; }
taken() { c 1 bftmutex -n "$lock" true; [[ $? == 1 ]]; }

# names TEXT...: the message has each.
names() {
	local text
	for text; do
		[[ $err == *"$text"* ]] || { echo "$err"; return 1; }
	done
}

load || bail "module"
up --servers 4 --clients 3 --lease-max $long || bail "no cluster"

#
# Twelve ways out, four ways to lose
#

ways=('own group' session 'setsid -w' 'double fork' 'job control' 'wrapper in wrapper' timeout
	nohup trap 'another user' stopped 'forks all the time')

cat >"$dir/chain" <<'END'
#!/bin/sh
trap '' TERM
[ ! -e "$1" ] || exit
echo >>"$1.forks"
sleep 0.02
"$0" "$1" &
END
cat >"$dir/ways" <<'END'
#!/bin/bash
# ways LOSS: all ways at once, and then a process that stays in the group
n=7$1
bash -mc "sleep ${n}00 & wait" &
setsid sleep "${n}01" &
setsid -w sleep "${n}02" &
(setsid sh -c "sleep ${n}03 & exit" &)
bash -mc "sleep ${n}04 | cat & jobs; wait" >/dev/null &
bftmutex "inner.$n" sleep "${n}05" &
timeout 600 sleep "${n}06" &
nohup sleep "${n}07" >/dev/null 2>&1 &
sh -c "trap '' TERM HUP INT; sleep ${n}08; sleep ${n}08" &
setpriv --reuid 65534 --clear-groups sleep "${n}09" &
sh -c "kill -STOP \$\$; :" "sleep.${n}10" &
"${0%/*}/chain" "${0%/*}/chain.$n" &
sleep "${n}12"
END
chmod +x "$dir/ways" "$dir/chain"

# It forks all the time: each process is gone before pgrep can see it.
forks() {
	local i size
	size=$(stat -c %s "$1" 2>/dev/null) || return
	for i in {1..10}; do
		sleep 0.1
		(($(stat -c %s "$1") > size)) && return
	done
	return 1
}

# has_way LOSS WAY: it is on its way
has_way() {
	case $2 in
	10) pgrep -f "sleep.7${1}10\$" >/dev/null ;;
	11) forks "$dir/chain.7$1.forks" ;;
	*) sleeps "$1$2" ;;
	esac
}
all_way() {
	local way
	for way in {00..12}; do
		has_way "$1" "$way" || { echo "way $way"; return 1; }
	done
}

losses=('' 'its lease is over' 'its margin is reached' 'the servers are gone' 'the daemon is killed')
modes=('' ' with -o' ' as process 1')
declare -A job

# lose LOSS CLIENT ARG...: begin. Of LOSS the middle digit is a mode, the last one a loss.
lose() {
	local loss=$1 n=$2 mode=$(($1 / 10 % 10)) tool=(bftmutex --grace 1)
	shift 2
	((mode != 1)) || tool+=(-o)
	((mode != 2)) || tool=(unshare --pid --fork --mount-proc --kill-child "${tool[@]}")
	netns_exec "bftm-c$n" setsid env --default-signal=INT,QUIT "${tool[@]}" "$@" "loss.$loss" \
		"$dir/ways" "$loss" >"$dir/out.$loss" 2>"$dir/err.$loss" </dev/null &
	job[$loss]=$!
}

for mode in 0 1 2; do
	lose 3${mode}1 1 --no-renew -l $long
	lose 3${mode}2 1 --no-renew -l $long --margin 2s
	lose 3${mode}3 2 -l 3s
	lose 3${mode}4 3 -l 3s
	for loss in 3${mode}{1,2,3,4}; do
		ok "${losses[loss % 10]}${modes[mode]}: before, all is there" wait_for 20 all_way "$loss" ||
			diag "$(<"$dir/err.$loss")"
	done
	deaf c2
	kill_helper 3
	for loss in 3${mode}{1,2,3,4}; do
		desc=${losses[loss % 10]}${modes[mode]}
		wait "${job[$loss]}"
		is "$desc: status" $? 79
		# No wait is needed: when the tool has ended, all others have ended too.
		for way in {00..11}; do
			ok "$desc: gone: ${ways[10#$way]}" ! has_way "$loss" "$way"
		done
		ok "$desc: gone: the command" ! has_way "$loss" 12
		ok "$desc: message" grep -q "^bftmutex: lock 'loss.$loss'.*SIGTERM" "$dir/err.$loss"
	done
	hearing c2
	start_helper 3
done

#
# What cannot be ended
#

# A program that is another user's, and ours are not root's.
chmod 666 /dev/bftmutex
cp "$(type -P setpriv)" "$dir/rise"
chmod 4755 "$dir/rise"
as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
rise=("$dir/rise" --reuid 65533 --clear-groups sh -c)
mkdir "$dir/open"
chmod 777 "$dir/open"

new_lock
mark=$dir/open/mark
start --no-renew -l 3s --grace .5 "$lock" "${rise[@]}" "touch $mark; exec sleep 7400001"
ended
is "lost, the command is another user's: status" "$status" 80
ok "lost, the command is another user's: message" names "lock '$lock' lost" \
	"SIGTERM cannot be sent to" "(sleep): Operation not permitted" "could not be ended"
ok "and it goes on" sleeps 400001
pkill -f '^sleep 7400001$'

new_lock
start -o -l 2s "$lock" "${rise[@]}" "touch $mark; exec sleep 7400002"
kill -TERM "$pid"
ok "SIGTERM for another user's command: it is said" wait_for 10 grep -q \
	"SIGTERM cannot be passed on to .*(sleep): Operation not permitted" "$mark.err"
ok "and the lock is held" taken
# Even when the tool is killed: the process that holds the lock has not ended.
kill -KILL "$pid"
ok "the tool is killed: it is said that it goes on" wait_for 20 grep -q "the lock is held while it runs" "$mark.err"
ok "and the lock is held, though the descriptor is closed" taken
pkill -f '^sleep 7400002$'
ended
ok "until the command ends" wait_for 10 free

new_lock
start --no-renew -l 3s --survivor-exit-code 81 --grace 0 "$lock" "${rise[@]}" "touch $mark; exec sleep 7400003"
ended
is "--survivor-exit-code" "$status" 81
pkill -f '^sleep 7400003$'
as=()
mark=$dir/mark

#
# Who ends when the tool is killed
#

new_lock
start -o -l $long "$lock" sh -c "trap '' TERM; setsid sleep 7500001 & touch $mark; sleep 7500002"
wait_for 10 sleeps 500001
kill -KILL -- "-$pid"
ended
ok "the tool and its group are killed: what left it is ended" wait_for 20 no_sleep 500001
ok "and the lock is given back" wait_for 20 free

new_lock
start -o -l $long --grace .5 "$lock" sh -c "trap '' TERM; setsid sleep 7500003 & touch $mark; sleep 7500004; :"
wait_for 10 sleeps 500004
kill -KILL "$(pgrep -P "$pid")"
ended
is "the keeper is killed: status" "$status" 71
ok "the keeper is killed: message" names "which watched the lease, was killed" SIGTERM SIGKILL
ok "the keeper is killed: all are ended" ! sleeps '50000[34]'
ok "and the lock is given back" wait_for 10 free

#
# Who keeps the lock
#

new_lock
start -l 2s "$lock" sh -c "setsid sleep 7600001 & touch $mark; exit 5"
wait_for 10 sleeps 600001
ok "what the command left in another session keeps the lock" taken
pkill -f '^sleep 7600001$'
ended
is "until its end; the status is the command's" "$status" 5
ok "then it is given back" wait_for 10 free

new_lock
start -l $long "$lock" bash -c "(eval \"exec \$BFTMUTEX_FD<&-\"; setsid sleep 7600002) & touch $mark; exit 6"
ended
is "who has closed the descriptor does not" "$status" 6
ok "and is not ended" wait_for 10 sleeps 600002
pkill -f '^sleep 7600002$'

new_lock
start --no-renew -l 3s "$lock" sh -c "setsid sleep 7600003 & touch $mark; exit 5"
ended
is "lost by what the command left: status" "$status" 79
ok "lost by what the command left: message" names "lock '$lock' lost" "while processes of the command still ran" SIGTERM
ok "lost by what the command left: ended" ! sleeps 600003

new_lock
start -l $long "$lock" sh -c "setsid sleep 7600004 & touch $mark; exit 5"
wait_for 10 sleeps 600004
kill -TERM "$pid"
ended
is "SIGTERM while what was left keeps the lock: status" "$status" 143
ok "it is ended first" ! sleeps 600004
ok "and the lock is given back" wait_for 10 free

c 1 bftmutex -l $long "$lock" setsid sh -c 'exit 7'
is "setsid in a script: its status" $? 7

# The reader of messages is busy, or not there.
new_lock
mkfifo "$dir/full"
exec 8<>"$dir/full"
dd if=/dev/zero of="$dir/full" bs=4096 count=1000 oflag=nonblock 2>/dev/null
c 1 bftmutex --no-renew -l 3s --grace .5 "$lock" sh -c "trap '' TERM; touch $mark; while :; do sleep 7700001; done" 2>&8 &
pid=$!
wait_for 10 sleeps 700001
ok "nobody reads the messages: the command is ended" wait_for 20 no_sleep 700001
tr -d '\0' <"$dir/full" >"$mark.said" 8>&- &
reader=$!
wait $pid
is "nobody reads the messages: status" $? 79
# The reader keeps its data until the end of the pipe, so no other process may have it open for
# writing.
exec 8>&-
ok "nobody reads the messages: they are not lost" wait_for 10 grep -q SIGKILL "$mark.said"
kill $reader 2>/dev/null
new_lock
c 1 bftmutex --no-renew -l 3s --grace .5 "$lock" sh -c "trap '' TERM; while :; do sleep 7700002; done" 2> >(:)
is "the reader of messages has ended: status" $? 79
ok "the reader of messages has ended: so has the command" ! sleeps 700002

#
# Process 1
#

# in_pidns ARG...: in the background, as process 1; $pid is unshare, $one the tool
in_pidns() {
	netns_exec bftm-c1 env --default-signal=INT unshare --pid --fork --mount-proc --kill-child \
		bftmutex "$@" >"$mark.out" 2>"$mark.err" </dev/null &
	pid=$!
	wait_for 10 pgrep -P "$pid" && one=$(pgrep -P "$pid")
	wait_for 10 grep -qx bftmutex "/proc/$one/comm"
}

new_lock
start -l $long "$lock" sh -c "touch $mark; exec sleep 7800001"
holder=$pid
for signo in TERM INT; do
	in_pidns "$lock" true
	wait_for 10 grep -q '^State:.*sleeping' "/proc/$one/status"
	kill -$signo "$one"
	ended
	is "process 1, SIG$signo while it waits" "$status" $((128 + $(kill -l $signo)))
done
kill "$holder"
wait "$holder" 2>/dev/null

new_lock
begin=$SECONDS
in_pidns --no-renew -l 3s --grace 300 "$lock" sh -c \
	'for i in 1 2 3; do sh -c "sleep .01 & "; done; sleep 1; grep -h "^State" /proc/[0-9]*/status; sleep 7800002'
ended
is "process 1 loses the lock: status" "$status" 79
ok "process 1 loses the lock: it does not wait for what has ended" test $((SECONDS - begin)) -lt 100
ok "process 1 has reaped the orphans" ! grep -q zombie "$mark.out"

new_lock
in_pidns -F "$lock" true
ended
is "process 1, -F: status" "$status" 0
ok "process 1, -F: the SIGTERM that never comes" names "lock '$lock'" "--no-fork as process 1" SIGTERM init

#
# The terminal
#

# typing LINE: an interactive shell of client 1 on a terminal of its own; then type
typing() {
	mkfifo "$mark.keys"
	# A background process of a script ignores these signals, and so would its children.
	netns_exec bftm-c1 env --default-signal=INT,QUIT script -qefc "bash --norc -i" "$mark.tty" <"$mark.keys" >/dev/null 2>&1 &
	pid=$!
	exec 9>"$mark.keys"
	type_in "$1"$'\n'
}
type_in() { printf '%s' "$1" >&9; }
typed() {
	exec 9>&-
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
}
shows() { grep -aq "$1" "$mark.tty"; }
stopped() { grep -q '^State:.*stopped' "/proc/$(pgrep -f "^sleep 7$1\$")/status"; }
not_stopped() { sleeps "$1" && ! stopped "$1"; }

new_lock
typing "bftmutex $lock sh -c 'sleep 2; seq 41 43' | { stty -echo </dev/tty; cat; }; echo status \${PIPESTATUS[0]}."
ok "others of a pipeline have the terminal" wait_for 20 shows "status 0\."
ok "and its output" shows '^43'
typed

new_lock
typing "bftmutex -l 2s $lock sleep 7900001; echo status \$?."
wait_for 20 sleeps 900001
type_in $'\032'
ok "Ctrl-Z stops the command" wait_for 20 stopped 900001
ok "and the shell sees it" wait_for 20 shows Stopped
type_in $'fg\n'
ok "fg continues it" wait_for 20 not_stopped 900001
type_in $'\003'
ok "Ctrl-C ends it" wait_for 20 no_sleep 900001
type_in $'echo status $?.\n'
ok "and the tool by the same signal" wait_for 20 shows "status 130\."
typed

new_lock
typing "bftmutex $lock bash -c 'trap \"echo caught \$((1 + 1))\" INT; while :; do sleep 7900002; done'"
wait_for 20 sleeps 900002
type_in $'\003'
ok "Ctrl-C reaches the command" wait_for 20 shows "caught 2"
wait_for 20 sleeps 900002
is "once" "$(grep -ao "caught 2" "$mark.tty" | wc -l)" 1
type_in $'\034'
typed
pkill -f '^sleep 7900002$'

new_lock
typing "bftmutex --no-renew -l 4s $lock sh -c 'sleep 7900003; touch $mark.more'"
wait_for 20 sleeps 900003
type_in $'\032'
wait_for 20 shows Stopped
ok "lost while it is stopped: ended before it is continued" wait_for 30 no_sleep 900003
ok "and the script does not go on" ! test -e "$mark.more"
type_in $'\n'
ok "and the shell sees the status" wait_for 20 shows "Exit 79"
typed

finish
