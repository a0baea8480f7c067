#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=38
#
# Limits of a server on objects, and objects that it forgot in a restart.
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

eight="$v4 50 $v4 51 $v4 52 $v4 53 $v6 54 $v6 55 $v6 56 $v4 57"

#
# Limits
#

ok "start" start --token-floor 0 --max-objects 2 --max-state 1024
run "two objects of 1024 bytes" order_server_room limits $v4 50
is "a third that was refused is not there" "$(objects 'map(.name) | sort')" '["first","second"]'
ok "restart" restart --token-floor 0 --max-state 1048576
run "a state of 1 MiB" order_server_body longest $v4 50
ok "restart" restart --token-floor 0 --object-memory 16777216
run "memory" order_server_room memory $eight
ok "memory in use: at most 16 MiB" test "$(show .object_memory_used)" -le 16777216
ok "restart" restart --token-floor 0 --object-memory 16777216
run "a body of another is not given up for it" order_server_room paused $v4 50 $v4 51
ok "for one request, 32 of 64 idle ones are given up" test "$(show .object_memory_used)" -gt 2000000
ok "restart" restart --token-floor 0 --object-memory 16777216
run "a client that takes all it gets" order_server_room share $eight
ok "memory in use: almost 16 MiB" test "$(show .object_memory_used)" -gt 15728640

ok "restart" restart --token-floor 0 --object-memory 16777216 --max-state 1048576
run "states beyond three quarters" order_server_room crammed $v4 50
ok "restart" restart --object-memory 16777216 --max-state 1048576
run "a server that has forgotten them gets all back" order_server_room crammed-again $v4 50
is "none is missing" "$(objects 'length')" 14

#
# What the configuration says
#

cat >"$dir/conf" <<END
cluster one {
	id = 9
	b = 0
	credentials = "$dir/client-50.client"
	max-state = 3000
	server 1 { address = $v4  max-objects = 5  object-memory = 20000000 }
	server 2 { address = 10.73.0.2  max-objects = 6  max-state = 4000 }
	access { client = 50  prefix = "o" }
}
END
limits() { show '[.max_objects, .max_state, .object_memory] | join(" ")'; }
ok "restart by a configuration" restart --token-floor 0 --config "$dir/conf"
is "its limits" "$(limits)" "5 3000 20000000"
run "who may" order_server_form replays $v4 50
run "who may not" order_server_form denied $v4 51
is "and leaves nothing" "$(show .objects)" 0
ok "restart with options" restart --token-floor 0 --config "$dir/conf" --max-objects 7 --max-state 2000
is "they go first" "$(limits)" "7 2000 20000000"
for pair in max-objects:0:'1 to 65536' max-state:1048577:'1024 to 1048576' \
	object-memory:1:'16777216 to 1099511627776'; do
	IFS=: read -r key value range <<<"$pair"
	sed "s/max-objects = 5.*object-memory = [0-9]*/$key = $value/" "$dir/conf" >"$dir/bad"
	s 1 bftmutexctl server start --key "$dir/server-1.key" --config "$dir/bad" 2>"$dir/err"
	is "$key = $value: not started" "$?" 78
	ok "$key = $value: says what is wrong" grep -q "'$key' = '$value': must be $range" "$dir/err"
	s 1 bftmutexctl server start --key "$dir/server-1.key" "--$key" "$value" 2>"$dir/err"
	is "--$key $value: not started" "$?" 64
	ok "--$key $value: says what is wrong" grep -q -- "--$key '$value': must be $range" "$dir/err"
done

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
