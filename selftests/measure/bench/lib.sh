# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Shared by the rows of the benchmark. "bftmutexctl dev" makes the servers; the client stands in the
# bridge's own namespace, one link from each server:
#
#	   client, br0 10.73.0.200
#	---+----------+---- bridge in bftm-net
#	   |          |
#	bftm-s1    bftm-s2  ...     10.73.0.1, .2, ...
#
# shellcheck disable=SC2154,SC2034  # shared with cluster.sh, or with rows
# shellcheck source=selftests/lib/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../lib/cluster.sh"

PATH=$top/build/bin/bench:$PATH
values=${BFTMUTEX_VALUES:-/dev/stdout}
work=$(mktemp -d)
started=()

# The cluster that a row left for the next one, as it was asked for.
stands=/run/bench-cluster

cleanup() {
	stop_started
	[[ -e $stands ]] || end_cluster
	rm -rf "$work"
}

stop_started() {
	local pid
	for pid in "${started[@]}"; do
		kill "$pid" && wait "$pid"
	done 2>/dev/null
	started=()
}

end_cluster() {
	stop_started
	rm -f "$stands"
	[[ ! -d $dev ]] || down 2>"$work/down" || diag "$(tail -n 3 "$work/down")"
}

# at COMMAND...: on the client
at() { ip netns exec bftm-net "$@"; }

# dev_up ARG...: once more when it took too long to read what is needed from the host
dev_up() {
	bftmutexctl dev up "$@" >"$work/up" 2>&1 && return
	diag "$(tail -n 3 "$work/up")"
	bftmutexctl dev down >/dev/null 2>&1
	bftmutexctl dev up "$@" >"$work/up" 2>&1
}

# leave_cluster N B [ARG...]: nothing was done to it that the next row would notice
leave_cluster() { echo "$*" >"$stands"; }

# cluster N B [ARG...]: n servers that grant, and a helper on the client
cluster() {
	local left=
	[[ ! -e $stands ]] || left=$(<"$stands")
	rm -f "$stands"
	[[ $left != "$*" ]] || return 0
	[[ ! $left ]] || end_cluster
	dev_up --servers "$1" -b "$2" --clients 1 --lease-max 6s "${@:3}" || return
	# The helper of bftm-c1 goes where the path is shorter, and asks all servers, but where a row
	# says otherwise.
	kill_helper 1
	sed -i "s/^cluster .*/&\n\task = all/" "$dev/c1/bftmutex.conf"
	ip -n bftm-net addr add 10.73.0.200/24 dev br0 || return
	ip netns exec bftm-net bftmutexd --config "$dev/c1/bftmutex.conf" --state "$dev/c1" \
		--foreground >"$dev/c1/log" 2>&1 &
	echo $! >"$dev/c1/pid"
	disown $!
	wait_for 20 grep -q ready "$dev/c1/log" && wait_for 60 at bftmutex -w 60 ready true
}

# configure KEY VALUE: of the helper's cluster, which the kernel is lent anew
configure() {
	sed -i -e "/^\t$1 = /d" -e "s/^cluster .*/&\n\t$1 = $2/" "$dev/c1/bftmutex.conf"
	kill -HUP "$(helper 1)"
	wait_for 60 knows "$1" "$2 true"
}
knows() {
	[[ $(at bftmutexctl servers --json |
		gojq -r --arg key "$1" '.clusters[0] | "\(.[$key] // "none") \(.fast_path)"') == "$2" ]]
}

# new_client NUMBER: keys for one that is no helper, in $keys
new_client() {
	keys=$dev/keys/client-$1.client
	bftmutexctl keygen --dir "$dev/keys" --clients "$1" >/dev/null
}

# addresses FROM TO
addresses() {
	local u
	for ((u = $1; u <= $2; u++)); do
		echo "10.73.0.$u"
	done
}

# daemon N COMMAND...: at server N, until the row is done
daemon() {
	local n=$1
	shift
	ip netns exec "bftm-s$n" "$@" >"$work/${1##*/}-$n.log" 2>&1 &
	started+=($!)
}

# redis_servers: five, which keep nothing on any disk, at the addresses in $redis
redis_servers() {
	local u
	mapfile -t redis < <(addresses 1 5)
	for u in {1..5}; do
		daemon "$u" redis-server --bind "10.73.0.$u" --save "" --appendonly no \
			--dir "$work" --protected-mode no
	done
	for u in {1..5}; do
		wait_for 30 grep -q "Ready to accept" "$work/redis-server-$u.log" ||
			bail "Redis $u"
	done
}

# etcd_members: three at the first servers, none of which waits for any disk; $leader is
# the address of the one that leads, and should be asked
etcd_members() {
	local u members=a1=http://10.73.0.1:2380,a2=http://10.73.0.2:2380,a3=http://10.73.0.3:2380
	for u in {1..3}; do
		daemon "$u" etcd --name "a$u" --data-dir "$work/etcd-$u" --unsafe-no-fsync \
			--initial-cluster "$members" \
			--initial-advertise-peer-urls "http://10.73.0.$u:2380" \
			--listen-peer-urls "http://10.73.0.$u:2380" \
			--listen-client-urls "http://10.73.0.$u:2379" \
			--advertise-client-urls "http://10.73.0.$u:2379"
	done
	wait_for 60 etcd_leads && leader=$(head -n 1 "$work/leader") && return
	diag "$(tail -n 5 "$work"/etcd-*.log "$work/leader.log")"
	bail "etcd has no leader"
}

etcd_leads() {
	at etcdctl --endpoints "$(addresses 1 3 | sed 's/$/:2379/' | paste -sd,)" endpoint status \
		2>"$work/leader.log" |
		awk -F', ' '$5 == "true" { sub(/:.*/, "", $1); print $1 }' >"$work/leader"
	[[ -s $work/leader ]]
}

# row DESC COMMAND...: what COMMAND prints, "NAME VALUE UNIT" a line, is measured
row() {
	local desc=$1
	shift
	ok "$desc" into "$work/values" "$@" || return
	cat "$work/values" >>"$values"
	awk '$1 ~ /[.](p50|per_grant)$/ { print "# " $1, $2, $3 }' "$work/values"
}
into() { "${@:2}" >"$1"; }
