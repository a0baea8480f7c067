#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: part
#
# In the VM, with a folder of the host at /run/share; see "run":
#
#	vm.sh [libFuzzer's OPTION|FILE]...
cd "$(dirname "$0")/../../.." || exit
export BFTMUTEX_LAST=/run/share BFTMUTEX_PLACES=/run/share/places

mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
modprobe -a udp_tunnel ip6_udp_tunnel 2>/dev/null
insmod "$BFTMUTEX_KO" || exit
uname -r >/run/share/release
# Grace periods without a wait for ticks: more inputs in the same time.
echo 1 >/sys/kernel/rcu_expedited
echo 0 >/proc/sys/kernel/randomize_va_space
# No limit by our clock, which leaps by minutes while the host is busy: what hangs is ended there.
exec build/bin/bftmutex-kfuzz -handle_usr1=0 -handle_usr2=0 -timeout=10000000 -rss_limit_mb=0 \
	-artifact_prefix=/run/share/ "$@"
