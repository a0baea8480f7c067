#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The locks of Redis: one server, and Redlock over five.
# shellcheck disable=SC2154  # variables of lib.sh
# shellcheck source=selftests/measure/bench/lib.sh
. "$(dirname "$0")/../lib.sh"

cluster 7 1 || bail "no cluster"
redis_servers
row "Redis, one server" at redis_lock redis 500 1 "${redis[0]}"
# A majority is enough; with all servers on one processor it is no different from five.
row "Redlock, done at the third answer" at redis_lock redlock 500 3 "${redis[@]}"
leave_cluster 7 1
finish
