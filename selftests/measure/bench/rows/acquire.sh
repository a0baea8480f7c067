#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A lock that nobody else wants, through /dev/bftmutex.
# shellcheck disable=SC2154  # variables of lib.sh
# shellcheck source=selftests/measure/bench/lib.sh
. "$(dirname "$0")/../lib.sh"

may_ping() { at sysctl -q net.ipv4.ping_group_range="0 2147483647"; }

cluster 7 1 || bail "no cluster"
may_ping
row "acquire, n = 7, b = 1" at acquire acquire 300 10.73.0.7
configure ask auto || bail "the helper does not take ask = auto"
row "acquire, n = 7, b = 1, ask = auto" at acquire acquire_auto 300 10.73.0.7
end_cluster
cluster 4 1 || bail "no cluster"
may_ping
row "acquire, n = 4, b = 1" at acquire acquire4 300 10.73.0.4
configure ask auto || bail "the helper does not take ask = auto"
row "acquire, n = 4, b = 1, ask = auto" at acquire acquire4_auto 300 10.73.0.4
configure ask all || bail "the helper does not take ask = all"
leave_cluster 4 1
finish
