#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each type of object under loss, with clients and helpers killed at random: every
# history is linearizable. BFTMUTEX_OPS is how many requests are made of each object
# (10,000 by "make order-torture"), BFTMUTEX_SEED repeats what is random.
#
#	bftm-c1 … bftm-c8 ---- bridge, 20 % loss each way ---- bftm-s1 … bftm-s7
#
# Functions are called by name, load may have no arguments, and variables are
# shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../lib/cluster.sh"
# shellcheck source=selftests/lib/order.sh
. "$(dirname "$0")/../lib/order.sh"

# While the host reads a program, timers of the guest run on as if it took no time.
export KSFT_MACHINE_SLOW=1

ops=${BFTMUTEX_OPS:-40}
hosts=${BFTMUTEX_HOSTS:-2}
types=${BFTMUTEX_TYPES:-counter register map queue log}
threads=2

cleanup() { down; }

# start_load CLIENT: what is left to be done on that host, by a process of its own
start_load() {
	local n=$1 left
	left=$((share - $(begun "$n")))
	((left > 0)) || return 0
	order_load --object "$type" --type "$type" --clients "$n-$n" --threads "$threads" \
		--count $(((left + threads - 1) / threads)) --seed "$RANDOM" --timeout 60 \
		--history "$dev/history.$n" >/dev/null 2>&1 &
	load[n]=$!
	disown $!
}

# begun CLIENT: requests that were made there
begun() { grep -c '"return_ns":null' "$dev/history.$1"; }

# all_begun COUNT; it is called often, and each program takes its time
all_begun() { (($(grep -h '"return_ns":null' "$dev"/history.[0-9]* | grep -c .) >= $1)); }

ended() {
	local n
	for n in "${!load[@]}"; do
		gone "${load[n]}" || return
	done
}

# torture: kill a program or a helper each time that a few requests more are made
torture() {
	local n step=$((hosts * share / 2 - 1)) at=0
	((step <= 150)) || step=150
	load=()
	for n in $(clients); do
		: >"$dev/history.$n"
		start_load "$n"
	done
	while at=$((at + step)) && ((at < hosts * share)); do
		wait_for 300 all_begun $at || {
			echo "fewer than $at requests were begun"
			return 1
		}
		n=$((RANDOM % hosts + 1))
		kill -KILL "${load[n]}" 2>/dev/null && wait_for 10 gone "${load[n]}"
		if ((RANDOM % 2)); then
			kill_helper "$n"
			start_helper "$n" || {
				cat "$dev/c$n/log"
				return 1
			}
		fi
		start_load "$n"
	done
	wait_for 600 ended
}

# With BFTMUTEX_KEEP=DIR, such as /run/share, what cannot be shown to be is kept there.
linearizable() {
	bftmutex-lin "$dev/history" && return
	[[ ! ${BFTMUTEX_KEEP:-} ]] || cp "$dev/history" "$BFTMUTEX_KEEP/history.$type"
	return 1
}

load || bail "module"
modprobe sch_netem || bail "sch_netem"
up --servers 7 -b 1 --clients "$hosts" --lease-max 1s || bail "no cluster"
tune "delta = 5ms" || bail "configuration"
for type in $types; do
	is "$type: create" "$(submit 1 "$type" "create $type" --history "$dev/create.$type")" "0 "
done
mapfile -t everyone < <(clients | sed 's/^/c/'; seq -f s%g 7)
netem "${everyone[@]}" -- loss 20%

share=$((ops / hosts))
for type in $types; do
	begin=$SECONDS
	ok "$type: all come to their end" torture
	cat "$dev/create.$type" "$dev"/history.[0-9]* >"$dev/history"
	merge "$dev/history"
	answered=$(grep -vc '"return_ns":null' "$dev/history")
	diag "$type: $(wc -l <"$dev/history") requests, $answered answered, $((SECONDS - begin)) s"
	ok "$type: enough are answered" test "$answered" -ge $((ops / 2))
	ok "$type: linearizable" linearizable
done
netem "${everyone[@]}"
finish
