# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# A server and a host of clients without a helper, for datagrams by hand. Source it
# after cluster.sh.
#
#	bftm-c1 ---------------- bftm-s1
#	10.73.0.101              10.73.0.1
#	fd73::101, fe80::101     fd73::1, fe80::1
#
# shellcheck disable=SC2154,SC2317,SC2034,SC2119  # shared, or called by name

dir=$(mktemp -d)
v4=10.73.0.1
v6=fd73::1
local6=fe80::1%eth0
pid=

cleanup() {
	[[ ! $pid ]] || kill "$pid" 2>/dev/null
	ip netns delete bftm-c1 2>/dev/null
	ip netns delete bftm-s1 2>/dev/null
	rmmod stall 2>/dev/null
	rmmod bftmutex 2>/dev/null
	rm -rf "$dir"
}

net() {
	ip netns add bftm-s1 && ip netns add bftm-c1 || return
	ip link add eth0 netns bftm-s1 type veth peer name eth0 netns bftm-c1 || return
	host s1 1 && host c1 101
}

# host NAME NUMBER
host() {
	ip -n "bftm-$1" -batch - <<-END
		link set lo up
		link set eth0 addrgenmode none
		addr add 10.73.0.$2/24 dev eth0
		addr add fd73::$2/64 dev eth0 nodad
		addr add fe80::$2/64 dev eth0 nodad
		link set eth0 up
	END
}

# start [ARG...]: returns when its quarantine is over.
start() {
	s 1 bftmutexctl server start --key "$dir/server-1.key" --lease-max 5s "$@" >/dev/null &&
		wait_for 30 granting
}
stop() { s 1 bftmutexctl server stop >/dev/null; }
restart() { stop && start "$@"; }
# Is the quarantine over? If not, prints its rest.
granting() {
	local ns
	ns=$(show .quarantine_ns)
	[[ $ns == 0 ]] || { sleep "${ns}e-9" && return 1; }
}
show() { s 1 bftmutexctl server show --json | gojq -r "$1"; }
locks() { s 1 bftmutexctl locks --json | gojq -c "$1"; }
objects() { s 1 bftmutexctl objects --json | gojq -c "$1"; }

# shellcheck disable=SC2016
grown='$a[0].stats as $before | .stats as $after |
	($want | split(" ") | map(split("=")[0])) | map("\(.)=\($after[.] - $before[.])") | join(" ")'

# run DESC PROGRAM CASE {ADDRESS CLIENT}...: the case passes, and the server's counters are right.
run() {
	local desc=$1 program=$2 name=$3 args=() want status
	shift 3
	while (($#)); do
		args+=("$1" "$dir/client-$2.client")
		shift 2
	done
	show . >"$dir/before"
	c 1 "$program" 1 "$name" "${args[@]}" >"$dir/out" 2>"$dir/err"
	status=$?
	grep '^#' "$dir/out"
	want=$(grep '^received' "$dir/out")
	is "$desc" "$status $(<"$dir/err")" "0 "
	is "$desc: counters" "$(show . | gojq -r --slurpfile a "$dir/before" --arg want "$want" \
		"$grown")" "$want"
}

# Else a server's idle locks may be forgotten between a program and what is looked at after it.
preload bftmutexctl gojq grep
load || bail "module"
net || bail "network"
bftmutexctl keygen --dir "$dir" --cluster 9 --servers 1 --clients 50-57 >/dev/null || bail "keys"
