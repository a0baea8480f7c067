#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm tier=all clock=instructions about=module time=15
#
# A further protocol is a folder and a line in a table: the module with the reference protocols
# serves their central server beside the backoff protocol; the module for hosts has none of them.
# shellcheck disable=SC2154,SC2317,SC2086,SC2119 # set by, or called from, what is sourced
set -u

shipped=$BFTMUTEX_KO
BFTMUTEX_KO=$(dirname "$shipped")/test-protocols/bftmutex.ko
# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
[[ -e $BFTMUTEX_KO ]] ||
	skip_all "no module with test protocols: make module TEST_PROTOCOLS=1 KVER=$(uname -r)"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/pair.sh
. "$(dirname "$0")/../../lib/pair.sh"

symbols() { nm "$1" | grep -c central_; }

is "the module that people install has no symbol of it" "$(symbols "$shipped")" 0
ok "the other has" test "$(symbols "$BFTMUTEX_KO")" -gt 0

start || bail "server"
run "a central server" central in-turn $v4 50 $v4 51
run "by IPv6" central in-turn $v6 50 $v4 51

run "a lock without a lease" central hold $v4 50
forgotten() { [[ $(locks 'map(select(.name == "idle-0")) | length') == 0 ]]; }
ok "as long as a lock is kept that nobody has" wait_for 60 forgotten
run "is held until it is given back" central still-held $v4 51
is "bftmutexctl locks" "$(locks '.[] | select(.name == "hold-0") | [.client, .waiters]')" '[50,0]'

#
# A liar is the same code
#

stop
# at_liar STRATEGY: the result of the case against this liar.
at_liar() {
	local status
	netns_exec bftm-s1 bftmutex-liar --key "$dir/server-1.key" --no-quarantine \
		--strategy "$1" >"$dir/liar" 2>&1 &
	wait_for 10 grep -q ready "$dir/liar"
	c 1 central 1 in-turn $v4 "$dir/client-50.client" $v4 "$dir/client-51.client" >/dev/null \
		2>"$dir/err"
	status=$?
	kill $! && wait $! 2>/dev/null
	return $status
}
ok "an honest liar" at_liar honest
not_at_liar() { ! at_liar "$1"; }
ok "one that says FREE to everybody is found" not_at_liar always-free
ok "and for what it is" grep -q "FREE instead of WAIT" "$dir/err"

finish
