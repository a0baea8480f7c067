#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm kernels=6.1,6.12,6.12-debug clock=instructions about=module time=13
#
# A server's objects, datagram by datagram.
#
#
# shellcheck disable=SC2154,SC2317,SC2086  # set by, or called from, what is sourced
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/pair.sh
. "$(dirname "$0")/../../lib/pair.sh"

everything() { show '[.objects, .object_memory_used, .clients]' && objects 'sort_by(.name)'; }
eight="$v4 50 $v4 51 $v4 52 $v4 53 $v6 54 $v6 55 $v6 56 $v4 57"

tracing=/sys/kernel/tracing
mount -t tracefs tracefs $tracing 2>/dev/null
echo 1 >$tracing/events/bftmutex/bftm_order/enable || bail "no tracepoint"

start --token-floor 0 || bail "server"
is "the first start forgot nothing" "$(show '[.recovering, .objects, .object_memory_used]')" \
	"$(printf '[\n  false,\n  0,\n  0\n]')"

#
# Datagrams that are not valid change nothing
#

run "one of each that there is" order_server_form replays $v4 50
run "other clients are known" order_server_form replays $v4 51
everything >"$dir/nothing"
slab() { awk '$1 == "SUnreclaim:" { print $2 }' /proc/meminfo; }
for case in lengths flips forms; do
	run "$case" order_server_form $case $v4 50
done
run "not for it, or not by whom it says" order_server_form strangers $v4 50 $v4 51
before=$(slab)
run "very many strangers" order_server_form flood $v4 50
is "nothing changed" "$(everything)" "$(<"$dir/nothing")"
grown_kb=$(($(slab) - before))
# Checkers keep freed memory for a while, and half a kB about each allocated object.
most_kb=1024
[[ ! -e /sys/kernel/debug/kmemleak ]] || most_kb=2048
ok "and no memory was taken: $grown_kb kB" test $grown_kb -lt $most_kb

#
# The protocol
#

run "from SUBMIT to RESPONSE" order_server story $v4 50 $v6 51
is "bftmutexctl objects" \
	"$(objects '.[] | [.version, .proposed_version, .rank_count, .rank_client, .pending,
		.recovering, (.digest | length)]')" '[1,1,"2",51,0,false,64]'
fired() { grep -qE " bftm_order: netns=[0-9]+ server=1 name=o[0-9]+ client=5[01] $1" $tracing/trace; }
ok "tracepoint: a promise" fired "type=0x11 reply=0x92 rank=1 .* changed=0x1 "
ok "tracepoint: a commit" fired "type=0x13 reply=0x95 rank=1 op=0 version=1 changed=0x6 "
run "every message, to an object in every state" order_server matrix $v4 50 $v4 51
run "a list, page by page" order_server list $v4 50
s 1 bftmutexctl server access set <(echo 'access { client = 50  prefix = "l02" }') >/dev/null
run "a list, as far as the client may use it" order_server list_some $v4 50
s 1 bftmutexctl server access set /dev/null >/dev/null
run "pieces" order_server_body pieces $v4 50 $v6 51
run "the same operation of two clients" order_server_body same $v4 50 $v6 51
run "digests" order_server_body digest $v4 50
run "a long response" order_server_body response $v4 50 $v6 51
run "many clients wait" order_server_body crowd $eight
run "many bodies arrive" order_server_room arrivals $eight

# Datagrams in pieces, and under tcpdump's eyes.
ip -n bftm-c1 route replace 10.73.0.0/24 dev eth0 mtu lock 100
run "fragments" order_server_body pieces $v4 50 $v4 51
ip -n bftm-c1 route replace 10.73.0.0/24 dev eth0
netns_exec bftm-s1 tcpdump -i any -w /dev/null 2>"$dir/tcpdump" &
pid=$!
wait_for 10 grep -q listening "$dir/tcpdump" || bail "$(<"$dir/tcpdump")"
run "captured" order_server_body pieces $v4 50 $v4 51
kill -TERM $pid
wait $pid
pid=

finish
