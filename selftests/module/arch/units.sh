#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: part
#
# In a VM of another machine, by "selftests/vm/arch": what the unit tests say there.

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

export CMOCKA_MESSAGE_OUTPUT=TAP
# shellcheck disable=SC2154  # set by what is sourced
for program in "$top"/build/bin/tests/unit/*; do
	embed "$program"
done
finish
