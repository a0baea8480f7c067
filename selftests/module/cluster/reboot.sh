#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: host exclusive tier=all time=80
#
# The only server of a cluster is a machine that reboots, without warning, and comes back with the
# disk it had. Its grants are forgotten then, but for what clients tell it: one of them holds a lock
# without a lease. Run on the host:
#
#	VM 1: server 1, 10.77.0.1 ---- link ---- VM 100: bftm-c1, bftm-c2: 10.77.0.101 …
#	its state is on an image
#
# The VMs share a folder: they wait for each other by files in it. Functions are called by name.
# shellcheck disable=SC2317,SC2119,SC2153,SC2154,SC2034
set -u

here=$(cd "$(dirname "$0")" && pwd)

# shellcheck source=selftests/lib/link.sh
. "$here/../../lib/link.sh"

# server BOOT: runs the server, in its VM, until the machine stops without warning.
server() {
	# shellcheck source=selftests/lib/tap.sh
	. "$here/../../lib/tap.sh" >/dev/null
	local bin=$here/../../../build/bin state=/mnt/state nic
	# The output of a server's VM is not read as TAP, so it has no plan.
	tap_done=1
	modprobe -a udp_tunnel ip6_udp_tunnel ext4 loop
	mount -o loop "$share/disk" /mnt || exit
	insmod "$BFTMUTEX_KO" || exit
	nic=$(ip -o -4 address | sed -n 's/^[0-9]*: \([^ ]*\) .*10\.77\.0\..*/\1/p')
	# Nobody tells it anything before it was asked for whom it waits.
	ip link set "$nic" down
	"$bin/bftmutexctl" server start --key "$share/keys/server-1.key" --lease-max 2s --roll \
		--state "$state" --config "$share/server.conf" >"$share/said-$1" 2>&1 || exit
	"$bin/bftmutexctl" server members --json >"$share/members-$1"
	ip link set "$nic" up
	"$bin/bftmutexctl" server roll --state "$state" 2>"$share/roll-$1" &
	touch "$share/up-$1"
	wait_for 1000 appears "stop-$1"
	# Nothing is written any more, and nobody is told.
	echo b >/proc/sysrq-trigger
	sleep 100
}

client() {
	local n=$1
	link_namespace "bftm-c$n" $((100 + n)) || return
	mkdir -p "$dev/c$n"
	cat >"$dev/c$n/bftmutex.conf" <<-END2
		cluster reboot {
			id = 9
			b = 0
			lease-max = 2s
			leaseless = yes
			credentials = "$share/keys/client-$n.client"
			server 1 { address = 10.77.0.1 }
		}
	END2
	start_helper "$n"
}

is_open() { [[ $(servers "$1" '.[0] | "\(.state) \(.recovering)"') == 'ok false' ]]; }
try() { c "$1" bftmutex "${@:2}" true 2>/dev/null; }

# Runs the clients, in their VM.
client_vm() {
	# shellcheck source=selftests/lib/tap.sh
	. "$here/../../lib/tap.sh"
	# shellcheck source=selftests/lib/cluster.sh
	. "$here/../../lib/cluster.sh"
	local n holder boot
	load || bail "module"
	mkdir -p "$dev"
	wait_for 400 appears up-1 || bail "the server does not come up"
	for n in 1 2; do
		client $n || bail "client $n: $(<"$dev/c$n/log")"
	done
	mkfifo /run/go
	netns_exec bftm-c1 bftmutex --no-lease -w 200 disk/1 sh -c "touch /run/held; read word </run/go" &
	holder=$!
	ok "client 1 holds a lock without a lease" wait_for 200 test -e /run/held || bail "no lock"
	ok "client 2 gets another one, and gives it back" try 2 --no-lease -w 60 disk/2
	for boot in 2 3; do
		# The next boot without the holder's helper: the server can hear from the others alone.
		((boot == 2)) || kill_helper 1
		touch "$share/stop-$((boot - 1))"
		wait_for 400 appears up-$boot || bail "the server does not come back"
		ok "boot $boot: the server waits for those that the roll on its disk names" \
			test "$(gojq -c '[.[] | select(.awaited) | .id]' "$share/members-$boot")" = '[1,2]'
		if ((boot == 3)); then
			ok "boot 3: client 2 alone does not open it" test "$(try 2 --no-lease -w 20 disk/3; echo $?)" = 69
			ok "boot 3: the helper of client 1 is back" start_helper 1
		fi
		ok "boot $boot: all clients tell what they hold" wait_for 200 is_open 2
		ok "boot $boot: other locks are granted" try 2 --no-lease -w 200 "disk/$boot"
		ok "boot $boot: the lock that is held is not" test "$(try 2 -n disk/1; echo $?)" = 1
		ok "boot $boot: it is held" kill -0 $holder
	done
	echo >/run/go
	wait $holder
	is "the command has ended" $? 0
	ok "then client 2 gets the lock" try 2 --no-lease -w 200 disk/1
	kill_helper 1
	kill_helper 2
	touch "$share/stop-3"
	finish
}

[[ ${1:-} != server ]] || server "$2"
[[ ${1:-} != clients ]] || client_vm

# shellcheck source=selftests/lib/tap.sh
. "$here/../../lib/tap.sh"
link=reboot$$
share=$(mktemp -d) || bail "mktemp"
vms=()

cleanup() {
	touch "$share"/stop-{1,2,3}
	kill "${vms[@]}" 2>/dev/null
	wait_jobs
	rm -rf "$share"
}

# vm INDEX NAME ARG...: its output is in out-NAME
vm() {
	"$here/../../vm/run" --mem 256 --link $link --index "$1" --share "$share" --timeout 900 -- \
		selftests/module/cluster/reboot.sh "${@:3}" >"$share/out-$2" 2>"$share/err-$2" &
	vms+=($!)
}

make_disk() {
	truncate -s 16M "$share/disk" && mkfs.ext4 -q "$share/disk" || return
	"$here/../../../build/bin/bftmutexctl" keygen --dir "$share/keys" --cluster 9 --servers 1 \
		--clients 1-2 >/dev/null || return
	cat >"$share/server.conf" <<-END2
		cluster reboot {
			id = 9
			b = 0
			server 1 { address = 10.77.0.1 }
			access { client = 1-2  prefix = "disk/"  leaseless = yes }
			access { client = any }
		}
	END2
}

ok "a disk" make_disk || bail "no disk"
vm 100 clients clients
of_clients=${vms[0]}
over() { ! kill -0 "$of_clients" 2>/dev/null || appears "stop-$boot"; }
for boot in 1 2 3; do
	vm 1 "$boot" server "$boot"
	wait_for 6000 over
	wait "${vms[-1]}"
	is "boot $boot: the machine stopped as if its power had failed" $? 125 ||
		diag "$(<"$share/err-$boot")" "$(<"$share/out-$boot")" "$(cat "$share/said-$boot")"
	appears "stop-$boot" || break
done
wait "$of_clients"
status=$?
tap_merge "" <"$share/out-clients"
is "clients: came to their end" "$status" 0 || diag "$(<"$share/err-clients")"
vms=()
finish
