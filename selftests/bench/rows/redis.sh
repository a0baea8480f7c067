#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The locks of Redis: one server, and Redlock over five.
# shellcheck disable=SC2154  # variables of lib.sh
# shellcheck source=selftests/bench/lib.sh
. "$(dirname "$0")/../lib.sh"

cluster 7 1 || bail "no cluster"
mapfile -t all < <(addresses 1 5)
for u in {1..5}; do
	daemon "$u" redis-server --bind "10.73.0.$u" --save "" --appendonly no --dir "$work" \
		--protected-mode no
done
for u in {1..5}; do
	wait_for 30 grep -q "Ready to accept" "$work/redis-server-$u.log" || bail "Redis $u"
done
row "Redis, one server" at redis_lock redis 500 1 "${all[0]}"
# A majority is enough; with all servers on one processor it is no different from five.
row "Redlock, done at the third answer" at redis_lock redlock 500 3 "${all[@]}"
finish
