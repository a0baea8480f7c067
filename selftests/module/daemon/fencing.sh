#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=10
#
# What Documentation/fencing.rst tells people to type, typed.
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
# In one shell, as somebody who pastes them does.
ip netns exec bftm-c1 timeout 1200 bash -e all >out 2>err
is "exit status" $? 0
is "what it prints" "$(cat out)" \
	"$(sed -n '/^::/,/^Rules/p' "$page" | sed -n 's/^   //p')"
is "what it complains of" "$(cat err)" ""
is "tokens grow" "$(sqlite3 ledger.db 'SELECT count(DISTINCT token) FROM entry')" 2
finish
