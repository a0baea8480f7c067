#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=14
#
# A server that is started, stopped and deleted with its network namespace while
# clients contend for its only lock, so while it and its timers push.
# shellcheck disable=SC2154,SC2317  # set by, or called from, what is sourced
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/pair.sh
. "$(dirname "$0")/../../lib/pair.sh"

# How often to start and stop it under traffic; a machine without hardware support
# takes a second for each.
starts=${BFTMUTEX_STARTS:-100}
[[ ${BFTMUTEX_STARTS-} || ! ${KSFT_MACHINE_SLOW-} ]] || starts=25

clients=()
for n in 50 51 52 53; do
	clients+=("$dir/client-$n.client")
done

# contend COMMAND...: runs it while clients contend; $pushes gets the number of pushes.
contend() {
	local status=0
	netns_exec bftm-c1 churn 1 "$v4" "${clients[@]}" >"$dir/churn" 2>&1 &
	pid=$!
	"$@" || status=$?
	kill $pid
	wait $pid || status=1
	pid=
	pushes=$(sed -n "s/.*pushes=//p" "$dir/churn")
	return $status
}

# For a few pushes each time, some of which a timer sends.
busy() { (($(show '.stats.pushed') > 3 && $(show '.stats.expired') > 0)); }
over_and_over() {
	local i
	for ((i = 0; i < starts; i++)); do
		s 1 bftmutexctl server start --key "$dir/server-1.key" --lease-max 1ms \
			--max-locks 64 --max-clients 64 >/dev/null || return
		((i % 5)) || wait_for 10 busy || return
		stop || return
	done
}
ok "started and stopped while clients contend" contend over_and_over
diag "$(<"$dir/churn")"
ok "they were pushed the lock" test "${pushes:-0}" -gt 0

delete() {
	start --lease-max 1ms && wait_for 10 busy && ip netns delete bftm-s1
}
ok "deleted with its network namespace while they contend" contend delete
ok "unloaded" wait_for 10 rmmod bftmutex
ok "what was created was destroyed" log_is_clean
finish
