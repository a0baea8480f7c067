#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions about=module time=15
#
# A server's queue, its pushes and its fencing tokens, datagram by datagram.
# shellcheck disable=SC2154,SC2317,SC2086,SC2119  # set by, or called from, what is sourced
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/pair.sh
. "$(dirname "$0")/../../lib/pair.sh"

#
# The queue
#

start --token-floor 10 || bail "server"
run "tokens" tokens stamp $v4 50 $v4 51
is "bftmutexctl locks" "$(locks '.[] | select(.name == "stamped") | [.waiters, .token]')" '[0,"20"]'
for address in $v4 $v6 $local6; do
	run "$address: handed over at once" queue hand-over "$address" 50 "$address" 51 "$address" 52
done
run "one waits by IPv6, one by IPv4" queue hand-over $v4 50 $v6 51 $v4 52
run "one waits by IPv4, one by IPv6" queue hand-over $v6 50 $v4 51 $local6 52
run "a waiter moves" queue moved $v4 50 $v4 51 $v4 51
run "a waiter moves to IPv6" queue moved $v4 50 $v4 51 $v6 51
run "the end of a lease" queue expiry $v4 50 $v4 51 $v6 52
run "the end of a lease, as the clock is corrected" queue expiry-slewed $v4 50 $v4 51 $v6 52
run "INQUIRE and YIELD" queue yield $v4 50 $v4 51
run "NOQUEUE waits for the queue" queue no-queue $v4 50 $v4 51 $v4 52

#
# Memory of locks and tokens
#

forgotten() { [[ $(locks 'map(select(.name == "stamped")) | length') == 0 ]]; }
ok "an idle lock is forgotten" wait_for 30 forgotten
run "its tokens are not" tokens reclaimed $v4 50

#
# Limits
#

stop
s 1 bftmutexctl server start --key "$dir/server-1.key" --lease-max 1h >/dev/null
run "in the quarantine no word of tokens is taken" tokens too-early $v4 50
stop
rmmod bftmutex && load	# which remembers an hour of quarantine
ok "restart" start --max-waiters 2
cat >"$dir/rules" <<'END'
access { client = 50  prefix = "jobs/" }
access { client = 51  prefix = "secret/"  deny = yes }
access { client = 51 }
END
s 1 bftmutexctl server access set "$dir/rules" >/dev/null
run "nor from clients that may not take every lock" tokens of-some $v4 50 $v4 51
s 1 bftmutexctl server access set /dev/null >/dev/null
is "bftmutexctl server show" "$(show .token_floor)" null
run "after a restart no token is known" tokens recover $v4 50 $v4 51
ok "a token above the clock: the log says so" \
	grep -q "server 1: client 50 tells of fencing token .*, above the wall clock" <(dmesg)
is "bftmutexctl server show: what it has learned" "$(show .token_floor)" 70
run "two waiters at most" queue few-waiters $v4 50 $v4 51 $v4 52 $v4 53
ok "restart" restart --max-locks 64 --max-waiters 8
run "waiters of all locks" queue many-waiters $v4 50 $v4 51 $v4 52 $v4 53 $v4 54 $v4 55 $v4 56
# Waiting clients are forgotten soon.
figure "bftmutexctl locks: waiters" test "$(locks 'map(.waiters) | add')" = 161

#
# The end of a server
#

ok "stopped with waiters" stop
ok "restart" start
is "who waited is forgotten" "$(locks length)" 0
run "a new queue" queue hand-over $v4 50 $v6 51 $v4 52
finish
