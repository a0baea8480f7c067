#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The locks of Redis: one server, and Redlock over five.
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
row "Redis, one server" at redis redis 500 1 "${all[0]}"
row "Redlock, all five answers" at redis redlock 500 5 "${all[@]}"
row "Redlock, back at the third answer" at redis redlock3 500 3 "${all[@]}"
finish
