#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=12
#
# A server whose journal is killed at any moment: after a restart the server knows everything that
# it has confirmed to a client.
#
#
# shellcheck disable=SC2154,SC2317  # set by, or called from, what is sourced
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/pair.sh
. "$(dirname "$0")/../../lib/pair.sh"
# shellcheck source=selftests/lib/journal.sh
. "$(dirname "$0")/../../lib/journal.sh"

restart_with_file() { stop && begin; }

# The journal is killed at each step of its work, and so is the next one: confirmed changes are in
# the file. Clients ask until they are answered.
steps=${BFTMUTEX_STEPS:-60}
# Each step takes seconds on a slow machine; the seed chooses the steps of a short run.
stride=1
[[ ! ${KSFT_MACHINE_SLOW-} || ${BFTMUTEX_STEPS-} ]] || stride=4
! short || stride=8
each_step() {
	local step
	begin --token-floor 0 || return
	clients_begin 2 0
	for ((step = 1 + RANDOM % stride; step <= steps; step += stride)); do
		netns_exec bftm-s1 kill_at "$step" bftmutexctl server journal --file "$file" \
			2>"$dir/journal.err" || return
		in_file || { echo "killed before step $step"; return 1; }
	done
	clients_end
	restart_with_file && knows
}
ok "killed before a step of its work, nothing that was told is lost" each_step
diag "$steps steps, each ${stride}th; $(wc -l <"$acked") answers"
stop

# While clients go on, at moments of the machine's own choosing.
under_traffic() {
	local i
	begin && follow || return
	clients_begin 8 0
	for ((i = 0; i < 3; i++)); do
		wait_for 20 answered $(($(wc -l <"$acked") + 1 + RANDOM % 40)) || return
		unfollow KILL
		in_file || return
		restart_with_file || return
		knows || { echo "after kill $i"; return 1; }
		follow || return
	done
	clients_end
	unfollow
	stop
}
ok "killed again and again under traffic, and the server restarted" under_traffic
finish
