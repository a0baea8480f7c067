#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=30
#
# Servers with a roll, a file that names the clients that may hold a lock without a lease: after a
# restart a server waits for these clients alone. A roll that is behind the truth is never believed.
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 … bftm-s4		n = 4, b = 1
#
# The access rules have a client 3, which has no host.
#
# shellcheck disable=SC2154,SC2317,SC2119  # set by, or called from, what is sourced
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

own_work
servers=$dev/servers
declare -A keeper
state() { echo "$work/state-$1"; }
file() { echo "$(state "$1")/server-$(id)-$1.roll"; }
id() { s 1 bftmutexctl server show --json | gojq .cluster; }

# start N [ARG...]: server N; what it says is in $work/said.
start() {
	s "$1" bftmutexctl server start --key "$dev/keys/server-$1.key" --lease-max 1s \
		--state "$(state "$1")" --config "$servers/bftmutex.conf" "${@:2}" >"$work/said" 2>&1
}
# start_unheard N ARG...: for how many members it waits before the first of them tells it anything
# is in "$work/waiting".
start_unheard() {
	local status=0
	ip -n "bftm-s$1" link set eth0 down
	start "$@" || status=$?
	s "$1" bftmutexctl server show --json | gojq .awaited >"$work/waiting"
	ip -n "bftm-s$1" link set eth0 up
	return "$status"
}
stop() { s "$1" bftmutexctl server stop >/dev/null; }
# roll N: the process that keeps the roll of server N; what it says is in $work/roll.N.
roll() {
	s "$1" bftmutexctl server roll --state "$(state "$1")" 2>"$work/roll.$1" &
	keeper[$1]=$!
	disown $!
}
# restart N...: with rolls
restart() {
	local n
	for n; do
		stop "$n" && start_unheard "$n" --roll || return
		wait_for 10 gone "${keeper[$n]}"
		roll "$n"
	done
}
said() { ok "$1" grep -qF -- "$2" "$work/${3:-said}"; }
awaited() { s "$1" bftmutexctl server members --json | gojq -c '[.[] | select(.awaited) | .id]'; }
awaits() { [[ $(awaited "$1") == "$2" ]]; }
noted() { s "$1" bftmutexctl server members --json | gojq -c '[.[] | select(.noted) | .id]'; }
notes() { [[ $(noted "$1") == "$2" ]]; }
all_note() { local n; for n in 1 2 3 4; do notes "$n" "$1" || return; done; }
# Does the file name all that the server has noted, or waits for?
covers() {
	local client noted
	while read -r client noted; do
		grep -q -e "^client $client unknown$" -e "^all unknown$" "$(file "$1")" && continue
		noted=${noted/null/0}
		(($(sed -n "s/^client $client incarnation //p" "$(file "$1")") >= noted)) || return
	done < <(s "$1" bftmutexctl server members --json |
		gojq -r '.[] | select(.noted or .awaited) | "\(.id) \(.noted)"')
}
is_open() {
	local n
	for n in 1 2 3 4; do
		[[ $(s "$n" bftmutexctl server show --json | gojq -c '[.awaited, .quarantine_ns]') == "[0,0]" ]] ||
			return
	done
}
# try N ARG...: the exit status of one that asks
try() { c "$1" bftmutex "${@:2}" true 2>/dev/null; echo $?; }

load || bail "the module cannot be loaded"
up --servers 4 --clients 2 --lease-max 1s || bail "no cluster"
sed -i 's|^}|\taccess { client = 1-3  prefix = "disk/"  leaseless = yes }\n\taccess { client = any }\n}|' \
	"$servers/bftmutex.conf"
# No start at all: the roll that it wrote would be one that the next first start knows nothing of.
ok "a first start without its device fails" says 69 "no such device" \
	c 1 bftmutexctl server start --key "$dev/keys/server-1.key" --state "$work/state-5" \
		--config "$servers/bftmutex.conf" --roll --ingress none0
is "and leaves no roll" "$(find "$work/state-5" -name '*.roll')" ""
for n in 1 2 3 4; do
	stop $n || bail "server $n runs on"
	start $n --roll || bail "server $n: $(<"$work/said")"
done
said "server start names the process that is needed" "bftmutexctl server roll --state"
tune 'leaseless = yes' || bail "configuration"
is "at its first start a server waits for nobody" "$(awaited 1)" "[]"
ok "the quarantine ends" wait_for 60 is_open
is "nobody is in the roll yet, and gets a lock without a lease" "$(try 1 --no-lease -w 2 disk/1)" 69
ok "check says that they wait" says 1 "2 clients wait for its roll" s 1 bftmutexctl check --server
ok "bftmutex says why" says 69 "does not name this host" c 1 bftmutex --no-lease -w 2 disk/1 true
# unnoted N: what client N knows of the rolls
unnoted() { c "$1" bftmutexctl servers --json | gojq -c '[.clusters[].servers[].unnoted]'; }
knows() { [[ $(unnoted "$1") == "$2" ]]; }
is "bftmutexctl servers knows it" "$(unnoted 1)" "[true,true,true,true]"
is "and says it" "$(c 1 bftmutexctl servers | grep -c "^  server [1-4] has a roll that does not name this host")" 4
is_logged() { dmesg | grep -q "client 1 gets no lock without a lease, since the roll does not name it"; }
asks_in_vain() { try 1 --no-lease -w 2 disk/1 >/dev/null; is_logged; }
ok "a server logs it when that lasts" wait_for 60 asks_in_vain
is "with a lease the lock is granted" "$(try 1 -w 20 disk/1)" 0
for n in 1 2 3 4; do
	roll $n
done
ok "those that are heard of are in the rolls" wait_for 60 all_note "[1,2]"
is "then they get locks" "$(try 1 --no-lease -w 20 disk/1)" 0
ok "bftmutexctl servers knows it" wait_for 60 knows 1 "[false,false,false,false]"
ok "the roll covers them" covers 1
ok "check says that all is well" says 0 "grants locks" s 1 bftmutexctl check --server
ok "server show" test "$(s 1 bftmutexctl server show --json | gojq .roll)" = true
ok "a second process for this roll is refused" says 69 "another process keeps this roll" \
	s 1 bftmutexctl server roll --state "$(state 1)"
ok "another state directory is refused" says 78 "give the --state of 'server start'" \
	s 1 bftmutexctl server roll --state "$(state 2)"

# A client that has no host keeps no lock from anybody. One that holds is waited for.
mkfifo "$work/go"
netns_exec bftm-c1 bftmutex --no-lease disk/2 sh -c "touch $work/held; read word <$work/go" &
holder=$!
wait_for 60 test -e "$work/held"
kill_helper 1
ok "all servers restart" restart 1 2 3 4
ok "each waits for the holder alone, since client 2 has told it" wait_for 60 awaits 1 "[1]"
is "and grants nothing" "$(try 2 --no-lease -w 3 disk/3)" 69
ok "the roll covers the client for which it waits" covers 1
ok "the holder's helper is back" start_helper 1
ok "no server waits any more" wait_for 60 is_open
ok "the holder's new helper is in the rolls" wait_for 60 all_note "[1,2]"
is "other locks are granted" "$(try 2 --no-lease -w 20 disk/3)" 0
is "the lock that is held is not" "$(try 2 --no-lease -n disk/2)" 1
echo >"$work/go"
wait $holder
is "the command has ended" $? 0
is "then it is" "$(try 2 --no-lease -w 20 disk/2)" 0

# An eviction outlasts a start: it is said once.
kill_helper 2
read -r incarnation <"$(echo "$dev"/c2/cluster-*-client-2)"
ok "server 1 restarts" restart 1
ok "it waits for client 2" wait_for 60 awaits 1 "[2]"
ok "client 2 is evicted" s 1 bftmutexctl client evict --state "$(state 1)" 2 "$incarnation" --fenced
awaits_by_file() { grep -q "^client 2 incarnation $incarnation$" "$(file 1)"; }
ok "the roll knows that it is not waited for" wait_for 60 awaits_by_file
ok "server 1 restarts again" restart 1
ok "it waits for client 2 no more" wait_for 60 awaits 1 "[]"
ok "its helper is back" start_helper 2
ok "it is in the rolls" wait_for 60 all_note "[1,2]"

# A roll that may be behind the truth.
cp "$(file 1)" "$work/older"
stop 1
ok "a start without the roll" start 1
stop 1
ok "a start with it again" start_unheard 1 --roll
said "it says that the roll is of another start" "the roll is of another start"
is "and waits for all" "$(<"$work/waiting")" 3
roll 1
ok "client 3 is left" wait_for 60 awaits 1 "[3]"
ok "the roll says that client 3 may hold anything" wait_for 60 grep -q "^client 3 unknown$" "$(file 1)"
ok "client 3 is evicted" s 1 bftmutexctl client evict --state "$(state 1)" 3 "$(date +%s)" --fenced
is_left_out() { ! grep -q "^client 3" "$(file 1)"; }
ok "the roll names it no more" wait_for 60 is_left_out
ok "server 1 restarts" restart 1
ok "nobody is left" wait_for 60 awaits 1 "[]"
stop 1
cp "$work/older" "$(state 1)"/server-*-1.roll
ok "a start with an older roll" start_unheard 1 --roll
is "it waits for all" "$(<"$work/waiting")" 3
name=$(file 1)
stop 1
rm "$name" "${name%.roll}"
ok "a start of a server that has lost all its files" start_unheard 1 --roll --token-floor unknown
said "it says that there is no roll" "there is no roll of the start before"
is "it waits for all" "$(<"$work/waiting")" 3
spoilt=("sed -i \$d" 'truncate -s -1' 'truncate -s 0' 'sed -i 1d' 'sed -i s/end.*/end.9/')
! short || spoilt=("${spoilt[@]::2}")
for torn in "${spoilt[@]}"; do
	stop 1
	$torn "$name"
	ok "$torn: a start" start_unheard 1 --roll
	said "$torn: it says that the roll is broken" "the roll is broken"
	is "$torn: the server waits for all" "$(<"$work/waiting")" 3
done
s 1 bftmutexctl client evict --state "$(state 1)" 3 "$(date +%s)" --fenced >/dev/null

# Killed at any step of its work: the file covers what the server has noted.
steps=({1..14})
! short || steps=(1 4 7 10 13)
for step in "${steps[@]}"; do
	kill_helper 1
	start_helper 1 || bail "helper 1"
	ok "killed at step $step" s 1 kill_at -t "$step" bftmutexctl server roll --state "$(state 1)"
	ok "step $step: the roll covers what was noted" covers 1
done

# No room on the disk.
roll 1
ok "client 1 is in the roll" wait_for 60 notes 1 "[1,2]"
kill_helper 1
before=$(s 1 bftmutexctl server members --json | gojq '.[0].noted')
mkdir "$work/full"
mount -t tmpfs -o size=64k none "$work/full"
cp "$(state 1)"/* "$work/full"
mount --bind "$work/full" "$(state 1)"
dd if=/dev/zero of="$work/full/filler" bs=4k 2>/dev/null
start_helper 1 || bail "helper 1"
ok "the process ends" wait_for 60 gone "${keeper[1]}"
said "it says why" "clients that it does not name get no locks" roll.1
is "the new incarnation is not noted" "$(s 1 bftmutexctl server members --json | gojq '.[0].noted')" "$before"
ok "the roll covers what was noted" covers 1
is "the other servers are enough" "$(try 1 --no-lease -w 20 disk/5)" 0
rm "$work/full/filler"
roll 1
newer() { (($(s 1 bftmutexctl server members --json | gojq '.[0].noted') > before)); }
ok "with room, it is noted" wait_for 60 newer

# A machine that was set back: what it has noted before tells nothing.
forks || bail "no fork"
ok "the process ends" wait_for 60 gone "${keeper[1]}"
said "it says why" "begun anew without its roll" roll.1
ok "the roll is not believed at the next start" grep -q "^all unknown$" "$work/full/$(basename "$name")"
ok "nothing is granted without a lease" test "$(try 1 --no-lease -w 3 disk/6)" != 0
ok "server 1 restarts" restart 1
said "it says that the roll is of another start" "the roll is of another start"
is "it waits for all" "$(<"$work/waiting")" 3
# The processes that keep rolls hold the folder.
pkill -f "^bftmutexctl server roll"
for n in "${keeper[@]}"; do
	wait_for 10 gone "$n"
done
umount "$(state 1)" "$work/full"
finish
