#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: part
#
# For the script capture, in its VM: what server 1 received and sent, as a capture, and its counters
# before and after. Both go to the host, where tshark is thirty times faster.
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 (captured), -s2, -s3    n = 3, b = 0
#
# shellcheck disable=SC2016,SC2317,SC2119,SC2154
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../lib/cluster.sh"

vectors=$top/selftests/core/vectors/vectors.txt
work=/run/share
cleanup() {
	[[ -z ${tcpdump:-} ]] || kill "$tcpdump" 2>/dev/null
	down
}

load || bail "module"
up --servers 3 -b 0 --clients 2 --lease-max 3s || bail "no cluster"

# Nothing arrives while the server's counters are read.
clients_are() { c 1 ip link set eth0 "$1" && c 2 ip link set eth0 "$1"; }
counters() { s 1 bftmutexctl server show --json | gojq .stats; }
clients_are down
s 1 tcpdump -i eth0 --immediate-mode -U -w /run/pcap udp port 7373 2>"$work/words" &
tcpdump=$!
wait_for 20 grep -q "listening on" "$work/words" || bail "no tcpdump: $(<"$work/words")"
counters >$work/before
clients_are up
usable() { c 1 bftmutexctl check >/dev/null; }
wait_for 20 usable || bail "the cluster does not come back"

# stranger BYTES: a datagram of these hexadecimal digits to the server
stranger() { c 1 bash -c 'printf "$(sed "s/../\\\\x&/g" <<<"$1")" >/dev/udp/10.73.0.1/7373' - "$1"; }
for n in 1 2 3; do c 1 bftmutex "name $n" true; done
c 2 bftmutex --fence fenced true
c 1 bftmutex contended sleep 2 &
sleeper=$!
held() { c 1 bftmutexctl holders | grep -q '^held .* contended$'; }
wait_for 20 held
c 2 bftmutex -n contended true
c 2 bftmutex contended true
wait $sleeper
c 1 bftmutexctl object create counter counter >/dev/null
c 1 bftmutexctl object submit counter "add 5" >/dev/null
# Of another cluster; cut; of version 1; of this cluster and a client of it with a wrong tag.
client=$(sed -n 's/^[^#]*client = \([0-9]*\).*/\1/p' "$dev"/keys/*.client | head -n 1)
try=$(sed -n '/^TRY (/{n;p}' "$vectors")
stranger "$try"
stranger "${try:0:160}"
stranger "01${try:2}"
stranger "${try:0:4}0100$(printf '%02x000000' 73)${try:16:16}$(printf '%02x000000' "$client")${try:40}"
heard_all() { [[ $(s 1 bftmutexctl server show --json | gojq '.stats.bad_tag') -gt $(gojq .bad_tag "$work/before") ]]; }
wait_for 20 heard_all
clients_are down
counters >$work/after
grew() { echo $(($(gojq ".$1" "$work/after") - $(gojq ".$1" "$work/before"))); }
captured() { tcpdump -n -r /run/pcap 'dst port 7373' 2>/dev/null | wc -l; }
captured_all() { (($(captured) >= $(grew received))); }
ok "all is captured" wait_for 20 captured_all
kill $tcpdump
wait $tcpdump 2>/dev/null
tcpdump=
cat /run/pcap >$work/pcap
cat "$dev/keys/client-1.client" >$work/client-1
cat "$dev/keys/client-2.client" >$work/client-2
finish
