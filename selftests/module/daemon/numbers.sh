#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=8
#
# A client whose numbers are below those that servers have taken: it continues above them, or
# reports the mistake.
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 … bftm-s4    n = 4, b = 1
#
# Functions are called by name, load may have no arguments, and variables are
# shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

cleanup() {
	down
	date -s "+1 hour" >/dev/null
}

number=cluster-73-client-1
# logged N TEXT
logged() { grep -qF "$2" "$dev/c$1/log"; }
incarnation() { head -n 1 "$dev/c1/$number"; }

load || bail "module"
up --servers 4 -b 1 --clients 2 --lease-max 2s || bail "no cluster"

#
# One after 2106
#

kill_helper 1
cp "$dev/c1/$number" "$dev/kept"
echo 4417977600 >"$dev/c1/$number"
start_helper 1
ok "a file of 2110: no start" gone "$(helper 1)"
ok "a file of 2110: it says which, and what to do" \
	logged 1 "$number: holds 4417977600, above all numbers that client 1 may have"
is "a file of 2110: it is left as it is" "$(incarnation)" 4417977600

#
# Without its file, and by a clock that is behind
#

before=$(head -n 1 "$dev/kept")
rm "$dev/c1/$number"
date -s "-1 hour" >/dev/null
start_helper 1 || bail "no helper"
ok "an hour behind: it has the lock" c 1 bftmutex -w 30 behind true
ok "an hour behind: it says so" logged 1 "servers have taken higher numbers of client 1"
ok "an hour behind: it is recorded" test "$(incarnation)" -gt "$before"
ok "restarted: as always" eval 'kill_helper 1; start_helper 1 && c 1 bftmutex -w 30 behind true'
ok "restarted: nothing to say" eval '! logged 1 "higher numbers"'

#
# Two hosts with the keys of one client
#

kill_helper 2
cp "$dev/keys/client-1.client" "$dev/keys/client-2.client"
start_helper 2 || bail "no helper"
ok "another host: it has the lock" c 2 bftmutex -w 30 twice true
ok "another host: it says so" logged 2 "or another host has the same keys"
named() { logged 1 "another host uses the keys of client 1"; }
ok "another host: so does the first" wait_for 30 named
failing() { [[ $(c 1 bftmutexctl check) == "failed: "*"0 of 4 servers can grant"*"another host uses the keys of client 1: give each host keys of its own, and restart bftmutexd"* ]]; }
ok "another host: bftmutexctl check fails on the first" wait_for 30 failing
ok "another host: bftmutexctl servers says so" grep -q "another host uses the keys of client 1" \
	<(c 1 bftmutexctl servers)
c 1 bftmutex -w 4 other true 2>"$dev/err"
is "another host: the first gets no lock" $? 69
ok "another host: and says why" grep -q "another host uses the keys of client 1" "$dev/err"
ok "another host: the second is well" eval '[[ $(c 2 bftmutexctl check) == "all well"* ]]'
kill_helper 2
ok "it is gone: the first says so on" wait_for 30 failing
ok "restarted as it says" eval 'kill_helper 1; start_helper 1 && c 1 bftmutex -w 30 twice true'
ok "restarted: all is well" eval '[[ $(c 1 bftmutexctl check) == "all well"* ]]'
finish
