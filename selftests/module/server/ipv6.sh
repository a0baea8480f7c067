#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm kernels=6.1,6.12 clock=instructions about=module time=12
#
# Locks over IPv6, on the loopback device: a reply that is sent as if through a
# tunnel counts itself in statistics that this device does not have.
cd "$(dirname "$0")/../../.." || exit
. selftests/lib/tap.sh
. selftests/lib/cluster.sh

dir=$(mktemp -d)
cleanup() {
	pkill bftmutexd
	rm -rf "$dir"
}

load || bail "cannot load the module"
ok "keys" bftmutexctl keygen --cluster 1 --servers 1 --clients 1 --dir "$dir/keys"
ok "server" bftmutexctl server start --id 1 --key "$dir/keys/server-1.key" --lease-max 1s
cat >"$dir/conf" <<END
cluster six {
	id = 1
	b = 0
	credentials = $dir/keys/client-1.client
	lease = 500ms
	lease-max = 1s
	server 1 { address = "::1" }
}
END
ok "helper" bftmutexd --config "$dir/conf" --state "$dir/state"
ok "first lock, after the quarantine" bftmutex -w 30 six true
for i in 2 3 4 5; do
	ok "lock $i" bftmutex -w 10 six true
done
pkill bftmutexd
wait_for 10 sh -c '! pidof bftmutexd'

# An address of the link between two hosts, which is of use with its interface only. All of the
# daemon that may ask for that after its start is in the strictest sandbox.
ip netns add bftm-far
ip link add near type veth peer name far netns bftm-far
ip addr add fe80::7/64 dev near nodad
ip link set near up
ip -n bftm-far addr add fe80::8/64 dev far nodad
ip -n bftm-far link set far up
sed 's/"::1"/fe80::7%far/; 1i sandbox = strict' "$dir/conf" >"$dir/link"
ok "cluster show, where there is no such interface" bftmutexctl cluster show --config "$dir/link"
ok "nor does a server need it" sh -c "bftmutexctl server stop && bftmutexctl server start --config $dir/link \
	--key $dir/keys/server-1.key --lease-max 1s"
far() { netns_exec bftm-far "$@"; }
bftmutexd --check --config "$dir/link" 2>"$dir/err"
is "a daemon needs it: status" $? 78
ok "a daemon needs it: it says so" grep -q "server 1: this network namespace has no interface 'far'" "$dir/err"
# Not by far: $! is to be the daemon.
ip netns exec bftm-far bftmutexd --foreground --config "$dir/link" --state "$dir/state" 2>"$dir/log" &
daemon=$!
ok "helper" wait_for 10 grep -q ready "$dir/log"
for i in 1 2; do
	ok "by way of a link, lock $i" far bftmutex -w 30 link true
done
# After a quarantine the kernel leaves some locks to the daemon.
won() { far bftmutex -w 30 link true && test "$(far bftmutexctl servers --json | gojq '.clusters[0].fast_won')" -gt 0; }
ok "the kernel has its part in it" wait_for 20 won
sed -i 's/lease = 500ms/lease = 400ms/' "$dir/link"
kill -HUP $daemon
ok "read again" wait_for 10 grep -q "read again" "$dir/log"
ok "and goes on" far bftmutex -w 30 link true
kill $daemon
wait $daemon
ip netns delete bftm-far
finish
