#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm cpus=2 about=module time=20
#
# A request that was found to be new, and is obeyed much later, and a message that was decided, and
# is sent much later: in between its processor stands still. Needs two of them.
# shellcheck disable=SC2154,SC2317,SC2086  # set by, or called from, what is sourced
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/pair.sh
. "$(dirname "$0")/../../lib/pair.sh"

# Where probes are traps, a processor that stands in one hears of nothing.
[[ $(uname -r) != *-bftmutex-* ]] || skip_all "not on kernels with checkers"
start --lease-max 60s || bail "server"
insmod "$(dirname "$BFTMUTEX_KO")/stall/stall.ko" function=bftmutex:bftm_locks_enter ||
	bail "module that stands still"
run "YIELD of a predecessor" stalled of-a-predecessor $v4 50 $v4 50 $v4 51
run "YIELD that is only late" stalled of-its-own $v4 50 $v4 50 $v4 51
ok "rmmod" rmmod stall

# Anybody may look at the server, as often as they like. A processor that does stands still,
# and commands that take the mutex go on: the journal's, and here that of the rules.
insmod "$(dirname "$BFTMUTEX_KO")/stall/stall.ko" function=bftmutex:bftm_server_stat ||
	bail "module that stands still"
stands=/sys/module/stall/parameters/stands
# It is there before, since to start it could wait for a processor that stands.
# shellcheck disable=SC2016
taskset -c 0 ip netns exec bftm-s1 bash -c 'for ((i = 0; i < 1000000; i++)); do
		read -r there <"$1"
		[[ $there == 0 ]] || break
	done
	bftmutexctl server access show >"$2"
	status=$?
	read -r still <"$1"
	echo "$there $status $still"
	echo 0 >"$1"' bash $stands "$dir/rules" >"$dir/said" &
other=$!
echo 1 >/sys/module/stall/parameters/armed
taskset -c 1 ip netns exec bftm-s1 setpriv --reuid 65534 --clear-groups --inh-caps=-all \
	bftmutexctl server show >"$dir/shown"
wait $other
is "a look at the server holds up nobody" "$(<"$dir/said")" "1 0 1"
ok "and sees it" grep -q received "$dir/shown"
ok "rmmod" rmmod stall

# The kernel has decided to send a message, and sends it much later.
insmod "$(dirname "$BFTMUTEX_KO")/stall/stall.ko" function=bftmutex:bftm_line_send ||
	bail "module that stands still"
embed netlink_stalled
ok "rmmod" rmmod stall
finish
