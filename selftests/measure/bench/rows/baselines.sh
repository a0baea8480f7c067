#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Round trips that compute nothing, and the locks of Redis and etcd.
# shellcheck disable=SC2154  # variables of lib.sh
# shellcheck source=selftests/measure/bench/lib.sh
. "$(dirname "$0")/../lib.sh"

cluster 7 1 || bail "no cluster"
mapfile -t all < <(addresses 1 7)
at sysctl -q net.ipv4.ping_group_range="0 2147483647"
row "ICMP echo" at round_trip icmp icmp 2000 "${all[0]}"

for u in {1..7}; do
	daemon "$u" round_trip serve "10.73.0.$u"
done
answers() { at round_trip udp warm 1 96 7 "${all[@]}"; }
wait_for 10 answers
row "UDP echo, one server" at round_trip udp udp 2000 96 1 "${all[0]}"
row "UDP echo, 7 sent, 6 awaited" at round_trip udp fanout 1000 96 6 "${all[@]}"
row "UDP echo, 7 sent, 6 awaited, of the length of ours" at round_trip udp fanout160 1000 160 6 "${all[@]}"
row "UDP echo, 4 sent, 3 awaited" at round_trip udp fanout4 1000 96 3 "${all[@]:0:4}"
leave_cluster 7 1
finish
