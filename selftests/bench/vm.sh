#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# In the VM: rows, one after the other; see "run".
cd "$(dirname "$0")" || exit

modprobe -a udp_tunnel ip6_udp_tunnel && insmod "$BFTMUTEX_KO" || exit
status=0
for name; do
	echo "# row $name begins at $(cut -d ' ' -f 1 /proc/uptime) s of the guest"
	"rows/$name.sh" || status=1
done
exit $status
