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
finish
