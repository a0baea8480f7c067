#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm kernels=6.1,6.12,6.12-debug clock=instructions about=module time=32
#
# The generic netlink family, by programs that make namespaces of their own.
#

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

load || bail "the module cannot be loaded"
tracing=/sys/kernel/tracing
mount -t tracefs tracefs $tracing 2>/dev/null
echo 8192 >$tracing/buffer_size_kb	# that no event is written over
echo 1 >$tracing/events/bftmutex/enable || bail "no tracepoints"
for program in ${1:-netlink_server netlink_keys netlink_access netlink_rights netlink_helper netlink_local netlink_lend netlink_fast netlink_waits netlink_alone netlink_many netlink_epochs netlink_lines netlink_flow netlink_ingress netlink_late netlink_renew netlink_convert netlink_convert_wait netlink_convert_wrong netlink_dlm netlink_dlm_wrong netlink_value netlink_lasting netlink_adopt netlink_dump}; do
	embed "$program"
done

# Each tracepoint of the device has fired, and tells its fields.
fired() { grep -qE " bftm_$1: netns=[0-9]+ .*$2" $tracing/trace; }
if [[ ! ${1-} ]]; then
	ok "tracepoint acquire" fired acquire "name=test\S+ flags=0x2 way=0 lease_ns="
	ok "tracepoint acquire: the mode" fired acquire "name=test\S+ .* mode=2$"
	ok "tracepoint won: the mode" fired won "name=test\S+ .* mode=2 reason=0$"
	ok "tracepoint won" fired won "name=test\S+ deadline_ns=[1-9][0-9]* token=0 attempts=7"
	ok "tracepoint renewed" fired renewed "name=lock\?0 deadline_ns=[1-9]"
	ok "tracepoint converted" fired converted "name=test\S+ deadline_ns=[1-9]\S* .* mode=0 "
	ok "tracepoint lost" fired lost "reason=2"
	ok "tracepoint released" fired released "name=test"
	ok "tracepoint failed" fired failed "error=5$"
	ok "tracepoint suspect" fired suspect "cluster=demo server=3 evidence=eeee+ count=1099511627776"
fi
finish
