#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=14
#
# The commands of Documentation/fencing.rst, typed.
#
#	bftm-c1 ---- bridge ---- bftm-s1 … bftm-s7    n = 7, b = 1, q = 6
#
# Functions are called by name, load may have no arguments, and variables are
# shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

page=$top/Documentation/fencing.rst

cleanup() { down; }

# block NAME: the code of that name
block() {
	awk -v name=":name: $1" '
		$0 ~ /^[^ ]/ { on = 0 }
		on { sub(/^   /, ""); print }
		$0 ~ name "$" { on = 1 }' "$page"
}

command -v sqlite3 >/dev/null || bail "sqlite3 is missing"
load || bail "module"
up --servers 7 -b 1 --clients 1 --lease-max 5s || bail "no cluster"

mkdir -p /tmp/fencing
cd /tmp/fencing || bail "/tmp"
for name in guard write sleep next wake; do
	block $name >>all
done
is "blocks" "$(grep -c . all)" "$(sed -n '/:name:/,/^[^ ]/p' "$page" | grep -c '^   [^:]')"
# In one shell, like a user who pastes the commands.
netns_exec bftm-c1 timeout 1200 bash -e all >out 2>err
is "exit status" $? 0
# The writer may be about to end, or have ended: in the first case the message is longer.
is "what it prints" "$(sed 's/; sending SIGTERM$//' out)" \
	"$(sed -n '/^::/,/^Rules/p' "$page" | sed -n 's/^   //p')"
is "what it complains of" "$(cat err)" ""
is "tokens grow" "$(sqlite3 ledger.db 'SELECT count(DISTINCT token) FROM entry')" 2

#
# When there is no token: the command fails, and says so, but locks without a token are granted
#

why="too few of the servers that answer know which fencing tokens were given"

# no_token DESC ARG...: within the lease, or the time limit
no_token() {
	local desc=$1 said
	shift
	said=$(c 1 timeout 60 bftmutex --fence "$@" scarce true 2>&1)
	is "$desc: status" $? 69
	ok "$desc: it says why" grep -qF "$why" <<<"$said"
}

# without_tokens DESC
without_tokens() {
	ok "$1: a lock without token" c 1 bftmutex -w 30 scarce true
	no_token "$1: for a lease" -l 2s
	no_token "$1: with a longer time limit" -l 2s -w 30
	no_token "$1: with a shorter one" -l 5s -w 2
	began=$(date +%s%N)
	no_token "$1: asked once" -w 0
	# At most 128 δ for the lock and as many for the token, 2.56 s, and not a lease; a VM that counts
	# instructions starts the programs in far less than the rest.
	ok "$1: asked once: in time" test $(($(date +%s%N) - began)) -lt 4000000000
	ok "$1: and the lock is free" c 1 bftmutex -w 30 scarce true
}

for n in 6 7; do
	s $n bftmutexctl server stop >/dev/null
done
without_tokens "two of seven are down"
honest 7 --lease-max 5s --token-floor 1000 || bail "no server"
ok "one of seven is down: a token" c 1 bftmutex --fence -w 60 scarce true

down
up --servers 4 -b 1 --clients 1 --lease-max 5s || bail "no cluster"
ok "four servers: a token" c 1 bftmutex --fence -w 30 scarce true
granting() { [[ $(s 4 bftmutexctl server show --json | gojq .quarantine_ns) == 0 ]]; }
s 4 bftmutexctl server stop >/dev/null
honest 4 --lease-max 5s --token-floor unknown || bail "no server"
ok "a server that has forgotten" wait_for 60 granting
s 3 bftmutexctl server stop >/dev/null
without_tokens "of four one has forgotten, one is down"
finish
