#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm kernels=6.1 clock=instructions about=module time=10
#
# Authentic datagrams that a server does not serve: of a wrong form, of other versions, and what
# has a form but no server yet.
# shellcheck disable=SC2154,SC2317,SC2086,SC2119  # set by, or called from, what is sourced
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/pair.sh
. "$(dirname "$0")/../../lib/pair.sh"

start || bail "server"
echo "forms.sh begins" >/dev/kmsg
run "wrong forms" forms wrong $v4 50
run "not served" forms unserved $v4 50
run "a later version" forms later $v4 50
run "a later version by IPv6" forms later $v6 50
is "none of it made a lock" "$(locks .)" "[]"

outdated() { dmesg | sed '1,/forms.sh begins$/d' | sed -n 's/.*\(bftmutex: server [0-9]*: client.*speaks.*\)/\1/p'; }
run "an earlier version, forged" forms earlier-forged $v4 53
is "nothing is said of it" "$(outdated)" ""
run "an earlier version" forms earlier $v4 51 $v6 52
run "an earlier version, again" forms earlier $v6 51 $v4 52
is "the log tells of each client once" "$(outdated)" "bftmutex: server 1: client 51 at 10.73.0.101 speaks version 1, this server 2: upgrade that host
bftmutex: server 1: client 52 at fd73::101 speaks version 1, this server 2: upgrade that host"
is "none of it made a lock" "$(locks .)" "[]"
finish
