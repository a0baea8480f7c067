#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=14
#
# New keys while locks are held, as Documentation/security.rst says.
#
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 … bftm-s4    n = 4, b = 1, F = 3
#
# shellcheck disable=SC2154,SC2317  # set by, or called from, what is sourced

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

work=$(mktemp -d)

cleanup() {
	stop_jobs
	down
	rm -rf "$work"
}

granted() { c "$1" bftmutex -w 30 -l 2s "rotation.$RANDOM" true; }
lent() { [[ $(c 1 bftmutexctl servers --json | gojq '.clusters[0].fast_path') == true ]]; }
fast_won() { c 1 bftmutexctl servers --json | gojq '.clusters[0].fast_won'; }
deadline() { c 1 bftmutexctl holders --json | gojq ".[] | select(.name == \"$1\") | .deadline_ns | tonumber"; }
lasts_beyond() { [[ $(deadline "$1") -gt $2 ]]; }
is_held() { c 1 bftmutexctl holders --json | gojq -e 'any(.[]; .state == "held")'; }
logged() { grep -qF -- "$2" "$dev/c$1/log"; }
# answers CLIENT SERVER: the server is in order
answers() { [[ $(servers "$1" ".[] | select(.id == $2) | .state") =~ ^(ok|slow)$ ]]; }

load || bail "the module cannot be loaded"
up --servers 4 --clients 2 --lease-max 10s || bail "no cluster"
for n in 1 2; do
	kill_helper $n TERM
	start_helper $n
done

#
# A server's key
#

netns_exec bftm-c1 bftmutex -l 10s rotation.held sh -c "touch $work/held; exec sleep 1000" &
ok "a lock is held" wait_for 20 test -e "$work/held"

new=$work/new
ok "keys for all" bftmutexctl keygen --cluster 73 --servers 4 --dir "$new"
cp "$dev"/keys/server-[124].key "$new/"
ok "and for the clients" bftmutexctl keygen --clients 1-2 --dir "$new"
mkdir -m 700 "$work/lacking"
cp "$new"/server-[134].key "$work/lacking"
ok "where a server's key is lacking: it says so" says 0 "has the keys of servers 1 3 4," \
	bftmutexctl keygen --clients 3 --dir "$work/lacking"
cp "$new/server-4.key" "$work/lacking/server-2.key"
ok "where one is another's: it says so" says 65 "has the key of server 4, so its name must be server-4.key" \
	bftmutexctl keygen --clients 4 --dir "$work/lacking"
s 3 bftmutexctl server stop >/dev/null
ok "server 3 starts with its new key" s 3 bftmutexctl server start --id 3 --lease-max 10s \
	--key "$new/server-3.key" --state "$dev/servers"
ok "the others grant meanwhile" granted 2
for n in 1 2; do
	cp "$new/client-$n.client" "$dev/keys/client-$n.client"
	kill -HUP "$(helper $n)"
	ok "client $n: new credentials" wait_for 20 logged $n "read again"
	ok "client $n: server 3 knows it" wait_for 20 answers $n 3
done
ok "the lock is held all the time" is_held
ok "client 2: nothing needs the old ones" wait_for 20 logged 2 "not used any more"
kill %1
ok "client 1: nor does it, when it is given back" wait_for 20 logged 1 "not used any more"
# One of four servers may be missing; now server 3 works, so another may be.
s 4 bftmutexctl server stop >/dev/null
for n in 1 2; do
	ok "client $n: server 3 grants by its new key" wait_for 60 granted $n
done

#
# A client's number, while it holds a lock that the kernel won under the old one
#

kill_helper 1 TERM
start_helper 1 || bail "no daemon"
ok "the kernel takes what nobody wants" wait_for 30 lent
before=$(fast_won)
declare -A holder
for name in once renewed; do
	option=
	[[ $name == renewed ]] || option=--no-renew
	netns_exec bftm-c1 bftmutex $option -l 8s rotation.$name \
		sh -c "touch $work/$name; exec sleep 1000" &
	holder[$name]=$!
	ok "$name: held" wait_for 20 test -e "$work/$name"
done
is "the kernel won both" $(($(fast_won) - before)) 2
end=$(deadline rotation.renewed)
ok "keys for client 9" bftmutexctl keygen --clients 9 --dir "$new"
sed -i "s,credentials = .*,credentials = $new/client-9.client," "$dev/c1/bftmutex.conf"
kill -HUP "$(helper 1)"
ok "they are read" wait_for 20 logged 1 "read again"
kill "${holder[once]}"
ok "what is given back is free at once" c 2 bftmutex -w 2 rotation.once true
ok "what is renewed goes on" wait_for 30 lasts_beyond rotation.renewed "$end"
# Another change; no lock was won under the configuration in between.
sed -i "s/^cluster .*/&\n\trho = 3000/" "$dev/c1/bftmutex.conf"
kill -HUP "$(helper 1)"
ok "that all the older ones are done with is not said" wait_for 20 logged 1 "an older one is still used"
ok "all the time by the old number" ! logged 1 "not used any more"
kill "${holder[renewed]}"
ok "until it is given back" wait_for 20 logged 1 "not used any more"
is "then there is the new number" "$(c 1 bftmutexctl servers --json | gojq '.clusters[0].client')" 9
ok "and it gets locks" granted 1
kill_helper 1 TERM
sed -i "s,credentials = .*,credentials = $dev/keys/client-1.client," "$dev/c1/bftmutex.conf"
ok "and the old one again" start_helper 1

#
# A client's key
#

cat >"$work/rules" <<'END'
access { client = 2  deny = yes }
access { client = any }
END
for n in 1 2 3; do
	ok "server $n: client 2 is forbidden" s $n bftmutexctl server access set "$work/rules"
done
ok "client 2 gets nothing any more" ! c 2 bftmutex -w 5 rotation.forbidden true
ok "client 1 does" granted 1
finish
