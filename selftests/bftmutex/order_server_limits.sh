#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# How much a server keeps of objects, and what it does about those that it forgot.
# shellcheck disable=SC2154,SC2317,SC2086  # set by, or called from, what is sourced
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../lib/cluster.sh"
# shellcheck source=selftests/lib/pair.sh
. "$(dirname "$0")/../lib/pair.sh"

eight="$v4 50 $v4 51 $v4 52 $v4 53 $v6 54 $v6 55 $v6 56 $v4 57"

#
# Limits
#

ok "start" start --token-floor 0 --max-objects 2 --max-state 1024
run "two objects of 1024 bytes" order_server_body limits $v4 50
is "a third that was refused is not there" "$(objects 'map(.name) | sort')" '["first","second"]'
ok "restart" restart --token-floor 0 --object-memory 16777216
run "memory" order_server_body memory $eight
ok "memory in use: at most 16 MiB" test "$(show .object_memory_used)" -le 16777216

#
# A server that forgot
#

ok "restart without a word on what was" restart
is "every object is to be recovered" "$(show .recovering)" true
run "recovery" order_server_body recovery $v4 50 $v6 51
is "one is" "$(objects '.[] | [.version, .recovering]')" '[7,false]'
stop
s 1 bftmutexctl server start --key "$dir/server-1.key" --lease-max 60s >/dev/null || bail "server"
run "quarantine: silence" order_server_body quarantine $v4 50
is "and nothing is kept" "$(show .objects)" 0
ok "a floor above 0 means that something was before" restart --token-floor 1
is "so objects are to be recovered" "$(show .recovering)" true
finish
