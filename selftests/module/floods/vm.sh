#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: part
#
# In the VM, by a clock that counts instructions; see "run".
#
#	vm.sh DATAGRAMS SERVERS REQUESTS MS RATE
#
# DATAGRAMS in all, over clusters of each number in "SERVERS", then REQUESTS of a client
# of every type, then honest programs for MS beside RATE datagrams a second.
#
#	c1 10.73.0.101 ---+--- bridge in bftm-net ---+--- s1 eth0 10.73.0.1
#	                       frames go in here, at  `--- s2 eth0 10.73.0.2 …
#	                       the servers' own links
#
# shellcheck disable=SC2154,SC2317,SC2016  # set by, or called from, what is sourced

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

datagrams=$1 sizes=$2 requests=$3 ms=$4 rate=$5
kinds=(random truncated bit key replay form)
keys=$dev/keys
dir=$(mktemp -d)

cleanup() {
	[[ ! ${flood-} ]] || kill "$flood" 2>/dev/null
	[[ ! ${busy-} ]] || kill "$busy" 2>/dev/null
	down
	rm -rf "$dir"
}

mac() { ip -n "bftm-s$1" -json link show eth0 | gojq -r '.[0].address'; }
# Packets, not frames: neighbours ask each other by ARP whether they are there.
packets_out=(awk '/^Ip: [0-9]/ { n += $11 } /^Ip6OutRequests/ { n += $2 } END { print n }'
	/proc/net/snmp /proc/net/snmp6)
sent_by() { s "$1" "${packets_out[@]}"; }
stat() { s "$1" bftmutexctl server show --json | gojq "$2"; }

# State of the server that a flood must not change; values that depend on the clock are left out.
state() {
	s "$1" sh -c 'for what in locks clients objects "server show"; do
		bftmutexctl $what --json; done' | gojq -cs '
		(.[0] | map(select(.name | startswith("sample") | not) | del(.remaining_ns))),
		(.[1] | map({ id, last_seq }) | sort_by(.id)),
		(.[2] | sort_by(.name)),
		(.[3] | del(.stats, .quarantine_ns, .locks))'
}

# kB of the kernel's memory that it cannot give back.
kernel_kb() { awk '$1 ~ /^(SUnreclaim|KernelStack|Percpu):/ { n += $2 } END { print n }' /proc/meminfo; }

# Allocated objects of each kind.
slabs() { awk 'NR > 2 { print $1, $2 }' /proc/slabinfo | sort; }
# slabs_since FILE: "NUMBER KIND" of the kinds that have grown most.
slabs_since() {
	slabs | join -a 1 - "$1" | awk '$2 - $3 > most { most = $2 - $3; kind = $1 }
		END { print most + 0, kind ? kind : "nothing" }'
}

# cluster N ARG...: its helpers are still, since they would speak in between
cluster() {
	bftmutexctl dev up --servers "$1" --clients 2 "${@:2}" >/dev/null || return
	bftmutexctl keygen --dir "$keys" --clients 50-53 >/dev/null
}

# flood_all KIND COUNT: to all servers
flood_all() {
	local n
	for ((n = 1; n <= servers; n++)); do
		netns_exec bftm-net bftmutex-floods send "$dir/samples-$n" "$1" "$2" "s$n" \
			"${macs[n]}" "10.73.0.$n" || return
	done
}

record() {
	c 1 bftmutex-floods record "$dir/samples-$1" "$1" "10.73.0.$1" "$keys/client-50.client" \
		"$keys/client-51.client" "$keys/client-52.client"
}

# Compares the counters with "before": this many datagrams arrived, and all were dropped.
dropped() {
	stat "$1" '.stats' | gojq -rc --slurpfile a "$dir/stats-$1" \
		'[to_entries[] | { (.key): (.value - $a[0][.key]) }] | add |
		[.received, .bad_form + .bad_version + .bad_address + .bad_tag + .replayed,
		 ([del(.received, .bad_form, .bad_version, .bad_address, .bad_tag, .replayed)[]] | add)] | join(" ")'
}

# With a clock of instructions, the clock leaps over idle times, and over the ends of leases too;
# from now on a process is busy.
stay_busy() {
	chrt --idle 0 sh -c 'while :; do :; done' &
	busy=$!
}
rest() {
	kill "$busy"
	wait "$busy" 2>/dev/null
	busy=
}

# inert N COUNT: datagrams of every kind to N servers, COUNT in all
inert() {
	local n kind each memory grown objects sent
	servers=$1
	each=$(($2 / servers / ${#kinds[@]}))
	macs=()
	cluster "$servers" -b 0 --lease-max 1h || bail "no cluster of $servers"
	kill -STOP "$(helper 1)" "$(helper 2)"
	for ((n = 1; n <= servers; n++)); do
		macs[n]=$(mac "$n")
		# The kernel asks for routers, after a minute, two, four ...
		s "$n" sh -c 'echo 0 >/proc/sys/net/ipv6/conf/eth0/accept_ra'
		# The first waits for the end of the quarantine.
		((n != 2)) || stay_busy
		sent=$(sent_by "$n")
		ok "n = $servers: server $n has a state" record "$n"
		ok "n = $servers: what server $n sent was counted" test "$(sent_by "$n")" -gt "$sent"
	done
	[[ ${busy-} ]] || stay_busy
	# Make all allocations that are made only once.
	for kind in "${kinds[@]}"; do
		flood_all "$kind" 200 || bail "no flood"
	done
	for ((n = 1; n <= servers; n++)); do
		state "$n" >"$dir/state-$n"
		stat "$n" .stats >"$dir/stats-$n"
		sent_by "$n" >"$dir/sent-$n"
	done
	memory=$(kernel_kb)
	slabs >"$dir/slabs"
	for kind in "${kinds[@]}"; do
		ok "n = $servers: $((each * servers)) datagrams, $kind" flood_all "$kind" "$each"
	done
	grown=$(($(kernel_kb) - memory))
	read -r objects kind < <(slabs_since "$dir/slabs")
	for ((n = 1; n <= servers; n++)); do
		is "n = $servers, server $n: nothing sent" "$(sent_by "$n")" "$(<"$dir/sent-$n")"
		is "n = $servers, server $n: arrived, dropped, all else" "$(dropped "$n")" \
			"$((each * ${#kinds[@]})) $((each * ${#kinds[@]})) 0"
		is "n = $servers, server $n: knows what it knew" "$(state "$n")" "$(<"$dir/state-$n")"
	done
	figure "n = $servers: kernel memory grew by $grown kB" test "$grown" -le 512
	sent=$((each * servers * ${#kinds[@]}))
	figure "n = $servers: $objects more of $kind, less than one for 50 datagrams" \
		test "$objects" -lt $((sent / 50))
	diag "flood inert n=$servers datagrams=$sent grown_kb=$grown grown_objects=$objects of=$kind"
	rest
	down
}

# Answers to a client, by its own request's length.
amplify() {
	cluster 1 -b 0 --lease-max 1s || bail "no server"
	ok "no answer is longer than its request" shown amplify c 1 bftmutex-floods amplify \
		"$requests" 1 10.73.0.1 "$keys/client-53.client"
	down
}
shown() { "${@:2}" >"$dir/shown" && sed 's/^/# flood /' "$dir/shown" >"$dir/shown.$1"; }

# pace KIND MAC...: datagrams to all servers, with these addresses of links
pace() {
	local kind=$1 n args=()
	shift
	for ((n = 1; n <= servers; n++)); do
		[[ $kind != client ]] || args+=("$keys/client-53.client")
		[[ $kind == client ]] || args+=("$dir/samples-$n")
		args+=("$n" "s$n" "${!n}" "10.73.0.$n")
	done
	: >"$dir/pace"
	netns_exec bftm-net bftmutex-floods pace "$kind" "$rate" "${args[@]}" >"$dir/pace" 2>&1 &
	flood=$!
	wait_for 20 grep -q ready "$dir/pace"
}
calm() {
	kill "$flood"
	wait "$flood" 2>/dev/null
	flood=
}

# Datagrams that all servers have received.
received() {
	local n all=0
	for ((n = 1; n <= servers; n++)); do
		all=$((all + $(stat "$n" .stats.received)))
	done
	echo $all
}

# Datagrams that the honest client has sent, all of them to servers.
said() { c 1 "${packets_out[@]}"; }

# goodput_beside KIND LEAST: honest clients have so much beside a flood, which lasts and arrives
goodput_beside() {
	local kind=$1 least=$2 before arrived sent
	before=$(($(received) - $(said)))
	measure "$kind"
	arrived=$(($(received) - $(said) - before)) sent=$((rate * ms / 1000))
	ok "goodput: $kind: the flood lasts" kill -0 "$flood"
	# With checkers the processor is too slow for all of it.
	ok "goodput: $kind: the flood arrives" test $((10 * arrived)) -ge "$sent"
	figure "goodput: $kind: $arrived arrived, of $sent at least" test "$arrived" -ge "$sent"
	calm
	# A flood may slow honest clients down, never stop them.
	ok "goodput: $kind leaves a tenth at least" test $((10 * pairs)) -ge "$quiet"
	figure "goodput: $kind leaves $least % at least" test $((100 * pairs)) -ge $((least * quiet))
}

# honest DESC: pairs per second of a program on client 1
honest_pairs() {
	c 1 bftmutex-floods goodput "$ms" >"$dir/pairs" && read -r pairs lost <"$dir/pairs"
}

measure() {
	ok "goodput: $1" honest_pairs || return
	[[ ${quiet-} ]] || quiet=$pairs
	diag "flood goodput $1 pairs_per_s=$pairs lost=$lost of_quiet_percent=$((100 * pairs / quiet))"
}

# Beside each flood, the same one sent to nobody: what sending itself costs the machine.
goodput() {
	local n kind memory grown nobody=() all=()
	# Least percentages: beside dropped floods, and beside a client's own valid flood.
	local -A least=([bit]=60 [replay]=60 [client]=50)
	servers=4 quiet='' pairs=0 lost=0
	cluster 4 -b 1 --lease-max 5s || bail "no cluster"
	for ((n = 1; n <= servers; n++)); do
		nobody+=(02:00:00:00:00:99)
		all+=("$(mac "$n")")
		record "$n" >/dev/null || bail "no samples"
	done
	ready || bail "no helper"
	ip -n bftm-net addr add 10.73.0.102/32 dev lo 2>/dev/null
	ip -n bftm-net addr add 10.73.0.200/24 dev br0
	measure quiet
	for kind in bit replay client; do
		pace "$kind" "${nobody[@]}" || bail "no flood: $(<"$dir/pace")"
		measure "$kind-to-nobody"
		calm
		pace "$kind" "${all[@]}" || bail "no flood: $(<"$dir/pace")"
		memory=$(kernel_kb)
		goodput_beside "$kind" "${least[$kind]}"
		grown=$(($(kernel_kb) - memory))
		figure "goodput: $kind: kernel memory grew by $grown kB" test "$grown" -le 512
	done
	down
}

load || bail "module"
# The kernel's log has no room for a line for each of so many requests, and nobody could read what else
# it says. That each is freed is seen with fewer.
((datagrams <= 100000)) || printf 'module bftmutex file %s -p\n' request.c fast.c >/proc/dynamic_debug/control ||
	bail "request.c and fast.c have no lines in the log"
for n in $sizes; do
	inert "$n" $((datagrams / $(wc -w <<<"$sizes")))
done
amplify
cat "$dir/shown.amplify"
goodput
finish
