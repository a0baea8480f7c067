#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: part
#
# In a VM whose root file system has the project's packages, by "selftests/fresh packages": the
# packages on a host with systemd, over an upgrade, a removal and a purge. systemd is the first
# process of a namespace, as in units.sh; later packages are in /root/later.
# shellcheck disable=SC2317  # called from what is sourced
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
[[ ${BFTMUTEX_VM:-} ]] || skip_all "runs in a VM: selftests/fresh packages"
export DEBIAN_FRONTEND=noninteractive

keys=/etc/bftmutex/keys
tests=$(dirname "$0")/../../../helper/packaging/debian/tests

cleanup() { [[ ! ${host-} ]] || kill -KILL "$host"; }

boot() {
	env -i PATH="$PATH" container=vm unshare --pid --mount --cgroup --fork --kill-child \
		--mount-proc /lib/systemd/systemd --log-target=console --show-status=no \
		>/run/systemd.log 2>&1 &
	host=$!
	disown "$host"
	wait_for 120 h systemctl list-units
}
# The root has no pgrep.
h() {
	local first
	first=$(<"/proc/$host/task/$host/children")
	nsenter --target "${first%% *}" --pid --mount --cgroup "$@"
}
active() { [[ $(h systemctl is-active "$@" | sort -u) == active ]]; }
process() { h systemctl show -P MainPID bftmutexd; }
holds() { bftmutexctl holders | grep -q held-over; }
no_server() { ! grep -q ':1CCD ' /proc/net/udp /proc/net/udp6; }

for unit in systemd-udev{d,-trigger}.service systemd-udevd-{control,kernel}.socket \
	systemd-logind.service getty.target dbus.{service,socket}; do
	ln -sf /dev/null "/etc/systemd/system/$unit"
done
is "keys are for root alone" "$(stat -c '%a %U' $keys)" "700 root"
is "the module is that of DKMS" "$(dirname "$(modinfo -n bftmutex)")" "/lib/modules/$(uname -r)/updates/dkms"
ok "systemd" boot || { diag "$(</run/systemd.log)"; bail "no systemd"; }
is "nothing is enabled" "$(h systemctl is-enabled bftmutexd)" disabled
ok "nothing runs" ! active bftmutexd
ok "modprobe bftmutex" modprobe bftmutex
ok "autopkgtest's command" sh -c "$(sed -n 's/^Test-Command: //p' "$tests/control")"
ok "autopkgtest's cluster" "$tests/cluster"

bftmutexctl keygen --cluster 1 --servers 1 --clients 1 --dir /root/keys >/dev/null
cp /root/keys/server-1.key /root/keys/client-1.client $keys
cat >/etc/bftmutex/bftmutex.conf <<'END'
cluster alone {
	id = 1
	b = 0
	lease = 60s
	lease-max = 60s
	credentials = /etc/bftmutex/keys/client-1.client
	server 1 { address = 127.0.0.1 }
}
END
echo 'BFTMUTEX_SERVER_OPTIONS="--lease-max 60s"' >/etc/default/bftmutex-server
ok "systemctl start bftmutex-server@1 bftmutexd" h systemctl start bftmutex-server@1 bftmutexd
ok "both are active" active bftmutex-server@1 bftmutexd
is "bftmutex x true" "$(timeout 300 bftmutex x echo had)" had

bftmutex held-over sleep 100000 &
holder=$!
disown $holder
ok "a lock is held" wait_for 60 holds
before=$(process)
ok "an upgrade" h dpkg --force-confold -i /root/later/bftmutex_*.deb /root/later/libbftmutex0_*.deb
is "of both" "$(dpkg-query -W -f '${Version}\n' bftmutex libbftmutex0 | sort -u | grep -c '+later$')" 1
ok "the daemon is the new one" test "$(process)" != "$before"
ok "which runs" active bftmutexd
ok "the lock is held still" kill -0 $holder
ok "as the kernel says" holds
is "another can be had" "$(timeout 300 bftmutex y echo had)" had
is "keys are for root alone" "$(stat -c '%a %U' $keys)" "700 root"

ok "apt-get remove" h apt-get -y remove bftmutex
ok "no daemon runs" ! grep -qx bftmutexd /proc/[0-9]*/comm
ok "no server runs" no_server
ok "the module is nobody's to unload" grep -q '^bftmutex ' /proc/modules
# It has ended if its lease is over, which no server renews.
kill $holder 2>/dev/null
ok "apt-get purge" h apt-get -y purge bftmutex bftmutex-dkms
ok "keys are there" test -s $keys/server-1.key
ok "what the server noted is there" test -s /var/lib/bftmutex/server-1-1
ok "the module is gone from all kernels" ! grep -r bftmutex /lib/modules/*/modules.dep
hash -r		# bash knows where a program was that it has run
ok "no program is left" ! command -v bftmutexd bftmutexctl bftmutex
finish
