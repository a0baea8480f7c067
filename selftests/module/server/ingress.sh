#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm kernels=6.1 clock=instructions about=module time=30
# check: vm name=ingress-newer tier=all kernels=6.12 clock=instructions about=module time=70
#
# A server takes requests at a device before IP. Odd frames go through IP, as if there were no
# hook; and the hook goes with device, server and namespace.
#
#	bftm-c1  near 10.9.0.2, fd09::2 ------ far 10.9.0.1, fd09::1  bftm-s1
#	   `---- eth0 10.73.0.101 ---- bridge ---- eth0 10.73.0.1 -------'
#
# Functions are called by name, single quotes are for gojq, variables are shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034,SC2016
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

keys=$dev/keys
# The port that "frames" sends from, so that no ICMP refuses the answers.
export BFTMUTEX_PORT=40000

cleanup() {
	stop_load
	kill -CONT "$(cat "$dev/c1/pid")" 2>/dev/null
	ip netns delete bftm-gone 2>/dev/null
	down
}

start() { # ARG...
	s 1 bftmutexctl server start --key "$keys/server-1.key" --lease-max 1s "$@"
}
restart() {
	s 1 bftmutexctl server stop >/dev/null
	start "$@" >/dev/null
}
show() { s 1 bftmutexctl server show --json | gojq -r "$1"; }
taken() { show .stats.ingress; }

# link: both ends, with their addresses
link() {
	ip -n bftm-c1 link add near type veth peer name far netns bftm-s1 &&
		ip -n bftm-c1 addr add 10.9.0.2/24 dev near &&
		ip -n bftm-c1 addr add fd09::2/64 dev near nodad &&
		ip -n bftm-s1 addr add 10.9.0.1/24 brd 10.9.0.255 dev far &&
		ip -n bftm-s1 addr add fd09::1/64 dev far nodad &&
		ip -n bftm-c1 link set near up && ip -n bftm-s1 link set far up &&
		mac=$(ip -n bftm-s1 -j link show far | gojq -r '.[0].address')
}

# frames FAMILY ARG...
frames() {
	local ends=(10.9.0.1 10.9.0.2)
	[[ $1 != 6 ]] || ends=(fd09::1 fd09::2)
	# Enough for those that are answered at all.
	c 1 timeout "${patience:-60}" frames near "$mac" "${ends[@]}" "$keys/client-50.client" "${@:2}"
}

# fares FAMILY CASE ANSWERED INGRESS: so many of it, and of the right one behind it, are taken
fares() {
	local before said
	before=$(taken)
	said=$(frames "$1" "$2" 2>&1)
	is "IPv$1, $2: answered, and taken at the device" "$said, $(($(taken) - before))" "$2 $3, $4"
}

# through_ip WHY COMMAND...: COMMAND succeeds, and the device hands nothing over
through_ip() {
	local before
	before=$(taken)
	ok "$1: answered" "${@:2}"
	is "$1: through IP" "$(($(taken) - before))" 0
}
at_device() {
	local before
	before=$(taken)
	ok "$1: answered" "${@:2}"
	ok "$1: at the device" test "$(taken)" -gt "$before"
}
both() { [[ $(frames 4 plain) == "plain yes" && $(frames 6 plain) == "plain yes" ]]; }
soon() { patience=2 both; }
silent() { ! patience=1 frames 4 plain; }
by_socket() { c 1 env BFTMUTEX_PORT=0 raw 1 "$1" replays "$keys/client-51.client"; }

# start_load: requests without end, of another client
start_load() {
	c 1 env BFTMUTEX_PORT=40001 frames near "$mac" 10.9.0.1 10.9.0.2 "$keys/client-51.client" load \
		>/dev/null 2>&1 &
	load=$!
	disown
	wait_for 10 grown
}
grown() { [[ $(show .stats.received) -gt 0 ]]; }
stop_load() {
	[[ ! ${load-} ]] || { pkill -P "$load"; kill "$load"; } 2>/dev/null
	load=
}

load || bail "module"
ip link add red type vrf table 10 && ip link del red
bftmutexctl dev up --servers 1 -b 0 --clients 1 --lease-max 1s >/dev/null || bail "no cluster"
bftmutexctl keygen --dir "$keys" --clients 50-51 >/dev/null || bail "no keys"
ok "a link" link || bail "no link"
kill -STOP "$(cat "$dev/c1/pid")"

s 1 bftmutexctl server stop >/dev/null
ok "a device that is not there" says 69 "'nowhere': this network namespace has no such device" \
	start --ingress nowhere
ok "one that is not of Ethernet" says 65 "only a device of Ethernet" start --ingress lo
ok "nothing was started" ! s 1 bftmutexctl server show
ok "start" start --ingress far
is "shown" "$(show .ingress)" far
number=$(show .cluster)
load=

spoilt=2000
! short || spoilt=300
for family in 4 6; do
	fares $family plain yes 2
	fares $family options yes 1
	fares $family ttl yes 1
	fares $family bad-sum no 1
	fares $family padded yes 1
	fares $family to-all no 1
	fares $family from-all yes 1
	fares $family to-other no 1
	fares $family from-many no 1
	fares $family from-server no 1
	fares $family port-0 no 1
	fares $family longer no 2
	ok "IPv$family, random bits: no answer that is wrong" frames $family spoilt $spoilt
done
fares 4 evil yes 1
fares 4 no-sum yes 1
fares 4 bad-ip-sum no 1
fares 4 fragment no 1
fares 6 no-sum no 1

at_device "a program's datagrams" by_socket 10.9.0.1
at_device "of IPv6" by_socket fd09::1
through_ip "by another device" by_socket 10.73.0.1
ip -n bftm-c1 route add 10.73.0.1 via 10.9.0.1 dev near
through_ip "to another device's address" by_socket 10.73.0.1
ip -n bftm-c1 route del 10.73.0.1 via 10.9.0.1 dev near

for end in c1:near:2 s1:far:1; do
	IFS=: read -r netns name n <<<"$end"
	ip -n "bftm-$netns" link add link "$name" name tagged type vlan id 5
	ip -n "bftm-$netns" addr add "10.9.5.$n/24" dev tagged
	ip -n "bftm-$netns" link set tagged up
done
through_ip "with a VLAN's tag" by_socket 10.9.5.1
ip -n bftm-c1 link del tagged
ip -n bftm-s1 link del tagged

s 1 ip xfrm policy add src 192.0.2.1/32 dst 192.0.2.2/32 dir out
through_ip "where there are policies of IPsec" both
s 1 ip xfrm policy flush
at_device "and after them" both

if s 1 tc qdisc add dev far clsact 2>/dev/null; then
	s 1 tc filter add dev far ingress matchall action skbedit mark 7
	through_ip "with a mark" both
	s 1 tc filter del dev far ingress
	s 1 tc filter add dev far ingress matchall action drop
	before=$(show .stats.received)
	ok "dropped by tc before" silent
	is "and never seen" "$(show .stats.received)" "$before"
	s 1 tc qdisc del dev far clsact
else
	skip "marks" "no clsact in this kernel"
fi

s 1 wiretap late any >"$dev/tapped" &
wait_for 10 grep -q listening "$dev/tapped"
through_ip "while a program captures" both
pkill wiretap
at_device "and later" both

if s 1 ip link add red type vrf table 10 2>/dev/null; then
	s 1 ip link set red up
	s 1 ip link set far master red
	s 1 sysctl -qw net.ipv4.udp_l3mdev_accept=1
	through_ip "in a VRF" by_socket 10.9.0.1
	s 1 ip link del red
	s 1 ip addr add fd09::1/64 dev far nodad 2>/dev/null
	wait_for 10 soon
fi

if s 1 ip link add link far name upper type macvlan mode bridge 2>/dev/null; then
	s 1 ip link set upper up
	through_ip "below a macvlan" both
	s 1 ip link del upper
	at_device "and after it" both
else
	skip "below a macvlan" "this kernel has none"
fi

# Addresses, device, server and namespace end while requests arrive.
start_load
ip -n bftm-s1 addr del 10.9.0.1/24 dev far
ok "without its address: no answer" silent
ip -n bftm-s1 addr add 10.9.0.1/24 brd 10.9.0.255 dev far
ip -n bftm-s1 link set far down
ip -n bftm-s1 link set far up
ip -n bftm-s1 addr add fd09::1/64 dev far nodad 2>/dev/null
at_device "down, and up again" wait_for 10 soon
ip -n bftm-s1 link set far down
ip -n bftm-s1 link set far name else
ip -n bftm-s1 link set else up
is "under another name" "$(show .ingress)" else
stop_load
start_load
ok "stop and start" restart --ingress else
ok "stop, and start without it" restart --ingress none
is "none" "$(show .ingress)" null
is "nor does it take any" "$(wait_for 10 grown && taken)" 0
ok "with it again" restart --ingress else
ip -n bftm-c1 link del near
is "the device goes" "$(show .ingress)" null
stop_load
through_ip "without it" by_socket 10.73.0.1

# Its place is taken by the next device of that name, and of Ethernet.
dmesg -c >/dev/null
ip -n bftm-s1 link set lo down
ok "another device gets that name" ip -n bftm-s1 link set lo name else
ok "it is not of Ethernet, says the kernel's log" grep -q \
	"server 1: its device else is there, but takes no hook (error -22): all datagrams come through IP" <(dmesg)
is "and has no hook" "$(show .ingress)" null
ip -n bftm-s1 link set else name lo
ip -n bftm-s1 link set lo up
ok "another link" link
is "has another name" "$(show .ingress)" null
ip -n bftm-s1 link set far down
ip -n bftm-s1 link set far name else
ip -n bftm-s1 link set else up
ip -n bftm-s1 addr add fd09::1/64 dev else nodad
is "now it has that name" "$(show .ingress)" else
ok "says the kernel's log" grep -q \
	"server 1: its device else is there, from now on datagrams come before IP" <(dmesg)
at_device "and hands requests over" both
ok "stop" s 1 bftmutexctl server stop
ip -n bftm-c1 link del near
ok "no server: nothing waits for the device" link
ip -n bftm-c1 link del near

ok "another link" link
cat >"$dev/conf" <<END
cluster dev {
	id = $number
	b = 0
	credentials = $keys/client-50.client
	server 1 { address = 10.73.0.1  ingress = far }
}
END
ok "by the configuration" start --config "$dev/conf"
is "shown" "$(show .ingress)" far
start_load
ip netns add bftm-gone
ip -n bftm-s1 link set far netns bftm-gone
is "the device moves to another namespace" "$(show .ingress)" null
stop_load
insmod "$(dirname "$BFTMUTEX_KO")/stall/stall.ko" || bail "no stall.ko"
echo 1 >/sys/module/stall/parameters/forked
rmmod stall
is "the machine is cloned without it" "$(show .ingress)" null
ip -n bftm-gone link set far netns bftm-s1
is "and comes back" "$(show .ingress)" far
ip -n bftm-s1 link set far name old
is "it has another name" "$(show .ingress)" old
ip -n bftm-s1 link add far type dummy
is "another device has the name of the first" "$(show .ingress)" far
ip -n bftm-s1 link set old name older
is "and keeps the hook" "$(show .ingress)" far
ip -n bftm-s1 link set far name other
ip -n bftm-s1 link set older name far
is "names are exchanged" "$(show .ingress)" far
ip -n bftm-s1 link set far name old
is "once more another name" "$(show .ingress)" old
ip -n bftm-s1 link del other
ip -n bftm-s1 link set old name far
ip -n bftm-s1 addr add 10.9.0.1/24 brd 10.9.0.255 dev far
ip -n bftm-s1 addr add fd09::1/64 dev far nodad
ip -n bftm-s1 link set far up
at_device "and hands requests over" both
ip -n bftm-c1 link del near

# A namespace ends with server, device and requests.
ok "one more link" link
s 1 bftmutexctl server stop >/dev/null
ip -n bftm-s1 link set far netns bftm-gone
ip -n bftm-gone addr add 10.9.0.1/24 brd 10.9.0.255 dev far
ip -n bftm-gone link set far up
ok "a server in a namespace" netns_exec bftm-gone bftmutexctl server start --key "$keys/server-1.key" \
	--lease-max 1s --ingress far
there() { netns_exec bftm-gone bftmutexctl server show --json | gojq "$1"; }
grown() { [[ $(there .stats.received) -gt 0 ]]; }
start_load
taken_there() { [[ $(there .stats.ingress) -gt 0 ]]; }
ok "takes requests" wait_for 10 taken_there
ip netns delete bftm-gone
gone_there() { ! ip -n bftm-c1 link show near >/dev/null 2>&1; }
ok "the namespace goes" wait_for 20 gone_there
stop_load
finish
