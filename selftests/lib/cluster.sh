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

# All random choices follow from the seed: BFTMUTEX_SEED=N repeats a run.
export BFTMUTEX_SEED=${BFTMUTEX_SEED:-$RANDOM}
RANDOM=$BFTMUTEX_SEED
diag "BFTMUTEX_SEED=$BFTMUTEX_SEED"

# "make check-capture": all that arrives anywhere is shared with somebody who reads it late.
if [[ ${BFTMUTEX_CAPTURE-} ]]; then
	capture /run/captured &
	disown
fi

# Load the module; arguments are its parameters.
load() {
	modprobe -a udp_tunnel ip6_udp_tunnel 2>/dev/null
	insmod "$BFTMUTEX_KO" dyndbg=+p "$@"
}

# preload PROGRAM...: for a clock that counts instructions, which runs on while the host reads a
# file.
preload() {
	local program
	for program; do
		"$program" --help >/dev/null
	done
}

# measured NAME VALUE UNIT: for selftests/measure/bench, if that runs the script.
measured() { [[ ! ${BFTMUTEX_VALUES-} ]] || echo "$@" >>"$BFTMUTEX_VALUES"; }

# One-letter wrappers: a command on server N, on client N.
s() { netns_exec "bftm-s$1" "${@:2}"; }
c() { netns_exec "bftm-c$1" "${@:2}"; }

# install_all: "make install", as on a host that never had it; from now on that is used, and not
# what was built. Not where a VM is shared with other scripts, which want nothing in it.
install_all() {
	[[ $(uname -r) != *-bftmutex-* ]] || skip_all "installs: not on kernels with checkers"
	PATH=${PATH#"$top"/build/bin:"$top"/build/bin/tests:}
	rm -rf /etc/bftmutex /var/lib/bftmutex
	groupdel bftmutex 2>/dev/null
	ln -sf "$top/build/bin/tests/netns_exec" /usr/local/bin
	ok "make install" make -C "$top" --no-print-directory install || bail "it is not installed"
}

# own_work: a folder in "work", for this script; it goes at the end, with the jobs and the cluster.
own_work() {
	work=$(mktemp -d) || bail "no folder"
	# shellcheck disable=SC2317  # called from tap.sh
	cleanup() {
		stop_jobs
		down
		rm -rf "$work"
	}
}

# next_lock: "lock" is the name of a lock that no other test has, which ends with "lock_number".
lock_number=0
next_lock() {
	lock_number=$((lock_number + 1))
	lock=${0##*/}
	lock=${lock%.sh}.$lock_number
}

# up ARG...: a cluster, as "bftmutexctl dev up" takes it, ready to grant.
up() {
	bftmutexctl dev up "$@" >/dev/null || return
	ready
}

# The quarantine is over at enough servers and every helper has found them.
ready() {
	local n
	for n in $(clients); do
		# Short leases may end before the command begins: once more, then.
		wait_for 60 c "$n" bftmutex -w 60 "ready-$n" true || return
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
# killed process may leave its status socket behind. With words in "run_helper" by that.
run_helper=()
start_helper() {
	local n=$1
	shift
	# The one before was ready too, and ours may take a while to begin.
	: >"$dev/c$n/log"
	# Not by c: $! is to be the daemon, not a shell that waits for it.
	ip netns exec "bftm-c$n" "${run_helper[@]}" bftmutexd --config "$dev/c$n/bftmutex.conf" --state "$dev/c$n" \
		--foreground "$@" >"$dev/c$n/log" 2>&1 &
	echo $! >"$dev/c$n/pid"
	# That it was killed is no news for the log of the test.
	disown $!
	wait_for 10 is_decided "$n"
	grep -q ready "$dev/c$n/log"
}
is_decided() { grep -q ready "$dev/c$1/log" || gone "$(helper "$1")"; }

clients() {
	local list=(/run/netns/bftm-c[0-9]*)
	[[ ! -e ${list[0]} ]] || printf '%s\n' "${list[@]#/run/netns/bftm-c}" | sort -n
}

# forks [irq]: what the kernel does when the host has given this virtual machine another generation
# number, as it does to one that it has cloned or set back; in an interrupt, as by a device tree.
forks() {
	insmod "$(dirname "$BFTMUTEX_KO")/stall/stall.ko" || return
	echo "${1-1}" >/sys/module/stall/parameters/forked
	rmmod stall
}

# lie N STRATEGY [ARG...]: server N becomes a liar.
lie() {
	local n=$1 strategy=$2
	shift 2
	s "$n" bftmutexctl server stop >/dev/null 2>&1
	kill_liar "$n"
	netns_exec "bftm-s$n" bftmutex-liar --key "$dev/keys/server-$n.key" \
		--strategy "$strategy" --stats "$dev/liar-$n.json" \
		"$@" >"$dev/liar-$n.out" 2>&1 &
	echo $! >"$dev/liar-$n.pid"
	wait_for 10 grep -q ready "$dev/liar-$n.out"
}

# Every way to lie about locks.
strategies() { bftmutex-liar --help | sed -n '/^Strategies:/,/ordering/s/^  \([a-z-]*\)  .*/\1/p'; }

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
		--key "$dev/keys/server-$n.key" --state "$dev/servers" "$@" >/dev/null
}

# contend COUNT ARG...: COUNT contenders spread evenly over the clients, logs in
# $entries and the counter in $counter; true when all came to their end. Those of
# client $polling, if that is set, poll. A run in which the machine stood still
# for longer than a lease says nothing and is made again. With $append the log and
# the counter go on.
contend() {
	local status=75 try
	for ((try = 0; try < 3 && status == 75; try++)); do
		contend_start "$@"
		contend_end
		status=$?
	done
	return $status
}

contend_start() {
	local count=$1 n list poll
	shift
	mapfile -t list < <(clients)
	counter=$dev/counter
	entries=$dev/entries
	contenders=()
	[[ ${append:-} ]] || rm -f "$counter" "$entries"
	touch "$entries"
	for n in "${list[@]}"; do
		poll=
		[[ $n != "${polling:-}" ]] || poll=--try
		netns_exec "bftm-c$n" contender --client "c$n" --counter "$counter" \
			--log "$entries" --seed $((BFTMUTEX_SEED + 100 * n)) \
			--processes $((count / ${#list[@]})) $poll "$@" &
		contenders+=($!)
	done
}

# The worst status of all, 75 when nothing is wrong but the machine too slow.
contend_end() {
	local pid got status=0
	for pid in "${contenders[@]}"; do
		got=0
		wait "$pid" || got=$?
		((got == 0 || (got == 75 && status))) || status=$got
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
	local name=${*: -1} line seen=0 want='' diagnosis='' skip output status
	output=$(mktemp)
	"$@" >"$output" 2>&1
	status=$?
	while IFS= read -r line; do
		case $line in
		1..*) want=${line#1..} ;;
		"ok "* | "not ok "*)
			seen=$((seen + 1))
			skip=
			[[ $line != *" # SKIP"* ]] || skip="SKIP${line#*# SKIP}"
			line=${line%% # SKIP*}
			tap_result "${line%%ok *}ok" "$name: ${line#*ok * }" "$skip" ||
				diag "$diagnosis"
			diagnosis=''
			;;
		*) diagnosis+=${line#"# "}$'\n' ;;
		esac
	done <"$output"
	rm -f "$output"
	is "$name: came to its end" "$status, $seen tests" "0, ${want%% *} tests" ||
		diag "$diagnosis"
}

# tune 'KEY = VALUE'...: set keys in every client's configuration, which makes
# the helpers begin anew: what they noted about the servers is forgotten.
tune() {
	local n pair edit=()
	# Without a change it would be the same cluster as before.
	for pair in "$@" "rho = $((2000 + ++tuned))"; do
		edit+=(-e "/^\t${pair%% *} = /d" -e "s/^cluster .*/&\n\t$pair/")
	done
	for n in $(clients); do
		sed -i "${edit[@]}" "$dev/c$n/bftmutex.conf"
		kill -HUP "$(helper "$n")"
	done
	for n in $(clients); do
		wait_for 10 forgotten "$n" || return
	done
}
tuned=0

forgotten() { [[ $(servers "$1" '[.[].rounds] | add') == 0 ]]; }

# servers N FILTER: what the helper of client N knows, through gojq.
servers() { c "$1" bftmutexctl servers --json | gojq -r ".clusters[0].servers | $2"; }

# log_is_clean: the kernel has complained of nothing since tests run in this VM.
log_is_clean() { "$top/selftests/vm/check-log" --after "vm: command starts" < <(dmesg); }

# namespaces: how many the log has seen made and not destroyed.
namespaces() {
	dmesg | awk '/bftmutex: created netns/ { n++ } /bftmutex: destroyed netns/ { n-- } END { print n + 0 }'
}

# log_objects - | +: end and begin again the log's line for each object that comes and goes.
# A program that makes thousands fills the log with them. The lines of namespaces stay, and
# "+" waits for those that were made meanwhile: a namespace ends, with the objects in it,
# some time after its last process.
log_objects() {
	local control=/proc/dynamic_debug/control
	grep -q '/life\.c:.*\[bftmutex\]' $control || bail "life.c has no line for a namespace"
	[[ $1 == + ]] || namespaces_before=$(namespaces)
	[[ $1 == - ]] || wait_for 20 as_many_namespaces || return
	sed -n "/\/life\.c:/!s/.*\[bftmutex\]\([^ ]*\) .*/module bftmutex func \1 $1p/p" $control |
		sort -u | dd of=$control bs=4000 iflag=fullblock status=none
}
as_many_namespaces() { (($(namespaces) == namespaces_before)); }

# netem HOST...: what "tc netem" does with all that these hosts (s1, c2) send;
# the words after "--", or nothing any more.
netem() {
	local hosts=() host
	while (($#)) && [[ $1 != -- ]]; do
		hosts+=("$1")
		shift
	done
	for host in "${hosts[@]}"; do
		if (($# > 1)); then
			tc -n "bftm-$host" qdisc replace dev eth0 root netem "${@:2}" || return
		else
			tc -n "bftm-$host" qdisc del dev eth0 root 2>/dev/null
		fi
	done
	return 0
}

# deaf HOST...: nothing reaches them (what they send still goes out); hearing
# HOST...: again.
deaf() {
	local host
	for host; do
		tc -n bftm-net qdisc replace dev "$host" root netem loss 100% || return
	done
}

hearing() {
	local host
	for host; do
		tc -n bftm-net qdisc del dev "$host" root || return
	done
}

# All that runs in the background ends.
stop_jobs() {
	local pids
	mapfile -t pids < <(jobs -p)
	((${#pids[@]} == 0)) || kill -KILL "${pids[@]}" 2>/dev/null
	wait_jobs
}

# again FUNCTION: three times at most, for a machine may sleep longer than a lease.
# In between "undo", where there is one.
again() {
	local turn
	for turn in first second third; do
		"$@" && return
		echo "the $turn time"
		[[ $(type -t undo) != function ]] || undo
	done
	return 1
}

now_ns() { awk '{ printf "%.0f\n", $1 * 1e9 }' /proc/uptime; }
