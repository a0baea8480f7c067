#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=15
#
# The commands of Documentation/ordering.rst, typed, and compared with the output that it says is
# printed.
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 … bftm-s7    n = 7, b = 1
#
# Functions are called by name, load may have no arguments, and variables are
# shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

page=$top/Documentation/ordering.rst

cleanup() { down; }

# block NAME: the code of that name
block() {
	awk -v name=":name: $1" '
		$0 ~ /^[^ ]/ { on = 0 }
		on { sub(/^   /, ""); print }
		$0 ~ name "$" { on = 1 }' "$page"
}

# printed NAME: the output behind "::" after this block, before the next one
printed() {
	awk -v name=":name: $1" '
		$0 ~ name "$" { here = 1; next }
		/:name:/ { here = 0 }
		here && /^::$/ { on = 1; next }
		on && /^[^ ]/ { exit }
		on && /^   / { sub(/^   /, ""); print }' "$page"
}

load || bail "module"
up --servers 7 -b 1 --clients 2 --lease-max 5s || bail "no cluster"

# A request may take seconds if the machine is emulated and busy.
export PATIENCE=12

mkdir -p /tmp/ordering
cd /tmp/ordering || bail "/tmp"
block clients >words
names=$(sed -n 's/^   :name: //p' "$page" | grep -v clients)
is "blocks" "$(echo "$names" | xargs)" \
	"counter colors watch node failover account savings list backup history"
for name in $names; do
	{
		cat words
		block "$name"
	} >"$name.sh"
	# Like a user who pastes the commands.
	timeout 2400 bash -e "$name.sh" >out 2>&1
	is "$name: exit status" $? 0
	is "$name: what it prints" "$(cat out)" "$(printed "$name")" || diag "$(cat leaders 2>&1)"
done
finish
