#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: host exclusive tier=all time=110
#
# Seven hosts, each a machine of its own: six servers (one of them lies, one is
# killed while a lease is held) and one with three clients. Run on the host:
#
#	VM 1 … VM 6: servers 10.77.0.1 … 10.77.0.6 ---- link ---- VM 100
#	VM 4 lies, VM 2 is killed                      bftm-c1 … bftm-c3: 10.77.0.101 …
#
# The VMs share a folder with this script: they wait for each other by files in it. Functions are
# called by name, load may have no arguments, and variables are shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034
set -u

here=$(cd "$(dirname "$0")" && pwd)
liar=4
victim=2
clients=3
processes=2
entries_each=5
# VMs have real clocks: no process may stand still for half of the lease before its write.
lease_max_ms=40000

# shellcheck source=selftests/lib/link.sh
. "$here/../../lib/link.sh"

# Runs a server, in its VM.
server() {
	# shellcheck source=selftests/lib/tap.sh
	. "$here/../../lib/tap.sh" >/dev/null
	local key=$share/keys/server-$BFTMUTEX_INDEX.key bin=$here/../../../build/bin
	# The output of a server's VM is not read as TAP, so it has no plan.
	tap_done=1
	modprobe -a udp_tunnel ip6_udp_tunnel
	if ((BFTMUTEX_INDEX == liar)); then
		"$bin/bftmutex-liar" --key "$key" --strategy "$STRATEGY" --no-quarantine &
		lying=$!
	elif ((BFTMUTEX_INDEX % 2)); then
		insmod "$BFTMUTEX_KO" server="$key" lease_max_ms=$lease_max_ms || exit
	else
		insmod "$BFTMUTEX_KO" || exit
		"$bin/bftmutexctl" server start --key "$key" --lease-max ${lease_max_ms}ms >/dev/null ||
			exit
	fi
	touch "$share/server-$BFTMUTEX_INDEX"
	wait_for 400 appears stop
	[[ -z ${lying:-} ]] || kill "$lying"
	exit 0
}

# One network namespace of the client's VM, with its helper.
client() {
	local n=$1 i
	link_namespace "bftm-c$n" $((100 + n)) || return
	mkdir -p "$dev/c$n"
	{
		printf 'cluster hosts {\n\tid = 9\n\tb = 1\n\tlease-max = %dms\n' $lease_max_ms
		printf '\tdelta = 10ms\n\tretry-max = 2s\n\tcredentials = "%s"\n' \
			"$share/keys/client-$n.client"
		for i in 1 2 3 4 5 6; do
			printf '\tserver %d { address = 10.77.0.%d }\n' $i $i
		done
		echo '}'
	} >"$dev/c$n/bftmutex.conf"
	start_helper "$n"
}

heard() { servers 1 'map(select(.state == "ok" or .state == "slow")) | length'; }
heard_all() { (($(heard) == 6)); }
heard_fewer() { (($(heard) < 6)); }
held() { c 1 bftmutexctl holders --json | grep -q '"state": *"held"'; }
holder_too() { contend_end && wait "$holder"; }

# Runs the clients, in their VM.
client_vm() {
	# shellcheck source=selftests/lib/tap.sh
	. "$here/../../lib/tap.sh"
	# shellcheck source=selftests/lib/cluster.sh
	. "$here/../../lib/cluster.sh"
	local n total=$((clients * processes * entries_each)) work=(--jitter 5 --timeout 600)
	load || bail "module"
	mkdir -p "$dev"
	for ((n = 1; n <= clients; n++)); do
		client $n || bail "client $n: $(<"$dev/c$n/log")"
	done
	for n in 1 2 3 4 5 6; do
		wait_for 120 appears "server-$n" || bail "server $n does not come up"
	done
	wait_for 60 heard_all || bail "a server is not heard: $(servers 1 'map([.id, .state])|tostring')"
	ready

	ok "all up: all complete" contend $((clients * processes)) --entries $entries_each \
		--lock before --lease 39 "${work[@]}"
	ok "all up: no entry is lost" counted $total
	ok "all up: one at a time" no_overlap

	rm -f "$counter" "$entries"
	c 1 contender --client holder --lock held --entries 1 --hold 1500 --lease 39 \
		--counter "$counter" --log "$entries" &
	holder=$!
	wait_for 20 held || bail "nobody holds the lock"
	touch "$share/holding"
	wait_for 60 appears killed || bail "no server was killed"
	append=1 contend_start $((clients * processes)) --entries $entries_each --lock held \
		--lease 39 "${work[@]}"
	ok "a server killed: all complete" holder_too
	ok "a server killed: no entry is lost" counted $((total + 1))
	ok "a server killed: one at a time" no_overlap
	ok "the one that is gone is not heard" wait_for 20 heard_fewer
	touch "$share/stop"
	finish
}

[[ ${1:-} != server ]] || server
[[ ${1:-} != clients ]] || client_vm

# shellcheck source=selftests/lib/tap.sh
. "$here/../../lib/tap.sh"

export BFTMUTEX_SEED=${BFTMUTEX_SEED:-$RANDOM}
diag "BFTMUTEX_SEED=$BFTMUTEX_SEED"
strategies=(always-free equivocate)
strategy=${strategies[BFTMUTEX_SEED % 2]}
link=hosts$$
share=$(mktemp -d) || bail "mktemp"
declare -A vms

cleanup() {
	touch "$share/stop"
	for n in "${!vms[@]}"; do
		kill "${vms[$n]}" 2>/dev/null
	done
	wait_jobs
	rm -rf "$share"
}

vm() {
	local n=$1 kernel=$2
	shift 2
	"$here/../../vm/run" --kernel "$kernel" --mem 256 --link $link --index "$n" --share "$share" \
		--timeout 500 -- env STRATEGY="$strategy" selftests/module/cluster/hosts.sh "$@" \
		>"$share/out-$n" 2>"$share/err-$n" &
	vms[$n]=$!
}

"$here/../../../build/bin/bftmutexctl" keygen --dir "$share/keys" --cluster 9 --servers 6 \
	--clients 1-$clients >/dev/null || bail "no keys"
diag "server $liar: $strategy"
for n in 1 2 3 4 5 6; do
	vm $n 6.1 server
done
vm 100 6.12 clients

over() { appears holding || ! kill -0 "${vms[100]}"; }
# Seven machines boot, on a busy host too; they have limits of their own.
ok "a lease is held" wait_for 6000 over
# The machine stops without warning.
qemu=$(pgrep -P "${vms[$victim]}" -x qemu-system-x86)
ok "server $victim is killed" kill -KILL "$qemu"
touch "$share/killed"

wait "${vms[100]}"
status=$?
tap_merge "" <"$share/out-100"
is "clients: came to their end" "$status" 0 || diag "$(<"$share/err-100")"
touch "$share/stop"
for n in 1 2 3 4 5 6; do
	wait "${vms[$n]}"
	status=$?
	((n != victim)) || continue
	is "server $n: came to its end" $status 0 || diag "$(<"$share/err-$n")" "$(<"$share/out-$n")"
done
vms=()
finish
