# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Two VMs on a link, with the kernel's DLM and ours: for scripts that run themselves in the VMs, as
# "SCRIPT server" in VM 1, 10.77.0.1, and as "SCRIPT client" in VM 2, 10.77.0.2. Source it first.
#
# Time there is that of the machine: two VMs cannot share a clock of instructions.
# Functions are called by name and variables shared with the libraries.
# shellcheck disable=SC2317,SC2154,SC2034,SC2119

here=$(cd "$(dirname "$0")" && pwd)

#
# In a VM
#

# load_all: both modules; DLM is configured through configfs
load_all() {
	load || bail "bftmutex cannot be loaded"
	modprobe dlm || bail "the kernel $(uname -r) has no module dlm"
	[[ -d /sys/kernel/config/dlm ]] || mount -t configfs none /sys/kernel/config ||
		bail "no configfs"
}

# join NODE: returns when both nodes use the lockspace
join() {
	timeout 120 dlm_node join bench "$1" 10.77.0.1 10.77.0.2 || {
		diag "$(dmesg | grep dlm: | tail -n 20)"
		bail "DLM: node $1 does not get into the lockspace"
	}
}

# serve KEY: in this network namespace, or in that of "s N"
serve() { "${@:2}" bftmutexctl server start --key "$share/keys/$1" --lease-max "$lease_max"; }

# configuration NAME ID B FIRST N CLIENT: a cluster of n servers at 10.77.0.FIRST and on
configuration() {
	local u
	printf 'cluster %s {\n\tid = %d\n\tb = %d\n\tlease-max = %s\n' "$1" "$2" "$3" "$lease_max"
	printf '\tcredentials = "%s/keys/%s/client-%d.client"\n' "$share" "$1" "$6"
	for ((u = 1; u <= $5; u++)); do
		printf '\tserver %d { address = 10.77.0.%d }\n' "$u" $(($4 + u - 1))
	done
	echo '}'
}

# start_daemon CLUSTER...: of the configuration in /run/bftmutex.conf, in the background; its process is
# $daemon; returns when the clusters grant
start_daemon() {
	local name
	bftmutexd --config /run/bftmutex.conf --state /run --foreground >/run/log 2>&1 &
	daemon=$!
	wait_for 20 grep -q ready /run/log || bail "no helper: $(</run/log)"
	wait_for 60 appears served || bail "VM 1 has no servers"
	for name; do
		ok "cluster $name grants" bftmutex --cluster "$name" -w 60 ready true || bail "no cluster"
	done
}

in_vm() {
	# shellcheck source=selftests/lib/tap.sh
	. "$here/../../lib/tap.sh"
	# shellcheck source=selftests/lib/cluster.sh
	. "$here/../../lib/cluster.sh"
	# shellcheck source=selftests/lib/link.sh
	. "$here/../../lib/link.sh"
	PATH=$top/build/bin/bench:$PATH
	"$1_vm"
}

#
# On the host
#

vms=()

# vm INDEX PART FOLDER: in the background; its process is in vms. The processor's own clock is
# measured at boot, and on a busy machine so wrongly that a minute is an hour: not it.
vm() {
	"$here/../../vm/run" --kernel 6.1 --cpu max --mem 256 --link "bench$$" --index "$1" --share "$3" \
		--timeout 400 --append clocksource=hpet -- "selftests/measure/bench/${0##*/}" "$2" \
		>"$3/dlm-$2" 2>"$3/dlm-$2.err" &
	vms+=($!)
}

# end_vms FOLDER: a VM that ends early ends the other one too
end_vms() {
	local pid
	touch "$1/stop"
	for pid in "${vms[@]}"; do
		kill "$pid" 2>/dev/null
	done
	wait
}

# keys FOLDER NAME ID SERVERS CLIENTS
keys() {
	build/bin/bftmutexctl keygen --dir "$1/keys/$2" --cluster "$3" --servers "$4" --clients "$5" >/dev/null
}
