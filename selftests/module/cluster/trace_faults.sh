#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm tier=all time=45
#
# Recordings of a cluster in which an assumption is broken: bftmutex-trace says that two were
# inside, or may have been, and names who broke it.
#
#	bftm-c1  bftm-c2 ---- bridge ---- bftm-s1 … bftm-s4    n = 4, b = 0, m = 3, ρ = 10 %
#
# No clock of a VM can be made to run wrong. A host that reckons with a smaller ρ than that of the
# verdict does what a host with a wrong clock does: a client stays too long, a server grants too
# early.
#
# shellcheck disable=SC2317,SC2154,SC2119
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/recordings.sh
. "$(dirname "$0")/../../lib/recordings.sh"

# shellcheck disable=SC2034  # of recordings.sh
hosts=(c1 c2 s1 s2 s3 s4)
lease_max=20s

# restart N [ARG...]
restart() {
	s "$1" bftmutexctl server stop >/dev/null
	s "$1" bftmutexctl server start --id "$1" --key "$dev/keys/server-$1.key" \
		--state "$dev/servers" --lease-max $lease_max --no-quarantine "${@:2}" >/dev/null 2>&1
}

# restart_all [ARG...]: while nobody holds a lock
restart_all() {
	local n
	for n in 1 2 3 4; do
		restart $n "$@" || return
	done
	settled
}

settled() {
	local n
	for n in 1 2; do
		wait_for 60 c $n bftmutex -w 20 "settled-$n" true || return
	done
}

# reckon N PPM: client N reckons with this ρ
reckon() {
	sed -i "s/^\trho = .*/\trho = $2/" "$dev/c$1/bftmutex.conf"
	kill -HUP "$(helper "$1")"
	wait_for 10 forgotten "$1"
}

reckoned() { restart_all --rho 100000 && reckon 1 100000 && reckon 2 100000 && settled; }

inside() { grep -q inside "$work/inside"; }

# hold NAME LEASE: client 1 is inside
hold() {
	: >"$work/inside"
	c 1 bftmutex --no-renew --lease "$2" "$1" \
		sh -c "echo inside >'$work/inside'; exec sleep 60" 2>/dev/null &
	holder=$!
	wait_for 20 inside
}

# cut_off NAME: client 1 holds the lock to the end of its lease, client 2 gets it
cut_off() {
	hold "$1" 2s || bail "no lock"
	ip -n bftm-c1 link set eth0 down
	ok "$1: the other gets it when the lease is over" c 2 bftmutex -w 30 "$1" true
	wait $holder
	ip -n bftm-c1 link set eth0 up
	record_end
	settled || bail "no network"
}

own_work
load || bail "module"
up --servers 4 -b 0 --clients 2 --lease-max $lease_max || bail "no cluster"
tune 'protocol = sigma' 'm = 3' || bail "configuration"
ok "all reckon with rho = 10 %" reckoned || bail "configuration"

record || bail "no recording"
cut_off kept
judge
is "kept: all assumptions hold" "$verdict" "no, if clocks keep rho"
explain

# Two servers forget, of which r = 1 may.
s 4 bftmutexctl server stop >/dev/null
record || bail "no recording"
hold forgotten $lease_max || bail "no lock"
for n in 1 2 4; do
	restart $n --rho 100000
done
ok "servers forget: another one gets it" c 2 bftmutex -w 20 forgotten true
kill $holder
wait $holder 2>/dev/null
record_end
judge
ok "… two were inside: '$verdict'" test "$verdict" = possibly -o "$verdict" = definitely
explain
for n in 1 2; do
	ok "… server $n is named" \
		said "server $n granted forgotten to client .* left of the lease .*it forgot"
done
ok "… and no client is blamed" ! said overstayed

# Servers whose clocks are too fast by more than ρ.
restart_all --rho 100 || bail "no cluster"
record || bail "no recording"
cut_off early
judge
is "… clocks of servers are out of rho: messages and leases do not exclude two holders" \
	"$verdict" possibly
explain
ok "… a server is named" \
	said "server [1-4] granted early to client .* left of the lease .*its clock is wrong"
ok "… and no client is blamed" ! said overstayed

# A client that stays too long.
restart_all --rho 100000 || bail "no cluster"
reckon 1 100 || bail "configuration"
settled || bail "no cluster"
record || bail "no recording"
cut_off late
judge
ok "… hosts that reckon with different rho are named" \
	said 'files differ: cluster [0-9]* has 4 servers, b 0, m 3, rho 100 ppm'
judge --servers 4 --b 0 --m 3 --rho 100000
is "… a client overstays: messages and leases do not exclude two holders" "$verdict" possibly
explain
ok "… it is named" \
	said "client .* held late until .* longer than its servers granted: it overstayed"
finish
