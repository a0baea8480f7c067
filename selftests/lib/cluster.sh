# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# A cluster for tests in a VM, by "bftmutexctl dev". Source it after tap.sh.
#
#	bftm-c1   bftm-c2  ...           clients 10.73.0.101, .102, ...
#	   |         |
#	---+---------+----+-------- bridge
#	                  |
#	     bftm-s1   bftm-s2  ...      servers 10.73.0.1, .2, ...

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export PATH=$top/build/bin:$top/build/bin/tests:$PATH
dev=/run/bftmutex/dev

[[ ${BFTMUTEX_VM:-} ]] || skip_all "runs in a VM: selftests/vm/run $0"

# What is random follows from it: BFTMUTEX_SEED=N repeats a run.
export BFTMUTEX_SEED=${BFTMUTEX_SEED:-$RANDOM}
RANDOM=$BFTMUTEX_SEED
diag "BFTMUTEX_SEED=$BFTMUTEX_SEED"

# Load the module; arguments are its parameters.
load() {
	modprobe -a udp_tunnel ip6_udp_tunnel 2>/dev/null
	insmod "$BFTMUTEX_KO" dyndbg=+p "$@"
}

# One-letter wrappers: a command on server N, on client N.
s() { ip netns exec "bftm-s$1" "${@:2}"; }
c() { ip netns exec "bftm-c$1" "${@:2}"; }

# up ARG...: a cluster, as "bftmutexctl dev up" takes it, ready to grant.
up() {
	bftmutexctl dev up "$@" >/dev/null || return
	ready
}

# The quarantine is over at enough servers and every helper has found them.
ready() {
	local n
	for n in $(clients); do
		c "$n" bftmutex -w 60 -l 200ms "ready-$n" true || return
	done
}

down() {
	local n
	# Those started anew are not in the list of what "dev up" made.
	for n in $(clients); do
		kill_helper "$n"
	done
	bftmutexctl dev down >/dev/null
}

# helper N: its process.
helper() { cat "$dev/c$1/pid"; }

# gone PID
gone() { ! kill -0 "$1" 2>/dev/null; }

# kill_helper N [SIGNAL]
kill_helper() {
	[[ -e $dev/c$1/pid ]] || return 0
	kill "-${2:-KILL}" "$(helper "$1")" 2>/dev/null
	wait_for 10 gone "$(helper "$1")"
}

# start_helper N [ARG...]: after kill_helper; true when it serves.  A stopped or
# killed process may leave its status socket behind.
start_helper() {
	local n=$1
	shift
	c "$n" bftmutexd --config "$dev/c$n/bftmutex.conf" --state "$dev/c$n" \
		--foreground "$@" >"$dev/c$n/log" 2>&1 &
	echo $! >"$dev/c$n/pid"
	wait_for 10 grep -q ready "$dev/c$n/log"
}

clients() { ip netns list | sed -n 's/^bftm-c\([0-9]*\).*/\1/p' | sort -n; }

# lie N STRATEGY [ARG...]: server N becomes a liar.
lie() {
	local n=$1 strategy=$2
	shift 2
	s "$n" bftmutexctl server stop >/dev/null 2>&1
	kill_liar "$n"
	s "$n" bftmutex-liar --key "$dev/keys/server-$n.key" \
		--strategy "$strategy" --stats "$dev/liar-$n.json" \
		"$@" >"$dev/liar-$n.out" 2>&1 &
	echo $! >"$dev/liar-$n.pid"
	wait_for 10 grep -q ready "$dev/liar-$n.out"
}

kill_liar() {
	[[ -e $dev/liar-$1.pid ]] || return 0
	kill "$(cat "$dev/liar-$1.pid")" 2>/dev/null
	wait_for 5 gone "$(cat "$dev/liar-$1.pid")"
	rm -f "$dev/liar-$1.pid"
}

# honest N [ARG...]: server N is the kernel's again (and in quarantine).
honest() {
	local n=$1
	shift
	kill_liar "$n"
	s "$n" bftmutexctl server start --id "$n" \
		--key "$dev/keys/server-$n.key" "$@" >/dev/null
}

# contend COUNT ARG...: COUNT contenders spread over the clients, logs in
# $entries and the counter in $counter; true when all came to their end.
contend() {
	local count=$1 i n list status=0 pids=()
	shift
	mapfile -t list < <(clients)
	counter=$dev/counter
	entries=$dev/entries
	rm -f "$counter" "$entries"
	for ((i = 1; i <= count; i++)); do
		n=${list[(i - 1) % ${#list[@]}]}
		c "$n" contender --client "$i@c$n" --counter "$counter" \
			--log "$entries" "$@" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || status=1
	done
	return $status
}

# No two entries of the log overlap; says which do.
no_overlap() {
	sort -k2,2n "$entries" | awk '
		NR > 1 && $2 <= end {
			printf "%s entered at %s, %s left at %s\n", $1, $2, who, end
			bad = 1
		}
		$3 > end { end = $3; who = $1 }
		END { exit bad }'
}

# counted N: the log has N entries and the counter agrees.
counted() {
	local lines value
	lines=$(wc -l <"$entries")
	value=$(cat "$counter")
	((lines == $1 && value == $1)) || {
		echo "entries $lines, counter $value, expected $1"
		return 1
	}
}

# embed CMD...: run a program that prints TAP; its tests become ours.
embed() {
	local name=${*: -1} line seen=0 want='' diagnosis=''
	"$@" >"$dev/tap" 2>&1
	local status=$?
	while IFS= read -r line; do
		case $line in
		1..*) want=${line#1..} ;;
		"ok "* | "not ok "*)
			seen=$((seen + 1))
			tap_result "${line%%ok *}ok" "$name: ${line#*ok * }" ||
				diag "$diagnosis"
			diagnosis=''
			;;
		*) diagnosis+=${line#"# "}$'\n' ;;
		esac
	done <"$dev/tap"
	is "$name: came to its end" "$status, $seen tests" "0, ${want%% *} tests" ||
		diag "$diagnosis"
}

# tune 'KEY = VALUE'...: set keys in every client's configuration, which makes
# the helpers begin anew: what they noted about the servers is forgotten.
tune() {
	local n pair key
	for n in $(clients); do
		for pair; do
			key=${pair%% *}
			sed -i "/^\t$key = /d; s/^cluster .*/&\n\t$pair/" "$dev/c$n/bftmutex.conf"
		done
		# Without a change it would be the same cluster as before.
		printf '#\n\trho = %d\n' $((2000 + ++tuned)) >"$dev/rho"
		sed -i '/^#$/,/^\trho/d' "$dev/c$n/bftmutex.conf"
		sed -i "/^cluster /r $dev/rho" "$dev/c$n/bftmutex.conf"
		kill -HUP "$(cat "$dev/c$n/pid")"
	done
	for n in $(clients); do
		wait_for 10 forgotten "$n" || return
	done
}
tuned=0

# servers N FILTER: what the helper of client N knows, through jq.
servers() { c "$1" bftmutexctl servers --json | jq -r ".clusters[0].servers | $2"; }

forgotten() { [[ $(servers "$1" '[.[].rounds] | add') == 0 ]]; }
