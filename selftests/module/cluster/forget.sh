#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=35
#
# "protocol = sigma": servers restart without a quarantine. All of them do, one after the other, while
# locks change hands and one is held, and nobody waits for a quarantine. Beyond r the tools warn, the
# clients do not count such servers, and where servers say less than they do, two hosts are inside.
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 … bftm-s4    n = 4, b = 0, m = 3, r = 1
#
# Functions are called by name, load may have no arguments, and variables are
# shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

lease_max=5s
quarantine_ns=5010001000	# ⌈Δmax(1 + ρ)⌉ and a tick

own_work

show() { s "$1" bftmutexctl server show --json | gojq -r "$2"; }
rested() { [[ $(show "$1" .quarantine_ns) == 0 ]]; }

# restart N [ARG...]
restart() {
	local n=$1
	shift
	s "$n" bftmutexctl server stop >/dev/null &&
		s "$n" bftmutexctl server start --id "$n" --key "$dev/keys/server-$n.key" \
			--state "$dev/servers" --lease-max $lease_max "$@" >"$work/start-$n" 2>&1
}

# hold N NAME: client N holds the lock until "give NAME"; its exit status is in $work/NAME.
hold() {
	rm -f "$work/$2" "$work/$2.in"
	mkfifo "$work/$2.go"
	{
		c "$1" bftmutex -l 4 "$2" sh -c "touch $work/$2.in; exec cat $work/$2.go"
		echo $? >"$work/$2"
	} 2>/dev/null &
	wait_for 10 test -e "$work/$2.in"
}
give() {
	: >"$work/$1.go"
	wait_for 10 test -s "$work/$1"
	rm -f "$work/$1.go"
}

# longest: the longest time that an entry waited for, ns
longest() { awk '$4 > most { most = $4 } END { print most + 0 }' "$entries"; }

preload bftmutexctl bftmutexd contender gojq
load || bail "module"
up --servers 4 -b 0 --clients 2 --lease-max $lease_max || bail "no cluster"
tune 'protocol = sigma' 'm = 3' || bail "configuration"
is "cluster show" "$(bftmutexctl cluster show -c "$dev/c1/bftmutex.conf" --json |
	gojq -c '.[0] | [.protocol, .free_needed, .spared, .silent_max]')" '["sigma",3,1,1]'
ok "cluster show: how likely more forget" grep -q 'p = 5.8e-06 .* servers live 1h' \
	<(bftmutexctl cluster show -c "$dev/c1/bftmutex.conf" --lifetime 1h)
is "wrong m" "$(sed 's/m = 3/m = 2/' "$dev/c1/bftmutex.conf" >"$work/wrong"
	bftmutexctl cluster show -c "$work/wrong" 2>&1 | sed "s,$work/,,")" \
	"bftmutexctl: wrong:$(grep -n 'm = 2' "$work/wrong" | cut -d: -f1): cluster 'demo': key 'm' = '2': must be 3 to 4 with n = 4 and b = 0: fewer grants let two clients in, more cannot be had while b servers are silent"

# The first start with the option, while nothing is held. Then all once more, one after the other, and
# nothing stops.
for n in 1 2 3 4; do
	restart "$n" --no-quarantine || bail "server $n does not start"
done
for n in 1 2 3 4; do
	wait_for 60 rested "$n" || bail "server $n stays in quarantine"
done
is "server show" "$(show 1 .no_quarantine)" 1
ok "a lock is held" hold 1 kept
: >"$dev/entries"
append=1
for n in 1 2 3 4; do
	contend_start 4 --entries 8 --hold 20 --pause 300 --lease 4
	ok "server $n restarts" restart "$n" --no-quarantine
	ok "… and grants at once" test "$(show "$n" .quarantine_ns)" -gt 0
	ok "… nothing stops" contend_end
	wait_for 60 rested "$n"
done
ok "one at a time" no_overlap
ok "all entered" counted 128
diag "longest wait $(($(longest) / 1000000)) ms, a quarantine $((quarantine_ns / 1000000)) ms"
figure "nobody waited for a quarantine" test "$(longest)" -lt $((quarantine_ns / 2))
is "held all the time, and others do not get it" "$(c 2 bftmutex -n kept true; echo $?)" 1
give kept
is "… nor was it lost" "$(cat "$work/kept")" 0

# Two that say so are more than r: what they grant does not count.
forgetful() { [[ $(servers 1 '[.[] | select(.state == "forgetful").id] | join(" ")') == "$1" ]]; }
restart 1 --no-quarantine=4 --config "$dev/c1/bftmutex.conf"
is "where no m is large enough, server start says so" \
	"$(grep -o 'no m leaves room for more than r = .*' "$work/start-1")" \
	"no m leaves room for more than r = 3, so lower R, or start it without the option"
restart 1 --no-quarantine=2 --config "$dev/c1/bftmutex.conf"
is "server start warns" "$(grep -o 'which leaves room for r = 1 that forget' "$work/start-1")" \
	"which leaves room for r = 1 that forget"
is "… and says what to do" "$(grep -o 'set protocol = sigma.*' "$work/start-1")" \
	"set protocol = sigma with a larger m, or lower R"
ok "the client shows it" wait_for 20 forgetful 1
is "… and is content with three" "$(c 1 bftmutex -w 20 three true; echo $?)" 0
restart 2 --no-quarantine=2
ok "two of them" wait_for 20 forgetful "1 2"
ok "… are too many" ! c 1 bftmutex -w 1 two true
is "check" "$(c 1 bftmutexctl check --json | gojq -c '.clusters[0] | [.forgetful, .usable]')" '[[1,2],2]'

# The rule is needed: r + 1 servers that say r forget a lock that three servers have granted.
for n in 1 2; do
	restart "$n" --no-quarantine
done
ok "they are back" wait_for 20 forgetful ""
for n in 1 2; do
	wait_for 60 rested "$n"
done
# A holder that asks some servers first tells all of them soon that it holds the lock.
tune 'ask = all' || bail "configuration"
s 4 bftmutexctl server stop >/dev/null
ok "another lock is held" hold 1 broken
for n in 1 2; do
	restart "$n" --no-quarantine
done
s 4 bftmutexctl server start --key "$dev/keys/server-4.key" --state "$dev/servers" \
	--lease-max $lease_max --no-quarantine >/dev/null
is "r + 1 forget: two are inside" "$(c 2 bftmutex -w 10 broken true; echo $?)" 0
give broken
finish
