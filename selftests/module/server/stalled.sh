#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm cpus=2 about=module time=20
#
# A request that was found to be new, and is obeyed much later: in between its processor
# stands still. Needs two of them.
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
insmod "$(dirname "$BFTMUTEX_KO")/stall/stall.ko" function=bftmutex:bftm_locks_step ||
	bail "module that stands still"
run "YIELD of a predecessor" stalled of-a-predecessor $v4 50 $v4 50 $v4 51
run "YIELD that is only late" stalled of-its-own $v4 50 $v4 50 $v4 51
ok "rmmod" rmmod stall
finish
