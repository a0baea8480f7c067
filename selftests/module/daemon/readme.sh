#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm tier=all alone time=60
#
# The steps of README on real hosts, in its order and words, after "make install", with the files
# that it puts into /etc, /lib and PATH. Then the next steps of a new user.
# shellcheck disable=SC2154,SC2317  # set by, or called from, what is sourced
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/readme.sh
. "$(dirname "$0")/../../lib/readme.sh"

conf=/etc/bftmutex/bftmutex.conf
work=$(mktemp -d)

cleanup() {
	[[ ! -e $work/pid ]] || kill "$(<"$work/pid")"
	bftmutexctl dev down >/dev/null
	rm -rf "$work"
}

# Hosts of README's addresses on one bridge.
host() {
	ip netns add "bftm-$1" &&
		ip -n "bftm-$1" link add eth0 type veth peer name "$1" netns bftm-net &&
		ip -n bftm-net link set "$1" master br0 up &&
		ip -n "bftm-$1" addr add "192.0.2.$2/24" dev eth0 &&
		ip -n "bftm-$1" link set lo up && ip -n "bftm-$1" link set eth0 up
}
hosts() {
	local n
	ip netns add bftm-net && ip -n bftm-net link add br0 type bridge &&
		ip -n bftm-net link set br0 up && host c1 101 || return
	for n in 1 2 3 4; do
		host s$n $n || return
	done
}
no_hosts() { ip netns list | sed -n 's/^\(bftm-[^ ]*\).*/\1/p' | xargs -n 1 ip netns delete; }

nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

#
# README
#

install_all
ok "the group is there" getent group bftmutex
ok "modprobe bftmutex" sh -c "$(readme modprobe)" || bail "no module"
cd "$work" || bail "$work"
ok "keygen" sh -c "$(readme "bftmutexctl keygen")"
cp keys/* /etc/bftmutex/keys
hosts || bail "no network"
for n in 1 2 3 4; do
	ok "server start, $n" s $n sh -c "$(readme "bftmutexctl server start" $n)"
done
ok "cluster show before there is one" says 78 "$conf:1: no cluster is described here" \
	sh -c "$(readme "bftmutexctl cluster")"
ok "bftmutexd likewise" says 78 "bftmutexd: $conf:1: no cluster is described here" \
	c 1 sh -c "$(readme bftmutexd)"
sed -n '/^\tcluster storage {/,/^\t}/p' "$top/README" >$conf
ok "cluster show" says 0 storage c 1 sh -c "$(readme "bftmutexctl cluster")"
ok "bftmutexd --check" c 1 bftmutexd --check
ok "bftmutexd" c 1 bftmutexd --pid-file "$work/pid"
ok "bftmutex -n, in the quarantine" says 1 "servers 1, 2, 3 and 4 are in quarantine, for another" \
	c 1 bftmutex -n NAME true
had=$(readme "bftmutex NAME" | sed 's/COMMAND/echo had/')
is "bftmutex NAME COMMAND" "$(c 1 timeout 1200 sh -c "$had")" had

#
# With options
#

anew() {
	s 1 bftmutexctl server stop >/dev/null
	says "$@"
}
start=(s 1 bftmutexctl server start --key /etc/bftmutex/keys/server-1.key)
ok "a server knows its cluster's configuration" anew 0 "in a cluster of 4 servers, of which 1" "${start[@]}"
sed -i 's/\tid = 1/\tid = 1 lease = 2h/' $conf
ok "with a mistake it does not start" anew 78 "key 'lease' = '2h'" "${start[@]}"
sed -i 's/\tid = 1 lease = 2h/\tid = 2/' $conf
ok "that of another cluster is none" anew 0 "With six servers or more for one liar" "${start[@]}"
ok "unless it was named" anew 78 "has no cluster with id = 1" "${start[@]}" --config $conf
cp "$top/helper/systemd/bftmutex.conf" $conf
ok "nor is one without any" anew 0 "The server runs." "${start[@]}"
ok "unless it was named" anew 78 "no cluster is described here" "${start[@]}" --config $conf
for list in locks objects clients; do
	ok "$list without a server" says 69 "no server runs in this network namespace" \
		s 1 bftmutexctl $list
done
ok "watch for nobody" says 77 "not permitted: only root (CAP_NET_ADMIN) may do this" \
	nobody timeout 600 bftmutexctl watch
for words in --usage "server --usage" "server access --help" "server access set --usage"; do
	# shellcheck disable=SC2086
	ok "bftmutexctl $words" says 0 "Usage: bftmutexctl" bftmutexctl $words
done
kill "$(<"$work/pid")"
rm -f "$work/pid"
no_hosts

#
# A cluster to try things out
#

printf 'cluster mine { id = 73 b = 0 lease = 2h }\n' >$conf
ok "dev up, whatever is in /etc" says 0 "--state /run/bftmutex/dev/servers" bftmutexctl dev up --servers 4
sed -n 's/^Restart a server: *//p; /^ .*server start/,/^$/p' "$tap_log.said" >"$work/restart"
ok "a server is restarted as it says" says 0 "not its first start here" sh "$work/restart"
ok "dev down" bftmutexctl dev down
rmmod bftmutex ip6_udp_tunnel udp_tunnel 2>/dev/null
ok "nothing is loaded" ! test -e /sys/module/udp_tunnel
ok "dev up with a module that was built" bftmutexctl dev up --servers 4 --module "$BFTMUTEX_KO"
ok "dev down" bftmutexctl dev down
finish
