#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The same as in the rows server and acquire, of servers that take requests before IP, and of a client
# that takes answers so.
# shellcheck disable=SC2154  # variables of lib.sh
# shellcheck source=selftests/measure/bench/lib.sh
. "$(dirname "$0")/../lib.sh"

# before_ip N: server N anew, with its hook
before_ip() {
	ip netns exec "bftm-s$1" bftmutexctl server stop >/dev/null &&
		ip netns exec "bftm-s$1" bftmutexctl server start --key "$dev/keys/server-$1.key" \
			--lease-max 6s --ingress eth0 >/dev/null
}
all_before_ip() {
	local u
	for ((u = 1; u <= $1; u++)); do
		before_ip "$u" || return
	done
	# After the quarantine.
	wait_for 60 at bftmutex -w 60 before-ip true
}
# client_before_ip: the client as well, which asks the lock's servers first, as is the default
client_before_ip() {
	configure ask auto && configure ingress br0 &&
		at sysctl -q net.ipv4.ping_group_range="0 2147483647"
}
answers_taken() { at bftmutexctl stats --json | gojq .local.ingress; }

taken() { ip netns exec bftm-s1 bftmutexctl server show --json | gojq .stats.ingress; }

cluster 7 1 || bail "no cluster"
ok "servers before IP, n = 7" all_before_ip 7
row "acquire before IP, n = 7, b = 1" at acquire ingress_acquire 300
ok "client before IP, n = 7" client_before_ip
row "acquire and answers before IP, n = 7, b = 1, ask = auto" at acquire before_ip 300 10.73.0.7
ok "answers were taken there" test "$(answers_taken)" -gt 1500
end_cluster
cluster 4 1 || bail "no cluster"
ok "servers before IP, n = 4" all_before_ip 4
row "acquire before IP, n = 4, b = 1" at acquire ingress_acquire4 300
ok "client before IP, n = 4" client_before_ip
row "acquire and answers before IP, n = 4, b = 1, ask = auto" at acquire before_ip4 300 10.73.0.4
# The rows that follow are of another program.
ok "client through IP" configure ingress none
new_client 300
row "one server's try before IP" at try ingress_try 1000 1 10.73.0.1 "$keys"
new_client 301
row "bursts: before IP" at batch ingress 100 1 10.73.0.1 "$keys"
ok "they were taken there" test "$(taken)" -gt 7000

# The cost of the hook for other packets.
at sysctl -q net.ipv4.ping_group_range="0 2147483647"
daemon 1 round_trip serve 10.73.0.1
answers() { at round_trip udp warm 1 96 1 10.73.0.1; }
wait_for 10 answers
row "ICMP echo past the hook" at round_trip icmp ingress_icmp 2000 10.73.0.1
row "UDP echo past the hook" at round_trip udp ingress_udp 2000 96 1 10.73.0.1
finish
