#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=30
#
# One server is down and one refuses: nobody can have the lock, and nobody has it. Programs, the log
# and bftmutexctl check say which servers these are.
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 … bftm-s4    n = 4, b = 1: a lock needs three
#
# Functions are called by name, and variables are shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
own_work

# t N ARG...: bftmutex on client N; sets status and err.
t() {
	c "$1" bftmutex "${@:2}" >"$work/out" 2>"$work/err"
	status=$?
	err=$(<"$work/err")
}

# says DESC TEXT: the last message has TEXT.
says() { ok "$1" grep -qF -- "$2" <(echo "$err"); }
logged() { grep -qF -- "$1" "$dev/c1/log"; }
checks() { [[ $(c 1 bftmutexctl check) == *"$1"* ]]; }

# start_server N ARG...: it is anew, and grants locks when its quarantine is over.
start_server() {
	s "$1" bftmutexctl server stop >/dev/null
	s "$1" bftmutexctl server start --key "$dev/keys/server-$1.key" "${@:2}" >/dev/null
}

# refused DESC STATUS WORDS: with and without a time limit of its own the request fails so.
refused() {
	local options
	for options in -n "-w 4"; do
		next_lock
		# shellcheck disable=SC2086  # one or two
		t 1 $options "$lock" true
		is "$1, $options: status" $status "$2"
		says "$1, $options: it says which servers, and why" "$3"
	done
}

load || bail "the module cannot be loaded"
up --servers 4 --clients 2 --lease-max 2s || bail "no cluster"

echo 'access { client = 2 }' >"$work/deny"
: >"$work/all"

ok "server 2 stops" s 2 bftmutexctl server stop
ok "server 1 has other access rules" s 1 bftmutexctl server access set "$work/deny"
is_silent() { checks "server 2 silent"; }
ok "server 2 is silent" wait_for 30 is_silent
refused "no rule" 77 "2 of 4 servers can grant it to this host, a lock needs 3; server 1 refuses: access denied; server 2 is silent"
ok "no rule: the log says it" logged "cannot be had by this host: 2 of 4 servers can grant it to this host, a lock needs 3; server 1 refuses: access denied; server 2 is silent"
ok "no rule: the log has the server" logged "server 1 refuses lock '"
ok "no rule: check fails" checks "failed: cluster demo: 2 of 4 servers can grant, a lock needs 3; server 2 silent; server 1 refusing locks to this host"
next_lock
begin=$SECONDS
t 1 "$lock" true
is "no rule, without a limit: status" $status 77
ok "no rule, without a limit: after half a minute" test $((SECONDS - begin)) -ge 25
t 2 -w 10 "$lock" true
is "another host gets it" $status 0
ok "the rules as before" s 1 bftmutexctl server access set "$work/all"
t 1 -w 10 "$lock" true
is "then this one as well" $status 0

ok "server 1 grants shorter leases" start_server 1 --lease-max 1s
ready_again() { checks "3 of 4 servers can grant"; }
ok "it is ready" wait_for 30 ready_again
refused "a shorter lease-max" 78 "2 of 4 servers can grant it to this host, a lock needs 3; server 1 refuses: lease outside what the server grants; server 2 is silent"
t 1 -w 10 -l 1s "$lock" true
is "a shorter lease is had" $status 0

# Each of the commands holds 16 locks, and is the job of a shell of its own.
ok "server 1 has room for 64 locks" start_server 1 --lease-max 2s --max-locks 64
ok "it is ready as well" wait_for 30 ready_again
holders=()
for i in 1 2 3 4; do
	more=()
	for j in {2..16}; do more+=(--and "room-$i-$j"); done
	netns_exec bftm-c2 bftmutex -l 2s -w 20 "${more[@]}" "room-$i-1" sh -c "touch $work/held-$i; exec sleep 60" &
	holders+=($!)
done
all_held() { [[ -e $work/held-1 && -e $work/held-2 && -e $work/held-3 && -e $work/held-4 ]]; }
ok "client 2 has these" wait_for 30 all_held
refused "a full table" 69 "server 1 refuses: lock table full; server 2 is silent"
kill "${holders[@]}"

# All four are there: two refuse, which ends the request at once.
ok "server 1 has room again" start_server 1 --lease-max 2s
ok "server 2 starts" start_server 2 --lease-max 2s
all_there() { checks "4 of 4 servers can grant"; }
ok "all are there" wait_for 60 all_there
for n in 1 3; do
	ok "server $n has other access rules" s $n bftmutexctl server access set "$work/deny"
done
next_lock
t 1 -w 10 "$lock" true
is "two refuse: status" $status 77
ok "two refuse: the log names them and the lock" logged "lock '$lock' is refused to client 1 by servers 1 and 3: access denied"
ok "two refuse: check fails" checks "failed: cluster demo: 2 of 4 servers can grant, a lock needs 3; servers 1, 3 refusing locks to this host"
finish
