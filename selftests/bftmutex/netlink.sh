#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The generic netlink family, by programs that make namespaces of their own.

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../lib/cluster.sh"

load || bail "the module cannot be loaded"
for program in ${1:-netlink_server netlink_rights netlink_helper netlink_dump}; do
	embed "$program"
done
finish
