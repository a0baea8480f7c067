#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm tier=all clock=instructions time=60
#
# Hosts of another version of the wire format among those of a cluster. They are silent to each
# other: nobody gets a lock by what he does not understand, and nobody loses one.
#
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 … bftm-s4    n = 4, b = 1
#	         (and a client of version 1)
#
# Functions are called by name, load may have no arguments, and variables are
# shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

pids=()
cleanup() {
	((${#pids[@]} == 0)) || kill "${pids[@]}" 2>/dev/null
	down
}

stat() { s "$1" bftmutexctl server show --json | gojq -c ".stats | $2"; }

# be N ARG...: server N is a program of another version from now on.
be() {
	local n=$1
	shift
	s "$n" bftmutexctl server stop >/dev/null 2>&1
	netns_exec "bftm-s$n" older "$1" "$dev/keys/server-$n.key" "${@:2}" >"$dev/older-$n" 2>&1 &
	pids+=($!)
	wait_for 10 grep -q ready "$dev/older-$n"
}
end_all() {
	kill "${pids[@]}"
	wait "${pids[@]}" 2>/dev/null
	pids=()
}

# takes N: client N gets a lock and gives it back.
takes() { c "$1" bftmutex -w 20 "lock-$1" true; }

load || bail "module"
echo "versions.sh begins" >/dev/kmsg
up --servers 4 -b 1 --clients 2 --lease-max 2s || bail "no cluster"
bftmutexctl keygen --dir "$dev/keys" --clients 50 >/dev/null || bail "no keys"

# A client of version 1 asks all servers for the lock that another has, and then nobody.
netns_exec bftm-c1 bftmutex -w 20 one sh -c "touch $dev/inside; exec sleep 1000" &
holder=$!
wait_for 20 test -e "$dev/inside" || bail "nobody has the lock"
for n in 1 2 3 4; do
	netns_exec bftm-c2 older client $n "10.73.0.$n" "$dev/keys/client-50.client" one \
		>"$dev/client-$n" 2>&1 &
	pids+=($!)
done
heard_of() { (($(stat "$1" .bad_version) > 20)); }
for n in 1 2 3 4; do
	ok "server $n hears of a client of version 1" wait_for 20 heard_of $n
done
c 2 bftmutex -n one true
is "the lock is held" $? 1
kill $holder
wait $holder 2>/dev/null
ok "and can be had when it is given back" c 2 bftmutex -w 20 one true
end_all
is "none of them was answered" "$(sed -n 's/.*heard=//p' "$dev"/client-? | tr '\n' ' ')" "0 0 0 0 "
is "the log tells of it once a server" "$(dmesg | sed '1,/versions.sh begins$/d' |
	sed -n 's/.*bftmutex: server \([1-4]\): client 50 at 10.73.0.102 speaks version 1, this server 2: upgrade that host$/\1/p' |
	sort | tr '\n' ' ')" "1 2 3 4 "

# One server of version 1 is one that says nothing.
ok "server 4 is of version 1" be 4 server
before=$(servers 1 '.[3].received')
bad() { (($(servers 1 '.[3].bad') > 3)); }
ok "a lock can be had" takes 1
ok "what it says is counted" wait_for 20 bad
is "and nothing of it is believed" "$(servers 1 '.[3].received')" "$before"
is "it is no liar" "$(servers 1 '.[3].lies')" 0

# All of them are as if nobody were there.
for n in 1 2 3; do
	ok "server $n is of version 1" be $n server
done
said=$(c 1 bftmutex -w 8 unheard true 2>&1)
is "no lock can be had" $? 69
ok "for want of servers" grep -q "too few servers answered" <<<"$said" || diag "$said"
end_all
is "they were asked, and answered" "$(grep -c 'said=[1-9]' "$dev"/older-? | grep -c ':1$')" 4

# Servers of a later version say so: one is not believed, b + 1 are.
for n in 1 2 3; do
	honest $n --lease-max 2s
done
ready || bail "no cluster again"
ok "server 4 is of version 3" be 4 later 3
ok "a lock can be had" takes 1
outdated() { grep -c "speaks version 3 of the wire format, this host 2" "$dev/c1/log"; }
is "one server is not believed" "$(outdated)" 0
ok "server 3 is of version 3" be 3 later 3
ok "the daemon says so" wait_for 20 grep -q "speaks version 3 of the wire format, this host 2" \
	"$dev/c1/log"
said=$(c 1 bftmutex -w 20 outdated true 2>&1)
is "no lock can be had" $? 69
diag "$said"
is "the daemon says it once" "$(outdated)" 1
end_all
finish
