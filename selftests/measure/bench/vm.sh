#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# In the VM: rows, one after the other; see "run".
cd "$(dirname "$0")" || exit

# Files that are not in the VM's memory come from the host, and meanwhile the clock runs on. So read
# the files before.
tools=(awk cat cut etcd etcdctl grep head ip gojq kill mktemp paste perl redis-server rm sed sleep
	sort sysctl tail tc tr)
mapfile -t files < <(type -P "${tools[@]}" &&
	find ../../../build/bin -maxdepth 2 -type f ! -path '*/tests/*' &&
	ls ../../../build/bin/tests/{handover,order_load})
mapfile -t libraries < <(ldd "${files[@]}" 2>/dev/null | awk '$2 == "=>" { print $3 }' | sort -u)
cat "${files[@]}" "${libraries[@]}" "$BFTMUTEX_KO" >/dev/null

modprobe -a udp_tunnel ip6_udp_tunnel && insmod "$BFTMUTEX_KO" || exit
status=0
for name; do
	echo "# row $name begins at $(cut -d ' ' -f 1 /proc/uptime) s of the guest"
	"rows/$name.sh" || status=1
done
exit $status
