#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions about=module time=13
#
# How answers leave a server: what is captured of a request stays what it was, nothing
# of how it came shows in how its answer goes, and it goes where the routes of this
# moment lead, whichever were in use a moment ago.
# shellcheck disable=SC2154,SC2317,SC2016  # set by, or called from, what is sourced; for awk
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/pair.sh
. "$(dirname "$0")/../../lib/pair.sh"

# answered ADDRESS: every kind of answer, as it must be.
answered() { c 1 raw 1 "$1" types "$dir/client-50.client" "$dir/client-51.client"; }

everywhere() {
	local address
	for address in "$v4" "$v6" $local6; do
		ok "$1, $address" answered "$address"
	done
}

start || bail "server"
everywhere "nothing special"

#
# Who else has the request
#

captured() {
	netns_exec bftm-s1 wiretap late "$1" >"$dir/tap" 2>&1 &
	pid=$!
	wait_for 10 grep -q listening "$dir/tap" || bail "$(<"$dir/tap")"
	everywhere "captured on $1"
	kill -TERM $pid
	wait $pid
	pid=
	is "captured on $1: requests came in and answers went out" \
		"$(sed -n 's/^in=[1-9][0-9]* out=[1-9][0-9]* //p' "$dir/tap")" "wrong=0"
}
captured eth0
captured any

#
# How it came
#

# Marked on its way in; what leaves with that mark is lost.
marked() {
	modprobe -aq sch_ingress cls_matchall act_skbedit cls_fw act_gact
	tc -n bftm-s1 qdisc add dev eth0 clsact &&
		tc -n bftm-s1 filter add dev eth0 ingress matchall action skbedit mark 7 &&
		tc -n bftm-s1 filter add dev eth0 egress handle 7 fw action drop
}
ok "requests are marked" marked
everywhere "marked on its way in"
ok "no more" tc -n bftm-s1 qdisc del dev eth0 clsact

#
# Where it goes
#

# asked ADDRESS [COMMAND...]: from the same port each time, so that a route to it is kept.
asked() { BFTMUTEX_PORT=7000 c 1 "${@:2}" raw 1 "$1" hold "$dir/client-50.client"; }

fragments() { s 1 awk '/^Ip: [0-9]/ { print $18 }' /proc/net/snmp; }
ok "answered" asked "$v4"
ok "a route for 100 bytes" ip -n bftm-s1 route replace 10.73.0.0/24 dev eth0 mtu lock 100
before=$(fragments)
ok "answered over it" asked "$v4"
ok "in fragments" test "$(fragments)" -gt "$before"
ok "a route for more" ip -n bftm-s1 route replace 10.73.0.0/24 dev eth0
before=$(fragments)
ok "answered over it" asked "$v4"
is "not in fragments" "$(fragments)" "$before"

# unsent ADDRESS BEFORE: more answers than before were not sent; a busy machine may not even
# have asked, and does so again
unsent() {
	(($(show .stats.send_failed) > $2)) && return
	asked "$1" timeout 2
	return 1
}

# closed ADDRESS WHERE
closed() {
	local before
	ok "answered" asked "$1"
	before=$(show .stats.send_failed)
	ok "no way to $2" ip -n bftm-s1 route add unreachable "$2"
	ok "no answer" ! asked "$1" timeout 2
	ok "since it cannot be sent" wait_for 20 unsent "$1" "$before"
	ok "a way again" ip -n bftm-s1 route del unreachable "$2"
	ok "an answer" asked "$1"
}
closed "$v4" 10.73.0.101/32
closed "$v6" fd73::101/128

#
# Devices and namespaces that go away while they are asked
#

churns=()
ask() {
	local address
	for address in "$v4" "$v6"; do
		netns_exec bftm-c1 churn 1 "$address" "$dir/client-52.client" "$dir/client-53.client" \
			>"$dir/churn" 2>&1 &
		churns+=($!)
	done
}
end_asking() {
	kill "${churns[@]}"
	wait "${churns[@]}"
	churns=()
}
# Granted is what was answered; without another program to start.
granted() { s 1 bftmutexctl server show --json | sed 's/.*"granted": *\([0-9]*\).*/\1/;t;d'; }
went_on() { (($(granted) > $1)); }

# Both ends go, and the kernel waits for whoever refers to one of them.
replug() {
	timeout 20 ip -n bftm-s1 link del eth0 &&
		ip link add eth0 netns bftm-s1 type veth peer name eth0 netns bftm-c1 &&
		host s1 1 && host c1 101
}
move() {
	timeout 20 ip -n bftm-s1 link set eth0 netns bftm-s2 &&
		timeout 20 ip -n bftm-s2 link set eth0 netns bftm-s1 && host s1 1
}

more() { wait_for 20 went_on "$(granted)"; }

# over_and_over COMMAND: between requests that are answered
over_and_over() {
	local i
	ask
	for ((i = 0; i < 3; i++)); do
		more && "$@" || return
	done
	more && end_asking
}
ok "a device is removed, and there again" over_and_over replug
everywhere "then"
ip netns add bftm-s2
ok "a device moves to another namespace and back" over_and_over move
everywhere "then"
ip netns delete bftm-s2

ask
ok "they ask" more
ok "the namespace is deleted" ip netns delete bftm-s1
end_asking
ok "unloaded" wait_for 10 rmmod bftmutex
ok "what was created was destroyed" log_is_clean
finish
