#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=10
#
# bftmutex(1): every exit status, its options and messages. tool_keeper.sh tests the time while the
# command runs.
#
# Single quotes are for the command's shell; lib/tool.sh sets variables.
# shellcheck disable=SC2016,SC2154
. "$(dirname "$0")/../../lib/tool.sh"

#
# The command
#

t --version
ok "--version" grep -q '^bftmutex [0-9]' "$dir/out"
t --help
is "--help: status" "$status" 0
ok "--help: output" grep -q -- --conflict-exit-code "$dir/out"

new_lock
t -l "$long" "$lock" true || :
[[ $status == 0 ]] || bail "no lock can be had: $err"
for code in 0 1 2 79 126 255; do
	t "$lock" sh -c "exit $code"
	is "status $code of the command is passed on" "$status" $code
done
for signo in KILL TERM SEGV; do
	t "$lock" sh -c "ulimit -c 0; kill -$signo \$\$"
	is "the command died of SIG$signo" "$status" $((128 + $(kill -l $signo)))
done
t "$lock" echo -n -w --help -E
is "options after NAME are the command's" "$out" "-w --help -E"
t "$lock" cat /proc/self/stat
is "the command is in our process group" \
	"$(awk '{ print $5 }' "$dir/out")" "$(awk '{ print $5 }' /proc/$$/stat)"
echo input | "$tool" "$lock" cat >"$dir/out"
is "the command has our stdin" "$(<"$dir/out")" input
is "the command's signal mask is ours" \
	"$("$tool" "$lock" grep SigBlk /proc/self/status)" "$(grep SigBlk /proc/self/status)"

SHELL=/bin/sh t "$lock" -c 'echo $((20 + 1)) "$0"; exit 3'
is "NAME -c: status" "$status" 3
is "NAME -c: by the shell" "$out" "21 /bin/sh"
t -c 'exit 4' "$lock"
is "-c NAME" "$status" 4
t "$lock" --command 'exit 5'
is "NAME --command" "$status" 5
SHELL=$(type -P false) t "$lock" -c 'exit 0'
is "-c takes \$SHELL" "$status" 1

t "$lock" "$dir/missing"
is "missing command: status" "$status" 69
said "missing command: message" "'$dir/missing'" "No such file"
t "$lock" "$dir"
is "command that is no program: status" "$status" 69
t -F "$lock" "$dir/missing"
is "-F, missing command: status" "$status" 69

BFTMUTEX_TOKEN=7 t -l "$long" "$lock" env
ok "environment: BFTMUTEX_NAME" grep -qx "BFTMUTEX_NAME=$lock" "$dir/out"
# /proc/uptime is CLOCK_BOOTTIME in hundredths of a second.
now=$(tr -d . </proc/uptime | cut -d' ' -f1)
deadline=$(sed -n 's/^BFTMUTEX_DEADLINE_NS=//p' "$dir/out")
ok "environment: BFTMUTEX_DEADLINE_NS ($deadline)" \
	test $((deadline > now * 10000000 && deadline <= (now + 1) * 10000000 + 20000000000)) = 1
ok "environment: no BFTMUTEX_TOKEN of another lock" ! grep -qx BFTMUTEX_TOKEN=7 "$dir/out"
is "environment: BFTMUTEX_FD is the handle" \
	"$("$tool" "$lock" sh -c 'readlink "/proc/self/fd/$BFTMUTEX_FD"')" \
	"${BFTMUTEX_DEVICE:-/dev/bftmutex}"
BFTMUTEX_FD=7 t -o "$lock" env
ok "environment: no BFTMUTEX_FD with -o" ! grep -q ^BFTMUTEX_FD= "$dir/out"

first=$("$tool" --fence "$lock" sh -c 'echo "$BFTMUTEX_TOKEN"')
second=$("$tool" --fence "$lock" sh -c 'echo "$BFTMUTEX_TOKEN"')
ok "--fence: tokens grow ($first, $second)" test "${first:-0}" -gt 0 -a "${second:-0}" -gt "${first:-0}"

t --verbose -l "$long" "$lock" true
said "--verbose tells time and deadline" "lock '$lock'" "held in mode EX after" CLOCK_BOOTTIME
t "$lock" true
is "silent otherwise" "$out$err" ""
t -x -e --exclusive "$lock" true
is "-x, -e" "$status" 0
t -h
is "-h is --help" "$status $(head -1 "$dir/out")" "0 $("$tool" --help | head -1)"
for mode in "-x" "--mode EX" "--mode ex" "-s -x" "--mode PR -e"; do
	# shellcheck disable=SC2086  # words
	t $mode "$lock" sh -c 'echo $BFTMUTEX_MODE'
	is "$mode: the last one counts" "$status $out" "0 EX"
done
for way in queue backoff no-backoff; do
	t --way $way "$lock" true
	is "--way $way" "$status" 0
done

#
# Somebody else has the lock
#

new_lock
hold
t -n "$lock" touch "$mark.no"
is "-n: status" "$status" 1
is "-n: silent" "$err" ""
ok "-n: the command does not run" ! test -e "$mark.no"
t -n --verbose "$lock" true
said "-n --verbose says why" "lock '$lock': somebody else has it, or waits for it"
for option in "-w 0" --nb --nonblocking; do
	# shellcheck disable=SC2086  # one or two words
	t $option "$lock" true
	is "$option is -n" "$status" 1
done
t -n -E 42 "$lock" true
is "-n -E" "$status" 42
begin=${EPOCHREALTIME/./}
t -w .3 -E 43 --verbose "$lock" true
is "-w, -E: status" "$status" 43
ok "-w waits that long" test $((${EPOCHREALTIME/./} - begin)) -ge 300000
said "-w --verbose says why" "lock '$lock'" "--wait .3: another program of this host has it"
t --timeout 100ms --conflict-exit-code 0 "$lock" false
is "--timeout, --conflict-exit-code" "$status" 0
t -n "$lock.other" true
is "another name is another lock" "$status" 0
stop_background

new_lock
hold
"$tool" -l "$long" "$lock" touch "$mark.second" 2>/dev/null &
waiter=$!
t -w .2 "$lock" true
is "a waiter does not disturb the holder" "$status" 1
stop_background
ok "the waiter gets the lock after the holder" wait_for 20 test -e "$mark.second"
wait $waiter
is "the waiter's status" $? 0

new_lock
hold
holder=$pid
for signo in INT TERM; do
	env --default-signal=INT "$tool" "$lock" true 2>/dev/null &
	pid=$!
	# The tool waits in the ioctl: its other work takes no time.
	wait_for 10 grep -q 'bftmutex' "/proc/$pid/comm"
	wait_for 10 grep -q '^State:.*sleeping' "/proc/$pid/status"
	kill -$signo $pid
	wait $pid
	is "SIG$signo while waiting" $? $((128 + $(kill -l $signo)))
done
pid=$holder
stop_background

#
# Wrong usage: the message names the option and the value
#

new_lock
wrong "no NAME" 64 NAME
wrong "no COMMAND" 64 "lock '$lock': COMMAND" "$lock"
wrong "unknown option" 64 "'--bogus'" --bogus "$lock" true
wrong "option without argument" 64 "requires an argument" -w
for value in abc '' -1 1.5x 99999999999999999999; do
	wrong "-w '$value'" 64 "--wait '$value'" -w "$value" "$lock" true
	wrong "--grace '$value'" 64 "--grace '$value'" --grace "$value" "$lock" true
done
for value in 0 2h 999us abc; do
	wrong "-l $value" 64 "--lease '$value'" -l $value "$lock" true
done
for value in 256 -1 x ''; do
	wrong "-E '$value'" 64 "--conflict-exit-code '$value'" -E "$value" "$lock" true
	wrong "--survivor-exit-code '$value'" 64 "--survivor-exit-code '$value'" \
		--survivor-exit-code "$value" "$lock" true
	wrong "--lost-exit-code '$value'" 64 "--lost-exit-code '$value'" \
		--lost-exit-code "$value" "$lock" true
	[[ $value == 256 ]] ||
		wrong "--fd '$value'" 64 "--fd '$value'" --fd "$value" "$lock"
done
wrong "--mode nl" 64 "--mode nl: nothing is held in this mode" --mode nl "$lock" true
for value in PX '' P EXX; do
	wrong "--mode '$value'" 64 "--mode '$value': CR, CW, PR, PW or EX is allowed" --mode "$value" "$lock" true
done
wrong "--way fast" 64 "--way 'fast'" --way fast "$lock" true
for value in 0 2h abc; do
	wrong "--margin $value" 64 "--margin '$value'" --margin $value "$lock" true
done
wrong "--margin as long as --lease" 64 "--margin '5s': must be less than --lease 5s" \
	--margin 5s -l 5s "$lock" true
wrong "--margin of half of --lease, which is renewed" 64 \
	"--margin '2500ms': must be less than half of --lease 5s" --margin 2500ms -l 5s "$lock" true
t --no-renew --margin 2500ms -l 5s "$lock" true
is "that, and it is not" "$status" 0
wrong "--fd with --margin" 64 "--fd 9" --fd 9 --margin 1s "$lock"
long_name=$(printf '%033d' 0)
wrong "-C of 33 bytes" 64 "--cluster '$long_name': 33 bytes" -C "$long_name" "$lock" true
wrong "-F -o" 64 "--no-fork" -F -o "$lock" true
wrong "-u without --fd" 64 "--fd" -u
wrong "--print without --fd" 64 "--print is for a lock that --fd N takes" --print "$lock" true
wrong "-u with NAME" 64 "'$lock'" --fd 9 -u "$lock"
wrong "--fd with COMMAND" 64 "--fd 9" --fd 9 "$lock" true
wrong "--fd with -F" 64 "--fd 9" --fd 9 -F "$lock"
wrong "-c twice" 64 "--command 'b'" -c a -c b "$lock"
wrong "-c with COMMAND" 64 "'b'" -c a "$lock" b
wrong "NAME -c without a line" 64 "exactly one" "$lock" -c
wrong "NAME -c with two lines" 64 "exactly one" "$lock" -c a b
wrong "empty name" 65 "1 to 64 bytes" "" true
name=$(printf '%064d' $$)
wrong "name of 65 bytes" 65 "'${name}x': the name has 65 bytes, 1 to 64" "${name}x" true
said "name of 65 bytes: what to do" "--hash-name"
t "$name" true
is "name of 64 bytes" "$status" 0

#
# Names of all kinds
#

# As the manual of flock(1) suggests, with this tool: one process of the script at a time, also if
# its path is longer than a name may be.
mkdir -p "$dir/$name"
for script in "$dir/alone" "$dir/$name/alone"; do
	option=
	[[ $script == "$dir/alone" ]] || option=--hash-name
	sed "s/HASH/$option/" >"$script" <<'END'
#!/bin/bash
[ "${FLOCKER}" != "$0" ] && exec env FLOCKER="$0" bftmutex HASH -en "$0" "$0" "$@" || :
touch "$1"
[ "$2" ] && sleep 60
exit 5
END
	chmod +x "$script"
	rm -f "$mark"
	PATH=$BFTMUTEX_BIN:$PATH "$script" "$mark" and sleeps &
	pid=$!
	wait_for 20 test -e "$mark"
	PATH=$BFTMUTEX_BIN:$PATH "$script" "$mark.second"
	is "a script that runs once${option:+, $option}: not twice" $? 1
	stop_background
	PATH=$BFTMUTEX_BIN:$PATH "$script" "$mark.second"
	is "a script that runs once${option:+, $option}: then again" $? 5
done
hash=$(printf %s "$name/$name" | sha256sum)
is "--hash-name: the digest is the lock" \
	"$("$tool" --hash-name "$name/$name" sh -c 'echo $BFTMUTEX_NAME')" "${hash%% *}"

wrong "what a terminal would obey" 69 "lock 'x\x1b]0;evil\x07\x0a'" -C nowhere $'x\e]0;evil\a\n' true
export LC_ALL=C.UTF-8
wrong "UTF-8 where people read it" 69 "lock 'Größe'" -C nowhere Größe true
export LC_ALL=C
wrong "UTF-8 elsewhere" 69 "lock 'Gr\xc3\xb6\xc3\x9fe'" -C nowhere Größe true
unset LC_ALL

#
# Errors of the environment
#

export BFTMUTEX_DEVICE=$dir/missing
wrong "no device" 66 "$dir/missing: no such device; is the module loaded? modprobe bftmutex" \
	"$lock" true
export BFTMUTEX_DEVICE=$dir/file
touch "$dir/file"
wrong "device that is none" 66 "not a bftmutex device" "$lock" true
chmod 600 "$dir/file"
chmod 711 "$dir"
if ((EUID == 0)) && setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$tool"; then
	setpriv --reuid 65534 --regid 65534 --clear-groups "$tool" "$lock" true 2>"$dir/err"
	is "device that may not be opened: status" $? 77
	err=$(<"$dir/err")
	said "device that may not be opened: message" "$dir/file" "group"
else
	skip "device that may not be opened" "needs root, and a tool that others may run"
fi
unset BFTMUTEX_DEVICE

# The libraries need a descriptor, then the device gets it, and there is no second one.
prlimit --nofile=4 "$tool" "$lock" true 2>"$dir/err" </dev/null
is "no descriptor left: status" $? 71
err=$(<"$dir/err")
said "no descriptor left: message" "Too many open files"

if [[ -c /dev/bftmutex ]]; then
	wrong "unknown cluster" 69 "cluster 'nowhere'" -C nowhere "$lock" true
	t -l 1h "$lock" true
	if ((status == 0)); then
		skip "lease that is not granted" "the servers grant 1h"
	else
		is "lease that is not granted: status" "$status" 64
		said "lease that is not granted: message" "--lease 1h" "--lease-max" "30s"
	fi
	unshare -n "$tool" "$lock" true 2>"$dir/err"
	is "no helper: status" $? 69
	err=$(<"$dir/err")
	said "no helper: message" "lock '$lock'" "bftmutexd is not running"
else
	skip "unknown cluster, lease, helper" "there is no /dev/bftmutex"
fi

finish
