# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What the rows of the benchmark share. Servers as "bftmutexctl dev" makes them;
# the client stands in the bridge's own namespace, one link from each server:
#
#	   client, br0 10.73.0.200
#	---+----------+---- bridge in bftm-net
#	   |          |
#	bftm-s1    bftm-s2  ...     10.73.0.1, .2, ...
#
# shellcheck source=selftests/lib/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/cluster.sh"

# shellcheck disable=SC2154  # of cluster.sh
PATH=$top/build/bin/bench:$PATH
values=${BFTMUTEX_VALUES:-/dev/stdout}
work=$(mktemp -d)
started=()

cleanup() {
	local pid
	for pid in "${started[@]}"; do
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	down
	rm -rf "$work"
}

# at COMMAND...: on the client
at() { ip netns exec bftm-net "$@"; }

# cluster N B [ARG...]: n servers that grant, and a helper on the client
cluster() {
	local n=$1 b=$2
	shift 2
	bftmutexctl dev up --servers "$n" -b "$b" --clients 1 --lease-max 6s "$@" >/dev/null &&
		move_client && client_is_ready
}

# The helper of bftm-c1 goes where the shorter path is.
move_client() {
	kill_helper 1
	ip -n bftm-net addr add 10.73.0.200/24 dev br0 &&
		at bftmutexd --config "$dev/c1/bftmutex.conf" --state "$dev/c1" \
			--foreground >"$dev/c1/log" 2>&1 &
	started+=($!)
	wait_for 20 grep -q ready "$dev/c1/log"
}

client_is_ready() { wait_for 60 at bftmutex -w 60 ready true; }

# addresses FROM TO
addresses() {
	local u
	for ((u = $1; u <= $2; u++)); do
		echo "10.73.0.$u"
	done
}

# daemon N COMMAND...: at server N, until the row is done
daemon() {
	local n=$1
	shift
	ip netns exec "bftm-s$n" "$@" >"$work/${1##*/}-$n.log" 2>&1 &
	started+=($!)
}

# row DESC COMMAND...: what COMMAND prints, "NAME VALUE UNIT" a line, is measured
row() {
	local desc=$1
	shift
	ok "$desc" into "$work/values" "$@" || return
	cat "$work/values" >>"$values"
	diag "$(awk '$1 ~ /\.p50$/ { sub(/\.p50$/, "", $1); printf "%s p50 %d %s\n", $1, $2, $3 }' "$work/values")"
}
into() { "${@:2}" >"$1"; }
