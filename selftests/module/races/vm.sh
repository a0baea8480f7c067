#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: part
#
# In the VM: scenarios, each with and without a packet capture; see "run".
#
#	vm.sh ITERATIONS[/SLOW] MODES DYNDBG [SCENARIO...]
#
# MODES: plain, capture or both. SLOW: how often modules and namespaces come and go,
# which takes a second each.
#
# shellcheck disable=SC2154,SC2317  # set by, or called from, what is sourced

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

iterations=${1%/*} slow=${1#*/} modes=$2 dyndbg=$3
shift 3
dir=$(mktemp -d)

cleanup() {
	[[ ! ${holder-} ]] || kill "$holder"
	rmmod bftmutex 2>/dev/null
	rm -rf "$dir"
}

# The last UDP socket with a tunnel that is closed has code of all processors patched,
# and QEMU 7.2 with two of them may run it half patched ("Oops: int3"): one stays open.
# UDP_ENCAP is 100, UDP_ENCAP_L2TPINUDP 3: no kernel lacks that.
hold_tunnel() {
	perl -MSocket -e '
		for my $family (AF_INET, AF_INET6) {
			socket(my $s, $family, SOCK_DGRAM, 0) or die;
			setsockopt($s, 17, 100, pack("i", 3)) or die "UDP_ENCAP: $!";
			push @all, $s;
		}
		$| = 1;
		print "held\n";
		sleep 1000000' >"$dir/held" &
	holder=$!
	wait_for 10 grep -q held "$dir/held"
}

loaded() { [[ -e /sys/module/bftmutex ]] || insmod "$dir/bftmutex.ko" "dyndbg=\"$dyndbg\""; }

# no_hooks: devices of this kernel have none, whichever they are
no_hooks() {
	loaded && bftmutexctl server start --key "$dir/server-1.key" --state "$dir/state" --ingress lo \
		2>&1 | grep -q CONFIG_NETFILTER_INGRESS
}

race() {
	local name=$1 times=$2
	shift 2
	if [[ $name == insmod-* ]]; then
		rmmod bftmutex 2>/dev/null
	else
		loaded || return
	fi
	bftmutex-races --keys "$dir" --ko "$dir/bftmutex.ko" --dyndbg "$dyndbg" \
		--iterations "$times" --seed "$BFTMUTEX_SEED" "$@" "$name" >"$dir/line"
}

(($#)) || mapfile -t scenarios < <(bftmutex-races --list | cut -d ' ' -f 1)
(($# == 0)) || scenarios=("$@")
bftmutexctl keygen --dir "$dir" --cluster 9 --servers 1 --clients 50-57 >/dev/null || bail "keys"
modprobe -a udp_tunnel ip6_udp_tunnel veth 2>/dev/null
strip --strip-debug -o "$dir/bftmutex.ko" "$BFTMUTEX_KO" || bail "no module"
ok "a tunnel is held open" hold_tunnel
# Grace periods without a wait for ticks: more iterations in the same time.
echo 1 >/sys/kernel/rcu_expedited

for name in "${scenarios[@]}"; do
	times=$iterations
	[[ $name != insmod-* && $name != netns ]] || times=$slow
	if [[ $name =~ ^(ingress|answers)$ ]] && no_hooks; then
		skip "$name" "this kernel was built without CONFIG_NETFILTER_INGRESS"
		continue
	fi
	for mode in plain capture; do
		[[ $modes == both || $modes == "$mode" ]] || continue
		option=()
		[[ $mode == plain ]] || option=(--capture)
		: >"$dir/line"
		ok "$name, $mode: $times times" race "$name" "$times" "${option[@]}"
		diag "$(sed "s/^/race /" "$dir/line")"
	done
done
finish
