#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The lock of etcd: three members that do not wait for any disk.
# shellcheck disable=SC2154  # variables of lib.sh
# shellcheck source=selftests/bench/lib.sh
. "$(dirname "$0")/../lib.sh"

cluster 7 1 || bail "no cluster"
members=a1=http://10.73.0.1:2380,a2=http://10.73.0.2:2380,a3=http://10.73.0.3:2380
for u in {1..3}; do
	daemon "$u" etcd --name "a$u" --data-dir "$work/etcd-$u" --unsafe-no-fsync \
		--initial-cluster "$members" --initial-advertise-peer-urls "http://10.73.0.$u:2380" \
		--listen-peer-urls "http://10.73.0.$u:2380" \
		--listen-client-urls "http://10.73.0.$u:2379" \
		--advertise-client-urls "http://10.73.0.$u:2379"
done
# The member that is asked should be the one that leads.
leads() {
	at etcdctl --endpoints "$(addresses 1 3 | sed 's/$/:2379/' | paste -sd,)" endpoint status 2>"$work/leader.log" |
		awk -F', ' '$5 == "true" { sub(/:.*/, "", $1); print $1 }' >"$work/leader"
	[[ -s $work/leader ]]
}
wait_for 60 leads || {
	diag "$(tail -n 5 "$work"/etcd-*.log "$work/leader.log")"
	bail "etcd has no leader"
}
row "etcd" at etcd_lock 300 "$(head -n 1 "$work/leader")"
finish
