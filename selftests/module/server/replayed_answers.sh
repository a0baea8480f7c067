#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=9
#
# Answers that were recorded while a lock was won are sent again to a daemon
# that does not know the lock: one that was killed and started again, or one
# that read another configuration. It once took them for grants of attempts that
# are over, released them, and a second client came in beside the first.
#
cd "$(dirname "$0")/../../.." || exit
. selftests/lib/tap.sh
. selftests/lib/cluster.sh

tape=$(mktemp)
home=${dev:?}/c1 # of the daemon of client 1
tap_pid=

port_of() { # of the daemon's socket on client 1
	c 1 awk 'NR == 2 { split($2, a, ":"); print a[2] }' /proc/net/udp6
}

# The daemon's requests do not arrive for now: it gets only the replay.
mute() {
	local n
	for n in 1 2 3 4; do ip -n bftm-s$n route add blackhole 10.73.0.101/32; done
}

unmute() {
	local n
	for n in 1 2 3 4; do ip -n bftm-s$n route del blackhole 10.73.0.101/32; done
}

# In the queue of three servers, who can grant by themselves.
queued() {
	local n
	for n in 1 2 3; do
		s $n bftmutexctl locks --json | gojq -e 'any(.[]; .waiters > 0)' >/dev/null || return
	done
}

hold() { # client 1 enters after client 2, so that servers push grants, and stays
	rm -f /tmp/inside /tmp/before /tmp/go
	mkfifo /tmp/go
	c 2 bftmutex -w 30 -l 60s "$1" sh -c 'touch /tmp/before; read -r _ </tmp/go' &
	wait_for 40 test -e /tmp/before
	c 1 bftmutex -w 30 -l 60s "$1" sh -c 'touch /tmp/inside; exec sleep 1000' &
	holder=$!
	wait_for 20 queued || return
	echo 1<>/tmp/go
	wait_for 40 test -e /tmp/inside
}

replay() {
	# A copy: what is sent again is recorded again.
	cp "$tape" "$tape.copy"
	mute
	ok "$1: recorded answers are sent again" c 2 wiretap replay "$tape.copy" 10.73.0.101 \
		$((16#$(port_of)))
	unmute
	# If it reacts to them by requests, it repeats these for this long.
	c 1 bftmutex -w 5 -l 200ms "after $1" true
	c 2 bftmutex -n -l 200ms "$2" true
	is "$1: nobody else comes in" $? 1
}

leave() {
	kill "$holder" 2>/dev/null
	wait "$holder" 2>/dev/null
}

load || bail "cannot load the module"
up --servers 4 --clients 2 --lease-max 60s || bail "no cluster"
c 1 wiretap record "$tape" >/tmp/tap.out &
tap_pid=$!
wait_for 5 grep -q listening /tmp/tap.out

hold killed
ok "the first is in" kill -0 "$holder"
kill -KILL "$(cat "$home/pid")"
wait_for 5 gone "$(cat "$home/pid")"
mute
c 1 bftmutexd -c "$home/bftmutex.conf" -s "$home" -p "$home/pid" || bail "no daemon"
unmute
replay "daemon killed" killed
leave

hold reread
sed -i 's/^\(\s*\)b = .*/&\n\1rho = 1999/' "$home/bftmutex.conf"
kill -HUP "$(cat "$home/pid")"
wait_for 10 sh -c "netns_exec bftm-c1 bftmutexctl cluster show -c $home/bftmutex.conf | grep -q 1999"
replay "configuration read again" reread
leave

kill "$tap_pid"
rm -f "$tape" "$tape.copy"
down
finish
