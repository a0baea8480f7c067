#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=20
#
# Objects are listed while they come and change, and servers stop under traffic.
# shellcheck disable=SC2154,SC2317,SC2086  # set by, or called from, what is sourced
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/pair.sh
. "$(dirname "$0")/../../lib/pair.sh"

start --token-floor 0 || bail "server"
run "an object that stays" order_server story $v4 50 $v6 51
# Not by c: $! is to be the program, not a shell that waits for it.
netns_exec bftm-c1 order_server_churn 1 $v4 "$dir/client-52.client" >"$dir/rounds" &
pid=$!
rounds() { (($(wc -l <"$dir/rounds") >= $1)); }

# Each list is complete, has each object once at most, and always the one that stays.
list() {
	objects '[([.[] | .name] | unique | length) == length,
		any(.[]; .name | test("^o[0-9]+$")), all(.[]; .digest == null or .version > 0)]'
}
wait_for 60 rounds 1 || bail "no traffic"
bad=0 lists=0
until rounds 4 && ((lists >= 10)); do
	[[ $(list) == '[true,true,true]' ]] || bad=$((bad + 1))
	lists=$((lists + 1))
done
is "$lists lists while objects change, bad ones" $bad 0

start_again() {
	s 1 bftmutexctl server start --key "$dir/server-1.key" --token-floor 0 --lease-max 5s \
		>/dev/null
}
seen() { (($(show .stats.received) > 0)); }
count=10
failed=0
for ((i = 0; i < count; i++)); do
	stop && start_again && wait_for 10 seen || failed=$((failed + 1))
done
is "$count times stopped and started under traffic, failures" $failed 0
before=$(wc -l <"$dir/rounds")
ok "and objects are there again" wait_for 60 rounds $((before + 2))
ok "stopped for good" stop
kill $pid
wait $pid 2>/dev/null
pid=
ok "the namespace goes with a server" start_again
ip netns delete bftm-s1
ok "the module goes" wait_for 10 rmmod bftmutex
finish
