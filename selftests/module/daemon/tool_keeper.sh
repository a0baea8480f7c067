#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=16
#
# bftmutex(1) while the command runs: the lock and descriptors, signals, lost leases. family.sh
# tests the processes that the command starts.
#
# Single quotes are for the command's shell; lib/tool.sh sets variables.
# shellcheck disable=SC2016,SC2154
. "$(dirname "$0")/../../lib/tool.sh"

#
# Who keeps the lock
#

new_lock
start -l "$long" "$lock" sh -c "sleep 60 & echo \$! >$mark; exit 5"
wait_for 10 test -s "$mark"
t -n "$lock" true
is "a process left behind keeps the lock" "$status" 1
ok "and the tool stays" ! gone "$pid"
kill "$(<"$mark")"
ended
is "until it ends; the status is the command's" "$status" 5
t -w 10 "$lock" true
is "then the lock is given back" "$status" 0

new_lock
t -o -l "$long" "$lock" sh -c "sleep 60 >/dev/null 2>&1 & echo \$! >$mark"
t -w 10 "$lock" true
is "-o: a process left behind does not keep the lock" "$status" 0
kill "$(<"$mark")"
t -o "$lock" sh -c 'ls -l /proc/self/fd | grep -c bftmutex'
is "-o: the descriptor is closed in the command" "$out" 0

new_lock
start -F -l "$long" "$lock" sh -c "echo \$\$ >$mark; exec sleep 60"
is "-F: the tool has become the command" "$(<"$mark")" "$pid"
t -n "$lock" true
is "-F: which has the lock" "$status" 1
stop_background
t -w 10 "$lock" true
is "-F: until its end" "$status" 0

new_lock
start -o -l "$long" "$lock" sh -c "echo \$\$ >$mark; exec sleep 60"
command=$(<"$mark")
kill -KILL "$pid"
wait "$pid" 2>/dev/null
pid=
ok "the tool is killed: the command is ended" wait_for 10 gone "$command"

#
# Descriptors
#

# closed WHICH CMD...: run it without these of 0, 1 and 2
closed() {
	case $1 in
	0) "${@:2}" <&- ;;
	1) "${@:2}" >&- ;;
	012) "${@:2}" <&- >&- 2>&- ;;
	esac
}

# The device must not have a number that the command redirects.
for which in 0 1 012; do
	new_lock
	closed $which "$tool" -F -l "$long" "$lock" sh -c "exec </dev/null >/dev/null 2>&1
		touch $mark; exec sleep 60" &
	pid=$!
	wait_for 10 test -e "$mark"
	t -n "$lock" true
	is "-F without $which: the command has the lock" "$status" 1
	stop_background
	new_lock
	closed $which "$tool" "$lock" sh -c "for fd in 0 1 2; do
			[ -e /proc/\$\$/fd/\$fd ] || printf \$fd >>$mark
		done
		test \$BFTMUTEX_FD -gt 2"
	is "without $which: the device is none of them" $? 0
	is "without $which: the command finds them closed" "$(<"$mark")" $which
done

new_lock
if exec 9<"${BFTMUTEX_DEVICE:-/dev/bftmutex}"; then
	t --fd 9 -l "$long" "$lock"
	is "--fd" "$status" 0
	t -n "$lock" true
	is "--fd: the shell has the lock" "$status" 1
	wrong "--fd that has a lock" 65 "--fd 9" --fd 9 "$lock"
	wrong "a descriptor without --fd" 64 "or, for the descriptor 9 of /dev/bftmutex, it is --fd 9 NAME" -n 9
	t --fd 9 --held
	is "--fd --held" "$status$err" 0
	wrong "--held, and what it does not go with" 64 "--held takes no" --fd 9 --held "$lock"
	wrong "--held of what" 64 "--held needs --fd N" --held
	t --fd 9 -u
	is "--fd -u" "$status" 0
	t -w 10 "$lock" true
	is "--fd -u gives the lock back" "$status" 0
	wrong "--fd -u of no lock" 65 "no lock" --fd 9 -u
	wrong "--fd --held of no lock" 65 "no lock" --fd 9 --held
	eval "$("$tool" --fd 9 -l "$long" --fence --print "$lock")"
	is "--fd --print: the mode" "$BFTMUTEX_MODE" EX
	ok "--fd --print: a token ($BFTMUTEX_TOKEN)" test "$BFTMUTEX_TOKEN" -gt 0
	ok "--fd --print: the deadline ($BFTMUTEX_DEADLINE_NS)" \
		test "$BFTMUTEX_DEADLINE_NS" -gt "$(tr -d . </proc/uptime | cut -d' ' -f1)0000000"
	unset BFTMUTEX_TOKEN BFTMUTEX_MODE BFTMUTEX_DEADLINE_NS
	t -u 9
	is "-u N" "$status" 0
	"$tool" --fd 9 --print "$lock" 2>"$dir/err" >/dev/full
	is "--fd --print to a full disk: status" $? 74
	err=$(<"$dir/err")
	said "--fd --print to a full disk: it is given back" "lock '$lock'" "No space left"
	t --fd 9 -l "$long" "$lock"
	is "--fd again" "$status" 0
	exec 9>&-
	t -w 10 "$lock" true
	is "close gives the lock back" "$status" 0

	new_lock
	exec 9<"${BFTMUTEX_DEVICE:-/dev/bftmutex}"
	t --fd 9 --no-renew -l 1s "$lock"
	# The next holder has waited for the lease to end.
	t -w 10 "$lock" true
	is "--fd: the lease ends" "$status" 0
	wrong "--fd --held after the lease" 79 "lease is over" --fd 9 --held
	wrong "--fd -u after the lease" 79 "lease is over" --fd 9 -u
	exec 9>&-
fi
wrong "--fd that is not open" 65 "--fd 99" --fd 99 "$lock"
wrong "--fd of another file" 65 "not a bftmutex device" --fd 2 "$lock"

#
# Signals
#


# A command that shows $mark, and ends with 33 at signal $1.  No substitution in
# the loop: bash may parse it, and fail to, for a trap.
at_signal() {
	script="trap 'exit 33' $1; exec 3<> <(:); touch $mark
		while :; do read -rt 0.05 -u 3 || :; done"
}

# stopped PID, running PID
stopped() { grep -q '^State:.*stopped' "/proc/$1/status"; }
running() { grep -q '^State:.*\(sleeping\|running\)' "/proc/$1/status"; }

for signo in INT TERM HUP QUIT USR1 USR2 ALRM VTALRM PROF IO PWR XCPU SEGV URG WINCH RTMIN+1; do
	new_lock
	at_signal $signo
	start -l "$long" "$lock" bash -c "$script"
	kill -$signo "$pid"
	ended
	is "SIG$signo is passed on" "$status" 33
done

# sigqueue(3) sends a value with a signal, and the kernel tells the receiver who sent it.
queued='use POSIX; my ($got, $value);
	sigaction SIGUSR1, POSIX::SigAction->new(sub { $got = $_[1]; $value = unpack "x24 i", $_[2] }, POSIX::SigSet->new, SA_SIGINFO);
	open my $mark, ">", $ARGV[0]; close $mark;
	select undef, undef, undef, 0.05 until $got;
	print "$got->{pid} $got->{uid} $value\n"'
new_lock
start -l "$long" "$lock" perl -e "$queued" "$mark"
env kill --queue 42 -s USR1 "$pid"
sender=$pid
ended
is "a queued signal is passed on with its value, from the tool" "$(<"$dir/out")" "$sender $UID 42"

for signo in INT TERM HUP USR1 RTMIN+1; do
	new_lock
	# In the background SIGINT is ignored.
	child=
	[[ $signo == INT ]] || child="sleep 60 &"
	start -l "$long" "$lock" sh -c "$child touch $mark; exec sleep 60"
	kill -$signo "$pid"
	ended
	is "the command dies of SIG$signo that was passed on" "$status" $((128 + $(kill -l $signo)))
	is "SIG$signo: without a word" "$err" ""
	ok "SIG$signo: so do its children" ! pgrep -g "$pid" sleep
	t -w 10 "$lock" true
	is "SIG$signo: the lock is given back" "$status" 0
done

new_lock
at_signal TERM
(trap '' HUP && start -l "$long" "$lock" bash -c "$script" && echo "$pid" >"$mark.pid")
pid=$(<"$mark.pid")
command=$(pgrep -P "$(pgrep -P "$pid")")
ok "SIGHUP that is ignored stays so in the command" \
	test $((0x$(sed -n 's/^SigIgn:\t//p' "/proc/$command/status") & 1)) = 1
kill -HUP "$pid"
kill -TERM "$pid"
ok "and is not passed on" wait_for 10 gone "$command"
pid=

# Not in a session of its own, where a stop is ignored since no shell would continue the process.
new_lock
set -m
"$tool" -l "$long" "$lock" sh -c "echo \$\$ >$mark; exec sleep 60" 2>/dev/null &
pid=$!
set +m
wait_for 10 test -s "$mark"
command=$(<"$mark")
kill -TSTP "$pid"
ok "SIGTSTP stops the command" wait_for 10 stopped "$command"
ok "and the tool" wait_for 10 stopped "$pid"
kill -CONT "$pid"
ok "SIGCONT lets it go on" wait_for 10 running "$command"
stop_background

#
# The lease is renewed
#

new_lock
t -l 1s "$lock" sleep 4
is "renewed: the command may take longer than a lease" "$status" 0
is "renewed: without a word" "$err" ""

new_lock
start -l 1s "$lock" sh -c "touch $mark; exec sleep 60"
t -w 3 "$lock" true
is "renewed: nobody else gets the lock" "$status" 1
stop_background
t -w 10 "$lock" true
is "renewed: until the end" "$status" 0

new_lock
t -F -l 1s "$lock" sleep 3
is "renewed: -F" "$status" 0

new_lock
t -l 2s --margin 500ms "$lock" sleep 5
is "renewed: the margin is not reached" "$status" 0

#
# The lock is lost
#

new_lock
t --no-renew -l 5s --margin 3s "$lock" sh -c "trap 'echo \$\$ >$mark; exit 0' TERM
	while :; do sleep .1; done"
is "margin: status" "$status" 79
said "margin: message" "lock '$lock'" "--margin 3s" SIGTERM
ok "margin: the command may tidy up" test -e "$mark"

new_lock
t -F --no-renew -l 5s --margin 4s "$lock" sleep 60
is "margin: -F, the kernel sends SIGTERM" "$status" 143

new_lock
t --margin 1m "$lock" touch "$mark"
is "margin longer than the lease: status" "$status" 79
said "margin longer than the lease: message" "lock '$lock': its lease ends in" "--margin 1m" "not started"
ok "margin longer than the lease: the command is not started" ! test -e "$mark"
t --margin 6s "$lock" true
is "margin of more than half of the cluster's lease: status" "$status" 0
said "margin of more than half of the cluster's lease: message" \
	"--margin 6s is not less than half of the lease"

new_lock
begin=$SECONDS
t --no-renew -l 1s "$lock" sleep 60
is "lost: status" "$status" 79
said "lost: message" "lock '$lock' lost" SIGTERM
figure "lost: in time" test $((SECONDS - begin)) -lt 20
t -w 10 "$lock" true
is "lost: another gets the lock" "$status" 0

new_lock
t --no-renew -l 1s "$lock" bash -c "trap 'touch $mark; exit 0' TERM; sleep 60 & wait"
is "lost: 79, though the command exits with 0 at SIGTERM" "$status" 79
ok "lost: the command may tidy up" test -e "$mark"

new_lock
t --no-renew -l 1s --grace .5 --lost-exit-code 80 "$lock" \
	sh -c "echo \$\$ >$mark; trap '' TERM; while :; do sleep .1; done"
is "lost, SIGTERM ignored, --lost-exit-code: status" "$status" 80
said "lost, SIGTERM ignored: message" "lock '$lock' lost" SIGKILL
ok "lost, SIGTERM ignored: killed" gone "$(<"$mark")"

new_lock
t --no-renew -l 1s --grace 0 "$lock" sh -c "trap '' TERM; while :; do sleep .1; done"
is "lost, --grace 0" "$status" 79

new_lock
t --no-renew -l 1s --grace .5 "$lock" sh -c "
	sh -c 'echo \$\$ >$mark; trap \"\" TERM; while :; do sleep .1; done' &
	wait"
is "lost, a child of the command ignores SIGTERM: status" "$status" 79
ok "lost, a child of the command ignores SIGTERM: killed" wait_for 5 gone "$(<"$mark")"

new_lock
t --no-renew -l 1s "$lock" sh -c 'kill -STOP $$'
is "lost, the command is stopped" "$status" 79

new_lock
t -l 5s "$lock" sh -c 'exit 7'
is "the command ends before the lease" "$status" 7

new_lock
t -F --no-renew -l 1s "$lock" sleep 60
is "-F: the kernel sends SIGTERM" "$status" 143

finish
