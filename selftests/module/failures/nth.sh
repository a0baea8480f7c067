#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm name=fail-nth tier=all kernels=6.12-debug clock=instructions mem=1536 "allow=kobject_add_internal failed for .*error: -12" time=120
#
# Every ioctl and netlink command, with each of its allocations and copies of user
# memory failing in turn: selftests/vm/run --kernel 6.12-debug -- this [OPERATION]

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/module/failures/inject.sh
. "$(dirname "$0")/inject.sh"

injection
load || bail "the module cannot be loaded"
# Its lines come as they are written: it takes minutes.
trap - EXIT
exec fail_nth "$@"
