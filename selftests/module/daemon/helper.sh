#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=20
#
# bftmutexd may be absent, stopped, killed, restarted or reconfigured: held locks stay held, waiting
# requests are served or fail, and nothing hangs.
#
#
# shellcheck disable=SC2154,SC2317  # set by, or called from, what is sourced

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

own_work
conf=$dev/c1/bftmutex.conf

# A lock that no other test uses, and a file that shows that it was acquired.
new_lock() {
	next_lock
	mark=$work/mark.$lock_number
}

# t N ARG...: bftmutex on client N; sets status and err.
t() {
	c "$1" bftmutex "${@:2}" >"$work/out" 2>"$work/err"
	status=$?
	err=$(<"$work/err")
}

# says DESC TEXT: the last message has TEXT.
says() { ok "$1" grep -qF -- "$2" <(echo "$err"); }

# hold N [LEASE]: client N has the lock until the job $holder ends.
hold() {
	rm -f "$mark"
	netns_exec "bftm-c$1" bftmutex --no-renew -l "${2:-1s}" "$lock" \
		sh -c "touch $mark; exec sleep 100" 2>/dev/null &
	holder=$!
	wait_for 20 test -e "$mark"
}

# ask N FILE: client N waits for the lock, and makes FILE when it has it.
ask() {
	netns_exec "bftm-c$1" bftmutex --no-renew -l 2s "$lock" touch "$2" 2>"$work/err.$1" &
	asker=$!
}

now_ms() { echo $((${EPOCHREALTIME/./} / 1000)); }

states() { c "$1" bftmutexctl holders --json | gojq -r '.[].state' | sort | xargs; }
in_state() { [[ $(states "$1") == *"$2"* ]]; }

ended() {
	kill "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}
undo() { ended "$holder"; }

load || bail "the module cannot be loaded"
up --servers 4 --clients 2 --lease-max 8s || bail "no cluster"

#
# Absent
#

new_lock
ip netns add bftm-none
netns_exec bftm-none bftmutex "$lock" true 2>"$work/err"
err=$(<"$work/err")
says "no helper: it says so" "bftmutexd is not running"
ip netns delete bftm-none

#
# Killed while requests wait
#

new_lock
hold 2 8s || bail "client 2 gets no lock"
ask 1 "$work/got"
wait_for 10 in_state 1 pending
# No other work in between: on a slow machine the grace period may be over soon.
kill_helper 1
ok "restarted" start_helper 1
ended "$holder"
ok "restarted: what waited is served" wait_for 20 test -e "$work/got"
wait $asker
is "restarted: with success" "$? $(<"$work/err.1")" "0 "

new_lock
hold 2 8s
ask 1 "$work/never"
wait_for 10 in_state 1 pending
kill_helper 1
begin=$(now_ms)
# The kernel goes on with what the daemon has lent, for the grace period.
t 1 "$lock.other" true
is "not restarted: a lock that nobody wants is had" "$status $err" "0 "
t 1 "$lock" true
says "not restarted: a new request for another's lock is not served" "bftmutexd is not running"
wait $asker
is "not restarted: status" $? 69	# EX_UNAVAILABLE
err=$(<"$work/err.1")
says "not restarted: it says so" "bftmutexd is not running"
ok "not restarted: after the grace period" test $(($(now_ms) - begin)) -ge 3000
ok "not restarted: it was not had" ! test -e "$work/never"
ended "$holder"
start_helper 1

#
# Killed while a lock is held
#

killed_while_held() {
	new_lock
	hold 1 8s
	begin=$(now_ms)
	kill_helper 1
	in_state 1 held || { echo "lost without a helper"; return 1; }
	start_helper 1
	in_state 1 held || { echo "lost by the restart"; return 1; }
	t 2 -n "$lock" true
	in_state 1 held || { echo "lost meanwhile"; return 1; }
	((status == 1)) || { echo "another has it too: $status"; exit 1; }
	ended "$holder"
	t 2 -w 10 --way no-backoff -l 500ms "$lock" true
	((status == 0)) || { echo "not released: $status"; exit 1; }
	(($(now_ms) - begin < 8000)) || { echo "its lease was over as well"; return 1; }
}
ok "killed while held: the lock stays, and is released through the new helper" \
	again killed_while_held

#
# Stopped
#

new_lock
hold 2 8s
kill -STOP "$(helper 1)"
t 1 "$lock.other" true
is "stopped: what nobody wants, the kernel gets" $status 0
t 1 -w .2 "$lock" true
is "stopped: -w times out" $status 1
begin=$SECONDS
t 1 -n "$lock" true
figure "stopped: -n comes to an end" test $((SECONDS - begin)) -lt 60
ok "stopped: and fails" test "$status" -ne 0
err=$(c 1 timeout 20 bftmutexctl object list 2>&1)
is "stopped: the objects of the cluster cannot be listed, and not after --wait alone" $? 69
says "stopped: it says so" "bftmutexd does not answer"
ended "$holder"
kill -CONT "$(helper 1)"
t 1 -w 20 "$lock" true
is "continued: it works again" $status 0

#
# Another one
#

c 1 bftmutexd --config "$conf" --state "$dev/c1" --foreground 2>"$work/err"
status=$?
err=$(<"$work/err")
ok "second helper: refused (status $status)" test $status -ne 0
says "second helper: with the same state" "another bftmutexd"
mkdir "$work/state"
# starts_not DESC TEXT: another one does not start with this state, and says so.
starts_not() {
	err=$(c 1 bftmutexd --config "$conf" --state "$work/state" --foreground 2>&1)
	says "$1" "$2"
}
touch "$work/state/cluster-73-client-1"
chown 65534 "$work/state/cluster-73-client-1"
starts_not "state of another user" "cluster-73-client-1: Permission denied: the file belongs to user 65534"
rm "$work/state/cluster-73-client-1"
ln -s "$dev/c1/cluster-73-client-1" "$work/state/cluster-73-client-1"
starts_not "state behind a link" "cluster-73-client-1: it is a symbolic link, and links are refused here"
rm "$work/state/cluster-73-client-1"
chown 65534 "$work/state"
starts_not "a state folder of another user" \
	"cluster-73-client-1: Permission denied: the folder belongs to user 65534"
chown 0 "$work/state"
chmod 000 "$conf"
starts_not "a configuration that its mode closes" "$conf: Permission denied: the file has mode 0000"
chmod 644 "$conf"
echo mine >"$work/pid"
c 1 bftmutexd --config "$conf" --state "$work/state" --foreground --pid-file "$work/pid" 2>"$work/err"
is "second helper: status" $? 69
is "second helper: the first one's file stays" "$(cat "$work/pid")" mine
err=$(<"$work/err")
says "second helper: with its own state" "has a bftmutexd already"
kill_helper 1
c 1 setpriv --bounding-set=-net_admin --inh-caps=-net_admin \
	bftmutexd --config "$conf" --state "$dev/c1" --foreground 2>"$work/err"
is "without rights: status" $? 77
err=$(<"$work/err")
says "without rights: it says so" "CAP_NET_ADMIN"
c 1 bftmutexd --config "$conf" --state "$dev/c1" --pid-file /nowhere/pid 2>"$work/err"
is "no file for its number: status" $? 71
err=$(<"$work/err")
says "no file for its number: it says so" "--pid-file '/nowhere/pid': No such file or directory"
start_helper 1

#
# Configuration
#

new_lock
cp "$conf" "$work/good"
hold 2 8s
ask 1 "$work/reloaded"
wait_for 10 in_state 1 pending
echo 'cluster broken {' >>"$conf"
kill -HUP "$(helper 1)"
ok "bad configuration: it says so" wait_for 10 grep -q "old configuration stays" "$dev/c1/log"
waits_or_has() { [[ -e $work/reloaded ]] || in_state 1 pending; }
ok "bad configuration: what waits goes on" waits_or_has
sed 's/lease-max = 8s/lease-max = 1m/' "$work/good" >"$conf"
kill -HUP "$(helper 1)"
ok "good configuration: read" wait_for 10 grep -q "read again" "$dev/c1/log"
ended "$holder"
ok "good configuration: what waited is served" wait_for 20 test -e "$work/reloaded"
wait $asker
t 1 -l 20s -w 20 "$lock" true
says "the servers refuse a longer lease than theirs" "do not grant such a lease"
ok "the log tells which" grep -q "server [1-4] refuses a lease of 20s; its lease-max is 8s" "$dev/c1/log"
cp "$work/good" "$conf"
kill -HUP "$(helper 1)"

reloaded_while_held() {
	new_lock
	hold 1 4s
	sed -i "s/lease-max = .*/lease-max = $((RANDOM % 1000 + 7000))ms/" "$conf"
	: >"$dev/c1/log"
	kill -HUP "$(helper 1)"
	wait_for 10 grep -q "read again" "$dev/c1/log"
	in_state 1 held
}
ok "new configuration while held: the lock stays" again reloaded_while_held
ended "$holder"
t 2 -w 10 --way no-backoff -l 500ms "$lock" true
is "new configuration while held: released" $status 0
cp "$work/good" "$conf"
kill_helper 1
start_helper 1

#
# Many at once
#

new_lock
ok "200 requests at once, a lock each" c 1 crowd 200 "$lock"
ok "50 requests at once for one lock" c 1 crowd 50 "$lock" one

#
# Keys
#

bad_tags() { s 1 bftmutexctl server show --json | gojq .stats.bad_tag; }

# checks DESC STATUS TEXT: the result of --check of the keys, while the daemon runs.
checks() {
	c 1 bftmutexd --check --config "$conf" --state "$work/none" >"$work/err" 2>&1
	is "--check, $1: status" $? "$2"
	err=$(<"$work/err")
	says "--check, $1: it says so" "$3"
	ok "--check, $1: with its name" ! grep -qv "^bftmutexd: " "$work/err"
}
key=$dev/keys/client-1.client
err=$(c 1 bftmutexd --state here 2>&1)
says "a state folder is absolute" "--state 'here': must be an absolute path"
checks "right keys" 0 ""
is "--check, right keys: without a word" "$err" ""
mv "$key" "$work/key"
checks "no credentials" 69 "$key: No such file"
ln -s "$dev/keys/server-1.key" "$key"
checks "keys of a server" 78 "$key:1: must hold one section 'bftmutex-client'"
rm "$key"
sed 's/cluster = 73/cluster = 74/' "$work/key" >"$key"
chmod 600 "$key"
checks "keys of another cluster" 78 "$key: has keys for cluster 74, but cluster demo has id = 73"
sed '/server 4/d' "$work/key" >"$key"
checks "a key is lacking" 78 "$key: has no key for server 4 of cluster demo"
cp "$work/key" "$key"
chmod 644 "$key"
checks "others can read them" 77 "$key: mode 0644 lets others use the key"
chmod 600 "$key"
chown 65534 "$key"
checks "keys of another user" 77 "$key: Permission denied: the file belongs to user 65534, and root has no right here"
says "keys of another user: what corrects it" "correct it by: chown root $key"
rm "$key"
mkdir "$key"
checks "a folder of keys" 78 "$key: Is a directory"
rmdir "$key"
mv "$work/key" "$key"
ok "--check begins no client" ! test -e "$work/none"

chmod 644 "$dev/keys/client-1.client"
kill_helper 1
ok "readable credentials: refused" ! start_helper 1
err=$(<"$dev/c1/log")
says "readable credentials: it says which file" "$dev/keys/client-1.client"
chmod 600 "$dev/keys/client-1.client"

cp "$dev/keys/client-1.client" "$work/good.client"
bftmutexctl keygen --dir "$work/other" --cluster 73 --servers 4 --clients 1 >/dev/null
cp "$work/other/client-1.client" "$dev/keys/client-1.client"
before=$(bad_tags)
# The keys were not reported, so they must not exist, and the earlier ones must.
keygen_full() { bftmutexctl keygen --dir "$1" "${@:2}" >/dev/full 2>"$work/err"; }
listing() { cd "$1" && cksum -- *; }
keygen_full "$work/full" --cluster 73 --servers 4 --clients 1-2
is "keygen on a full disk" "$? $(<"$work/err")" "74 bftmutexctl: cannot write the output"
is "keygen on a full disk: no keys" "$(ls -A "$work/full")" ""
kept=$(listing "$work/other")
keygen_full "$work/other" --clients 2
is "keygen for one more on a full disk" "$? $(listing "$work/other")" "74 $kept"
ok "keygen for one more" bftmutexctl keygen --dir "$work/other" --clients 2
is "keygen for one more: files" "$(cd "$work/other" && echo *)" \
	"client-1.client client-1.rank client-2.client client-2.rank ranks server-1.key server-2.key server-3.key server-4.key"
start_helper 1
t 1 -n "$lock" true
says "keys of another cluster: no quorum" "too few servers answered"
ok "keys of another cluster: counted" test "$(bad_tags)" -gt "$before"

sed 's/client = 2/client = 1/' "$dev/keys/client-2.client" >"$dev/keys/client-1.client"
before=$(bad_tags)
kill_helper 1
start_helper 1
t 1 -n "$lock" true
says "keys of another client: no quorum" "too few servers answered"
ok "keys of another client: counted" test "$(bad_tags)" -gt "$before"
cp "$work/good.client" "$dev/keys/client-1.client"
kill_helper 1
start_helper 1
t 1 -w 20 "$lock" true
is "the right keys again" $status 0

#
# Servers that are farther away than a time limit is long
#

modprobe sch_netem || bail "sch_netem"
netem s1 s2 s3 s4 -- delay 30ms
for options in "" --fence "--way backoff"; do
	new_lock
	# shellcheck disable=SC2086  # none or one
	t 1 $options -w 25ms -E 42 "$lock" true
	is "far away: the limit of '${options:-queue}' is over, and that is all" "$status $err" "42 "
done
new_lock
hold 2 8s || bail "client 2 gets no lock"
t 1 -w 25ms -E 42 "$lock" true
is "far away: as when somebody else has it" "$status $err" "42 "
ended "$holder"
netem s1 s2 s3 s4
new_lock
rm -f "$mark"
netns_exec bftm-c1 bftmutex -l 1s "$lock.held" sh -c "touch $mark; exec sleep 100" 2>"$work/err.held" &
holder=$!
wait_for 20 test -e "$mark"
deaf s1 s2
silent="2 of 4 servers can grant, a lock needs 3; servers 1 and 2 are silent"
t 1 -w 5 -E 42 "$lock" true
is "silent for longer than a round: they are out of reach" $status 69
says "silent for longer than a round: it says so" \
	"lock '$lock': too few servers answered: $silent; see bftmutexctl servers"
t 1 -n "$lock" true
is "silent, -n" $status 69
wait $holder
is "a lock that cannot be renewed is lost" $? 79
ok "it says why" grep -qF "lock '$lock.held' lost: its lease ended before enough servers had renewed it" \
	"$work/err.held"
ok "and so does the log" grep -qF "lock '$lock.held' is lost: its lease could not be renewed: $silent" \
	"$dev/c1/log"
ok "which tells who is silent" wait_for 20 grep -q "server 2 at 10.73.0.2:7373 is silent" "$dev/c1/log"
hearing s1 s2
ok "and when it is not any more" wait_for 20 grep -q "server 2 answers again" "$dev/c1/log"

#
# Reasons of failures, and names of locks
#

new_lock
rm -f "$mark"
netns_exec bftm-c1 bftmutex -l 1s "$lock" sh -c "touch $mark; exec sleep 100" 2>"$work/err.held" &
holder=$!
wait_for 20 test -e "$mark"
kill_helper 1
wait $holder
is "lost without a helper: status" $? 79
ok "lost without a helper: it says so" \
	grep -q 'its lease ended, and bftmutexd, which renews it, is not running' "$work/err.held"
start_helper 1
lock=Größe/日本
hold 1 8s
is "a table has names as they are" \
	"$(c 1 env LC_ALL=C.UTF-8 bftmutexctl holders | awk '/held/ { print $NF }')" "$lock"
is "where people can read them" "$(c 1 env LC_ALL=C bftmutexctl holders | awk '/held/ { print $NF }')" \
	'Gr\xc3\xb6\xc3\x9fe/\xe6\x97\xa5\xe6\x9c\xac'
ended "$holder"

#
# The module goes and comes back
#

new_lock
ok "the module is unloaded under a helper" rmmod bftmutex
ok "its log says what to do" wait_for 10 grep -q "no requests from the kernel: .*'modprobe bftmutex'" "$dev/c1/log"
said=$(c 1 bftmutexctl check)
is "check, without a module: status" $? 2
ok "check, without a module: it says so" \
	grep -q "^failed: bftmutexd serves no kernel: the module is not loaded" <<<"$said"
load || bail "the module cannot be loaded"
for n in 1 2 3 4; do
	s $n bftmutexctl server start --key "$dev/keys/server-$n.key" --lease-max 3s >/dev/null
done
ok "a helper serves the new one" wait_for 10 grep -q "serving the kernel again" "$dev/c1/log"
t 1 -n -l 400ms "$lock" true
is "in quarantine, -n: status" $status 1
says "in quarantine, -n: it says so" "lock '$lock': no program can get it now: 0 of 4 servers can grant, a lock needs 3; servers 1, 2, 3 and 4 are in quarantine, for another "
t 1 -w .2 -l 400ms --verbose "$lock" true
says "in quarantine, -w: it says so" "not held after --wait .2: 0 of 4 servers can grant"
t 1 -w 20 -l 400ms "$lock" true
is "and gets locks" $status 0
finish
