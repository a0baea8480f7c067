#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm tier=all kernels=6.1 alone mem=768 time=60
#
# What a server counts is what tshark counts in a capture of its datagrams, by the dissector: each
# kind of answer, wrong forms, wrong tags.
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 (captured), -s2, -s3    n = 3, b = 0
#
# shellcheck disable=SC2016,SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../lib/cluster.sh"

command -v tshark >/dev/null || skip_all "no tshark: apt-get install tshark, or selftests/deps --for all"

dissector=$top/helper/integrations/wireshark/bftmutex.lua
vectors=$top/selftests/core/vectors/vectors.txt
work=/run/captured-at-s1
mkdir -p $work
cleanup() {
	[[ -z ${tcpdump:-} ]] || kill "$tcpdump" 2>/dev/null
	down
}

load || bail "module"
up --servers 3 -b 0 --clients 2 --lease-max 3s || bail "no cluster"

# Nothing arrives while the server's counters are read.
card=$(s 1 ip -o route get 10.73.0.101 | sed -n 's/.* dev \([^ ]*\) .*/\1/p')
link() { s 1 ip link set "$card" "$1"; }
counters() { s 1 bftmutexctl server show --json | gojq .stats; }
link down
s 1 tcpdump -i "$card" --immediate-mode -U -w $work/pcap udp port 7373 2>$work/words &
tcpdump=$!
wait_for 20 grep -q "listening on" $work/words || bail "no tcpdump: $(<$work/words)"
counters >$work/before
link up
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
link down
counters >$work/after
grew() { echo $(($(gojq ".$1" $work/after) - $(gojq ".$1" $work/before))); }
captured() { tcpdump -n -r $work/pcap 'dst port 7373' 2>/dev/null | wc -l; }
captured_all() { (($(captured) >= $(grew received))); }
ok "all is captured" wait_for 20 captured_all
kill $tcpdump
wait $tcpdump 2>/dev/null
tcpdump=

tshark_reads() { tshark -n -X "lua_script:$dissector" -r $work/pcap "$@" 2>$work/words; }
keys=$(printf '%s\n' "$dev"/keys/*.client | paste -sd,)
tshark_reads -o "bftmutex.keys:$keys" -T fields -e bftmutex.type -e bftmutex.position -e bftmutex.seq \
	-e bftmutex.wrong_form -e bftmutex.other_version -e bftmutex.tag_right -e bftmutex.cluster \
	-Y bftmutex >$work/fields
ok "tshark says nothing of errors" test -z "$(grep -v 'Running as user' $work/words)" || diag "$(<$work/words)"

# of_type TYPE [CONDITION]: so many of this type, in columns as above
of_type() { awk -F '\t' -v type="$1" "\$1 == type && ${2:-1} { n++ } END { print n + 0 }" $work/fields; }
pushed='$3 == "0x0000000000000000"'
is "datagrams to the server" "$(captured)" "$(grew received)"
is "FREE as answers" "$(of_type 0x82 "!($pushed)")" $(($(grew granted) + $(grew refreshed)))
is "pushes" "$(($(of_type 0x82 "$pushed") + $(of_type 0x90 "$pushed")))" "$(grew pushed)"
is "INQUIRE" "$(of_type 0x87)" "$(grew inquired)"
is "LOCKED" "$(of_type 0x83)" "$(grew locked)"
is "WAIT in the queue" "$(of_type 0x84 '$2 > 0')" "$(grew queued)"
is "RELEASED" "$(of_type 0x85)" "$(grew released)"
is "CHALLENGE" "$(of_type 0x81)" "$(grew challenged)"
is "STALE" "$(of_type 0x80)" "$(grew stale)"
is "SACK" "$(of_type 0x88)" "$(grew stamped)"
is "GOT" "$(of_type 0x92)" "$(grew got)"
is "PROPOSED" "$(of_type 0x94)" "$(grew proposed)"
is "wrong forms" "$(awk -F '\t' '$4 != ""' $work/fields | wc -l)" "$(grew bad_form)"
is "of other versions" "$(awk -F '\t' '$5 != ""' $work/fields | wc -l)" "$(grew bad_version)"
is "wrong tags" "$(awk -F '\t' '$6 ~ /^(0|False)$/' $work/fields | wc -l)" "$(grew bad_tag)"
is "right ones" "$(awk -F '\t' '$6 ~ /^(1|True)$/' $work/fields | wc -l)" \
	$(($(wc -l <$work/fields) - $(grew bad_version) - $(grew bad_form) - $(grew bad_tag) - $(grew bad_address)))
is "of another cluster" "$(awk -F '\t' '$4 == "" && $7 != "" && $7 != 73' $work/fields | wc -l)" "$(grew bad_address)"
ok "some of each" test "$(grew released)" -ge 5 -a "$(grew stamped)" -ge 1 -a "$(grew proposed)" -ge 1 -a \
	"$(grew queued)" -ge 1
finish
