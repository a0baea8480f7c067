#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=10
#
# Programs that are started without standard input, output or error, in all eight combinations:
# nothing of theirs takes the place of what is closed, and a daemon that does not start says why.
# shellcheck disable=SC2154,SC2317,SC2086  # set by, or called from, what is sourced

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

work=$(mktemp -d)
combinations=('' 0 1 2 '0 1' '0 2' '1 2' '0 1 2')

cleanup() {
	stop_daemon
	[[ ! ${syslog-} ]] || kill "$syslog"
	down
	rm -rf "$work"
}

# without FDS CMD...: with these closed.
without() {
	local fds=$1 fd closed=''
	shift
	for fd in $fds; do
		closed+=" $fd>&-"
	done
	eval "\"\$@\"$closed"
}

# In the background: it is back when the daemon serves, or with the reason why not.
daemon() {
	without "$1" c 1 bftmutexd --config "$dev/c1/bftmutex.conf" --state "$dev/c1" \
		--pid-file "$work/pid" "${@:2}"
}
stop_daemon() {
	[[ -e $work/pid ]] || return 0
	kill "$(<"$work/pid")" && wait_for 10 gone "$(<"$work/pid")"
}

# Its descriptors 0 to 2 when it serves.
streams() { readlink "/proc/$(<"$work/pid")/fd/"{0,1,2} | xargs; }

# What a command has under the lock: which of 0 to 2, and is the handle none of them?
have='for fd in 0 1 2; do
		[[ ! -e /proc/$$/fd/$fd ]] || open+="$fd "
	done
	((BFTMUTEX_FD > 2)) && echo "${open-}above" >"$1"'
open_are() {
	local fd open=''
	for fd in 0 1 2; do
		[[ " $1 " == *" $fd "* ]] || open+="$fd "
	done
	echo "${open}above"
}

# A process that logs the system's messages.
listen='use Socket;
	socket $s, AF_UNIX, SOCK_DGRAM, 0 or die; bind $s, pack_sockaddr_un("/dev/log") or die;
	open $out, ">", $ARGV[0] or die; $out->autoflush(1);
	while (defined recv $s, $line, 4096, 0) { print $out "$line\n" }'
logged() { wait_for 10 grep -qF -- "$1" "$work/syslog"; }

load || bail "the module cannot be loaded"
rm -f /dev/log
perl -MIO::Handle -e "$listen" "$work/syslog" &
syslog=$!
disown $syslog
wait_for 10 test -e "$work/syslog" || bail "nobody listens for syslog"
up --servers 4 --clients 1 --lease-max 1s || bail "no cluster"
kill_helper 1

for fds in "${combinations[@]}"; do
	name="without ${fds:-none}"
	ok "bftmutexd $name" daemon "$fds" || continue
	is "bftmutexd $name: its streams" "$(streams)" "/dev/null /dev/null /dev/null"
	rm -f "$work/have"
	ok "bftmutex $name" without "$fds" c 1 bftmutex -w 60 descriptors \
		bash -c "$have" bash "$work/have"
	is "bftmutex $name: what its command has" "$(<"$work/have")" "$(open_are "$fds")"
	want=0
	[[ $fds != *1* ]] || want=74
	without "$fds" c 1 bftmutexctl servers >"$work/out" 2>"$work/err"
	# Standard output is closed after it was given a file.
	is "bftmutexctl $name" "$?" $want
	daemon "$fds"
	is "a second bftmutexd $name" "$?" 69
	stop_daemon
done

: >"$work/syslog"
ok "bftmutexd again" daemon ''
daemon 2 || :
ok "why a daemon does not start, without standard error" \
	logged "another bftmutexd is client 1 already"
stop_daemon
daemon 2 --nonsense
is "a wrong command line without standard error: status" "$?" 64
ok "a wrong command line without standard error" logged "unrecognized option '--nonsense'"
ok "where nothing can be written" says 78 "" daemon '' --config /dev/null
c 1 bftmutexd --config /dev/null --state "$dev/c1" 2>/dev/full
is "standard error is full: status" "$?" 78
ok "standard error is full" logged "no cluster is described here"
for words in bftmutex bftmutexd bftmutexctl "bftmutexctl server start" bftmutex-trace; do
	for option in --help --version; do
		$words $option >/dev/full 2>"$work/err"
		is "$words $option on a full disk" "$? $(<"$work/err")" "74 ${words%% *}: cannot write the output"
		$words $option >&- 2>"$work/err"
		is "$words $option without standard output" "$? $(<"$work/err")" "74 ${words%% *}: cannot write the output"
	done
done
without 2 s 1 bftmutexctl server journal
is "a journal that does not start: status" "$?" 78
ok "a journal that does not start" logged "the server was started without --durability"
finish
