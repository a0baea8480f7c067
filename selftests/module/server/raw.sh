#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm kernels=6.1,6.12 clock=instructions about=module time=20
#
# A server and datagrams of every kind: right ones are answered as they must be,
# all others are counted and otherwise as if they had never come.
#
#
#	bftm-c1 10.73.0.101 ---- bridge ---- bftm-s1 10.73.0.1
#	  (raw, clients 50 to 52)       `--- bftm-s2 10.73.0.2, small tables
#
# Functions are called by name, load may have no arguments, variables are shared
# with the libraries, single quotes are for gojq, awk and other shells.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034,SC2016
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

keys=$dev/keys
lease_max=5s
# With checkers, or on an emulated machine with a real clock, a thousand datagrams may take longer.
[[ $(uname -r) != *-bftmutex-* && $(uname -m) == x86_64 ]] || lease_max=30s

cleanup() {
	[[ -z ${tcpdump:-} ]] || kill "$tcpdump" 2>/dev/null
	kill -CONT "$(cat "$dev/c1/pid")" 2>/dev/null
	down
}

# raw SERVER COMMAND CLIENT...
raw() {
	local server=$1 command=$2 list=()
	shift 2
	for n; do
		list+=("$keys/client-$n.client")
	done
	c 1 raw "$server" "10.73.0.$server" "$command" "${list[@]}"
}

# The lock that raw held last is still its own, and locks it did not get are not
# there. Idle times and counters are left out, and the last number of client 50,
# who speaks.
filter='
def state: {
	locks: [.[0][] | del(.remaining_ns) |
		select(.name == $held or (.name | test("^([ht][0-9]|limit-0$)") | not))],
	clients: .[1] | map(select(.id != 50) | { id, last_seq }) | sort_by(.id),
	server: .[2] | { epoch, clients, lease_max_ns }
};
def grown: $a[2].stats as $before | .[2].stats as $after |
	"received bad_form bad_version bad_address bad_tag replayed challenged stale granted " +
	"refreshed locked waited released refused silent" | split(" ") |
	map("\(.)=\($after[.] - $before[.])") | join(" ");
$b | grown, ($a | state), state'

snapshot() {
	s 1 sh -c 'for what in locks clients "server show"; do bftmutexctl $what --json; done'
}

# provoke DESC COMMAND CLIENT...: raw says that nothing was answered, the
# counters grow by what it tells, nothing else changes.
provoke() {
	local desc=$1 held want status lines
	shift
	held=$(raw 1 hold 51) || bail "no lock can be had"
	held=${held%% *}
	snapshot >"$dev/before"
	want=$(raw 1 "$@" 2>"$dev/err")
	status=$?
	snapshot >"$dev/after"
	is "$desc: answers" "$status $(<"$dev/err")" "0 "
	mapfile -t lines < <(gojq -rcn --arg held "$held" --slurpfile a "$dev/before" \
		--slurpfile b "$dev/after" "$filter")
	is "$desc: counters" "${lines[0]}" "$want"
	[[ $1 == types ]] || is "$desc: nothing else changed" "${lines[2]}" "${lines[1]}"
}

all() {
	provoke "$1right ones" types 50 52
	provoke "$1one bit wrong" flips 50
	[[ $1 ]] || provoke "wrong length" lengths 50
	provoke "$1not for it, or not by whom it says" strangers 50 51
	[[ $1 ]] || provoke "replayed" replays 50
}

load || bail "module"
bftmutexctl dev up --servers 2 -b 0 --clients 1 --lease-max $lease_max >/dev/null ||
	bail "no cluster"
bftmutexctl keygen --dir "$keys" --clients 50-52 >/dev/null || bail "no keys"
# It would say hello in between, and be one client more.
kill -STOP "$(cat "$dev/c1/pid")"

s 2 bftmutexctl server stop >/dev/null
s 2 bftmutexctl server start --key "$keys/server-2.key" --lease-max $lease_max \
	--max-clients 2 --max-locks 64 >/dev/null || bail "no small server"
(raw 2 quarantine 50 && raw 2 limits 50 51 52) >"$dev/limits" 2>&1 &
limits=$!

ok "quarantine: WAIT, then FREE" raw 1 quarantine 51
all ""

netns_exec bftm-s1 tcpdump --immediate-mode -i any -w /dev/null 2>"$dev/tcpdump" &
tcpdump=$!
wait_for 10 grep -q listening "$dev/tcpdump" || bail "$(<"$dev/tcpdump")"
all "captured: "
kill -TERM $tcpdump
wait $tcpdump
tcpdump=
ok "tcpdump has seen it" grep -q '^[1-9][0-9][0-9]* packets captured' "$dev/tcpdump"

# Requests in three pieces each.
ip -n bftm-c1 route replace 10.73.0.0/24 dev eth0 mtu lock 100
provoke "in fragments" types 50 52
is "fragments were put together" "$(s 1 awk '/^Ip: [0-9]/ { print ($16 > 0) }' /proc/net/snmp)" 1
ip -n bftm-c1 route replace 10.73.0.0/24 dev eth0

# Bytes of the slabs for locks with short names, which the kernel may use for others too.
slab() { awk '{ print $1 * 4096 }' /sys/kernel/slab/bftm_lock/slabs; }
before=$(slab)
ok "10,000 locks" raw 1 many 50
grown=$((($(slab) - before) / 10000))
figure "bytes a lock, with the slab that is not full: $grown" \
	test $grown -ge 176 -a $grown -le 192

wait $limits
is "full tables: the newcomer is refused, others go on, room comes back" \
	"$? $(grep -v '=' "$dev/limits")" "0 "
is "no answer could not be sent" \
	"$(s 1 bftmutexctl server show --json | gojq .stats.send_failed)" 0
finish
