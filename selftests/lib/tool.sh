# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For scripts that test bftmutex(1): to be sourced first, with no argument.
#
# In a VM it makes a cluster and calls the script again as one of its clients; elsewhere it needs a
# cluster that is up, its helper in this network namespace, and the tool as $BFTMUTEX_BIN/bftmutex.
# Functions are called by name, and the script uses the variables.
# shellcheck disable=SC2317,SC2034
set -u

# Longer than any test; the servers must grant it.
long=15s

if [[ ! ${BFTMUTEX_BIN-} ]]; then
	top=$(cd "$(dirname "$0")/../../.." && pwd)
	(
		. "$top/selftests/lib/tap.sh"
		. "$top/selftests/lib/cluster.sh"
		load && up --servers 4 --lease-max $long && finish
	) >/dev/null || { echo "not ok 1 - no cluster"; echo 1..1; exit 1; }
	BFTMUTEX_BIN=$top/build/bin exec ip netns exec bftm-c1 "$0"
fi

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

tool=${BFTMUTEX_BIN:?}/bftmutex
dir=$(mktemp -d) || bail "mktemp failed"
mark=$dir/mark
# Each test has a lock of its own: an earlier one may still be in its last lease.
lock=
count=0
pid=

cleanup() {
	stop_background
	rm -rf "$dir"
}

new_lock() {
	count=$((count + 1))
	lock=tool.$$.$count
	rm -f "$mark" "$mark".*
}

# t ARG...: run the tool; sets status, out and err.
t() {
	"$tool" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	out=$(<"$dir/out")
	err=$(<"$dir/err")
}

# start ARG...: run the tool in the background until it has made $mark. bash ignores SIGINT and
# SIGQUIT in background processes, which their children would inherit; a session without a terminal
# keeps our own terminal out of the test.
start() {
	setsid env --default-signal=INT,QUIT "$tool" "$@" >"$dir/out" 2>"$dir/err" </dev/null &
	pid=$!
	wait_for 10 test -e "$mark" || bail "tool did not start: $* ($(<"$dir/err"))"
}

# Wait for the end of the process of start.
ended() {
	wait "$pid"
	status=$?
	pid=
	err=$(<"$dir/err")
}

stop_background() {
	[[ $pid ]] || return 0
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	pid=
}

# hold: somebody else has the lock.
hold() { start -l $long "$lock" sh -c "touch $mark; exec sleep 60"; }

gone() { ! kill -0 "$1" 2>/dev/null; }

# said DESC TEXT...: the message on stderr names each TEXT.
said() {
	local desc=$1 text
	shift
	for text; do
		if [[ $err != *"$text"* ]]; then
			is "$desc" "$err" "…$text…"
			return
		fi
	done
	ok "$desc" true
}

# wrong DESC STATUS TEXT ARG...: the tool refuses, and says TEXT.
wrong() {
	local desc=$1 want=$2 text=$3
	shift 3
	t "$@"
	is "$desc: status" "$status" "$want"
	said "$desc: message" "$text"
}
