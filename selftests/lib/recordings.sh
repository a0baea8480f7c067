# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Recordings of all hosts of a cluster, and their verdict. Source it after cluster.sh, with the
# hosts, such as c1 or s1, in the array "hosts", and a folder in "work".
#
# shellcheck disable=SC2034,SC2154,SC2120

record() {
	local host options
	recording=()
	for host in "${hosts[@]}"; do
		options=(--host "$host")
		[[ $host != c* ]] || options+=(--config "$dev/$host/bftmutex.conf")
		netns_exec "bftm-$host" bftmutexctl trace record "${options[@]}" \
			>"$work/$host" 2>"$work/$host.err" &
		recording+=($!)
		wait_for 10 grep -q Recording "$work/$host.err" || return
	done
}

# record_end: all is written
record_end() {
	local one
	kill "${recording[@]}"
	for one in "${recording[@]}"; do
		wait "$one" || bail "a recording failed: $(cat "$work"/*.err)"
	done
}

# judge [OPTION...]: the verdict is in "verdict", and all that was said in $work/said
judge() {
	bftmutex-trace "$@" two-holders "${hosts[@]/#/$work/}" >"$work/said" 2>&1
	verdict=$(sed -n '1s/^two holders at once: //p' "$work/said")
}

# explain: what was said, for the log of a failure
explain() { diag "$(head -20 "$work/said")"; }

# said WORDS: was that said, as a regular expression?
said() { grep -q "$1" "$work/said"; }
