#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm tier=all kernels=6.1,6.12 alone time=60
#
# A host whose systemd starts a lock server, its journal, its roll and the daemon, by the units
# that "make install" puts there. That systemd is the first process of a namespace of
# processes; the network is the VM's, with the only server of a cluster in it.
# shellcheck disable=SC2086,SC2154,SC2317  # units are words; set by, or called from, what is sourced
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

conf=/etc/bftmutex/bftmutex.conf
keys=/etc/bftmutex/keys
units="bftmutex-server@1 bftmutex-journal@1 bftmutex-roll@1 bftmutexd"

cleanup() { halt; }

# The host begins; it ends as when its power fails, when the server in the kernel is gone too.
boot() {
	env -i PATH="$PATH" container=vm unshare --pid --mount --cgroup --fork --kill-child \
		--mount-proc /lib/systemd/systemd --log-target=console --show-status=no \
		>/run/systemd.log 2>&1 &
	host=$!
	disown $host
	wait_for 120 systemctl list-units
}
# By its own numbers of processes it knows who asks.
systemctl() { nsenter --target "$(pgrep -P "$host")" --pid --mount systemctl "$@"; }
halt() {
	[[ ${host-} ]] || return
	kill -KILL "$host"
	wait_for 10 gone "$host"
	host=
	bftmutexctl server stop >/dev/null 2>&1
	rmmod bftmutex
	rm -rf /run/systemd /run/bftmutex
}
active() { [[ $(systemctl is-active "$@" | sort -u) == active ]]; }
# Its process, in the VM's numbers.
process() { cat "/sys/fs/cgroup/$(systemctl show -P ControlGroup "$1")/cgroup.procs"; }
another() { active "$1" && [[ $(process "$1") != "$2" ]]; }
# Capabilities that it may have at most, whether programs may give it more, and its filters.
rights() { sed -n 's/^\(CapBnd\|NoNewPrivs\|Seccomp\):\t//p' "/proc/$(process "$1")/status" | xargs; }
said() { journalctl --no-pager --output=cat --unit "$1" | grep -F -- "$2"; }
count() { bftmutexctl object submit --wait 60 counter add 1; }

install_all
rm -rf /etc/systemd/system/*.wants
# Units that take long to start and are not needed here.
for unit in systemd-udev{d,-trigger}.service systemd-udevd-{control,kernel}.socket \
	systemd-logind.service getty.target dbus.{service,socket}; do
	ln -sf /dev/null /etc/systemd/system/$unit
done
bftmutexctl keygen --cluster 1 --servers 1 --clients 1 --dir $keys >/dev/null || bail "no keys"
cat >$conf <<'END'
cluster alone {
	id = 1
	b = 0
	lease = 1s
	lease-max = 2s
	credentials = /etc/bftmutex/keys/client-1.client
	server 1 { address = 127.0.0.1 }
}
END
echo 'BFTMUTEX_SERVER_OPTIONS="--durability sync --roll --lease-max 2s"' >/etc/default/bftmutex-server

ok "systemd" boot || { diag "$(</run/systemd.log)"; bail "no systemd"; }
ok "systemctl enable --now $units" systemctl enable --now $units
ok "all are active" wait_for 30 active $units
ok "the server says how it began" wait_for 10 said bftmutex-server@1 "its first start here"
is "bftmutex NAME COMMAND" "$(timeout 1200 bftmutex NAME echo had)" had
ok "an object" bftmutexctl object create counter counter
is "is counted" "$(count)" 1
is "rights of bftmutexd" "$(rights bftmutexd)" "0000000000001000 1 2"
is "rights of bftmutex-journal@1" "$(rights bftmutex-journal@1)" "0000000000001002 1 2"
is "rights of bftmutex-roll@1" "$(rights bftmutex-roll@1)" "0000000000001000 1 2"
ok "the roll is kept" test -s /var/lib/bftmutex/server-1-1.roll

metrics=/var/lib/prometheus/node-exporter
mkdir -p $metrics
ok "systemctl start bftmutex-metrics.timer" systemctl start bftmutex-metrics.timer
written() { grep -q '^bftmutex_helper_up 1$' $metrics/bftmutex.prom && grep -q '^bftmutex_server_up 1$' $metrics/bftmutex.prom; }
ok "metrics are written" wait_for 30 written
first=$(stat -c %i $metrics/bftmutex.prom)
renewed() { [[ $(stat -c %i $metrics/bftmutex.prom) != "$first" ]]; }
ok "and renewed" wait_for 60 renewed
ok "systemctl stop bftmutex-metrics.timer" systemctl stop bftmutex-metrics.timer

sed -i 's/b = 0/b = 1/' $conf
ok "a mistake, systemctl reload bftmutexd" systemctl reload bftmutexd
ok "is said" wait_for 10 said bftmutexd "$conf:3"
is "and the old configuration is used" "$(count)" 2
sed -i 's/b = 1/b = 0/' $conf

for unit in bftmutexd bftmutex-journal@1 bftmutex-roll@1; do
	old=$(process $unit)
	kill -KILL "$old"
	ok "$unit is killed: it is started anew" wait_for 30 another $unit "$old"
done
is "and serves" "$(count)" 3

ok "systemctl stop bftmutex-server@1" systemctl stop bftmutex-server@1
ok "there is none" says 69 "no server runs" bftmutexctl server show
ok "nor a journal" ! active bftmutex-journal@1
ok "nor a roll" ! active bftmutex-roll@1
ok "systemctl start bftmutex-server@1" systemctl start bftmutex-server@1
ok "its journal and its roll come with it" wait_for 30 active $units
is "objects are as before" "$(count)" 4

ok "a server without a key" ! systemctl start bftmutex-server@9
ok "says which it misses" wait_for 10 said bftmutex-server@9 "$keys/server-9.key"

halt
ok "the host begins again" boot
ok "all are active by themselves" wait_for 60 active $units
is "objects are as before" "$(count)" 5
is "a lock" "$(timeout 1200 bftmutex NAME echo had)" had
ok "systemctl disable --now $units" systemctl disable --now $units
ok "nothing runs" ! pgrep bftmutexd
ok "the module can be unloaded" rmmod bftmutex
finish
