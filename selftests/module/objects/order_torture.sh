#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=20
# check: vm name=order-torture-long tier=all clock=instructions mem=1024 set=BFTMUTEX_HOSTS=8 scale=BFTMUTEX_OPS:10000 time=2700
#
# Each type of object under loss, with a server that lies, and programs and helpers killed at
# random: every history is linearizable. BFTMUTEX_OPS is the number of requests to each object
# (10,000 by "make order-torture"), BFTMUTEX_SEED repeats the random choices. With
# BFTMUTEX_KEEP=DIR, such as /run/share, histories are kept there.
#
#
#	bftm-c1 … bftm-c8 ---- bridge, 20 % loss each way ---- bftm-s1 … bftm-s7, s4 lies
#
# Functions are called by name, load may have no arguments, and variables are
# shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/order.sh
. "$(dirname "$0")/../../lib/order.sh"

ops=${BFTMUTEX_OPS:-40}
many=${BFTMUTEX_HOSTS:-2}
types=${BFTMUTEX_TYPES:-counter register map queue log}
threads=4
share=$((ops / many))
# A program begins at most that many requests before it dies, or is done.
life=$((share < 300 ? share : 300))

cleanup() {
	kill_liar 4
	down
}

# begun CLIENT: requests that were made there
begun() { grep -c '"return_ns":null' "$dev/history.$1"; }

# start_load CLIENT SEED LIFE: makes the remaining requests of that host, by a process of its own,
# which reports its end to $ends
start_load() {
	local n=$1 left
	left=$((share - $(begun "$n")))
	((left > 0)) || return
	{
		order_load --object "$type" --type "$type" --clients "$n-$n" \
			--threads "$threads" --count $(((left + threads - 1) / threads)) \
			--seed "$2" --timeout 60 --die "$3" --history "$dev/history.$n"
		echo "$n $?" >&"$ends"
	} >/dev/null 2>&1 &
	running=$((running + 1))
}

# torture: restarts the work of each program that ended, and kills a helper now and then
torture() {
	local n status running=0
	for n in $(clients); do
		: >"$dev/history.$n"
		start_load "$n" "$RANDOM" $((RANDOM % life + 1))
	done
	while ((running)); do
		read -r n status <&"$ends"
		running=$((running - 1))
		((status == 0)) || programs=$((programs + 1))
		start_load "$n" "$RANDOM" $((RANDOM % life + 1))
		((RANDOM % 3)) || another_helper $((RANDOM % many + 1)) || return
	done
}

another_helper() {
	note_work "$1"
	kill_helper "$1"
	helpers=$((helpers + 1))
	start_helper "$1" && return
	cat "$dev/c$1/log"
	return 1
}

# note_work CLIENT: records the counters of its helper, before that dies
note_work() {
	((ops < 1000)) || c "$1" bftmutexctl stats --json >>"$dev/work"
}

# account: prints the work that was needed, if the run is long enough
account() {
	local n sent_before=$sent lost_before=$lost
	((ops >= 1000)) || return
	for n in $(clients); do
		note_work "$n"
	done
	count_datagrams
	diag "$type: $((sent - sent_before)) datagrams, $((lost - lost_before)) lost;" \
		"$(gojq -rs '[.[].helper.ordering | to_entries[]] | group_by(.key)[] |
			"\(map(.value) | add) \(.[0].key)"' "$dev/work" | paste -sd,)"
}

# count_datagrams: sets $sent and $lost, of all hosts so far
count_datagrams() {
	local host
	read -r sent lost < <(for host in "${everyone[@]}"; do
		tc -s -j -n "bftm-$host" qdisc show dev eth0
	done | gojq -rs 'map(.[0]) | [map(.packets), map(.drops)] | map(add) | @tsv')
}

# final: the state at the end is part of the history
final() {
	local -A request=([counter]=get [register]=read [map]=list [queue]=len [log]=len)
	submit 1 "$type" "${request[$type]}" --history "$dev/history.1" | sed 's/ .*//; q'
}

linearizable() { bftmutex-lin "$dev/history"; }

preload bftmutex bftmutexctl bftmutexd bftmutex-lin bftmutex-liar order_load gojq
mkfifo /run/ends && exec {ends}<>/run/ends
# Lines about so many objects would overflow the kernel's log.
load dyndbg=-p || bail "module"
modprobe sch_netem || bail "sch_netem"
up --servers 7 -b 1 --clients "$many" --lease-max 1s || bail "no cluster"
tune "delta = 5ms" || bail "configuration"
# Each request draws one of all lies.
lies=$(bftmutex-liar --help | sed -n '/of the ordering protocol:$/,$s/^  \([a-z]*\)  .*/\1/p' |
	paste -sd,)
lie 4 honest --order "$lies" --lease-max 1s --token-floor 0 --seed "$BFTMUTEX_SEED" ||
	bail "no liar"
diag "server 4 lies: $lies"
for type in $types; do
	is "$type: create" "$(submit 1 "$type" "create $type" --history "$dev/create.$type")" "0 "
done
mapfile -t everyone < <(clients | sed 's/^/c/'; seq -f s%g 7)
netem "${everyone[@]}" -- loss 20%

sent=0 lost=0
for type in $types; do
	begin=$SECONDS programs=0 helpers=0
	: >"$dev/work"
	ok "$type: all come to their end" torture
	is "$type: the last one" "$(final)" 0
	cat "$dev/create.$type" "$dev"/history.[0-9]* >"$dev/history"
	merge "$dev/history"
	[[ ! ${BFTMUTEX_KEEP:-} ]] || cp "$dev/history" "$BFTMUTEX_KEEP/history.$type"
	requests=$(grep -c . "$dev/history") answered=$(grep -vc '"return_ns":null' "$dev/history")
	diag "$type: $requests requests, $answered answered, $programs programs and" \
		"$helpers helpers killed, $((SECONDS - begin)) s"
	account
	# The requests of a program end with it, and so do those of a helper.
	ok "$type: only those that were killed are without an answer" \
		test $((requests - answered)) -le $((threads * (programs + helpers)))
	ok "$type: linearizable" linearizable
done
netem "${everyone[@]}"
finish
