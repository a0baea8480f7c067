#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=30
#
# The objects of a server survive its restart, and answers wait for the journal.
#
#
# shellcheck disable=SC2154,SC2317,SC2034  # set by, or called from, what is sourced
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/pair.sh
. "$(dirname "$0")/../../lib/pair.sh"
# shellcheck source=selftests/lib/journal.sh
. "$(dirname "$0")/../../lib/journal.sh"

# hold CASE [CLIENT...]: the program that is client and journal at once.
hold() {
	local args=() client
	for client in 50 "${@:2}"; do
		args+=("$v4" "$dir/client-$client.client")
	done
	s 1 journal_hold 1 "$1" "${args[@]}"
}
objects() { s 1 bftmutexctl objects --json | gojq -r "$1"; }
about() { sqlite3 "$file" "SELECT $1 FROM about"; }
journal() { s 1 timeout -s KILL 30 bftmutexctl server journal --file "$file" "$@"; }
traffic() { c 1 timeout 60 journal_traffic 1 "$v4" "$dir/client-50.client" "$acked" "$@"; }
anew() {
	stop 2>/dev/null
	rm -rf "$dir/state" "$file"*
	: >"$acked"
	begin "$@"
}
granting_soon() { wait_for 20 granting; }

# Answers, and the changes before them
ok "a server that never was before" begin --token-floor 0
is "its file is its owner's alone" "$(stat -c %a "$file")" 600
is "it is complete" "$(about complete)" 1
ok "a second start beside it" says 69 "a server runs in this network namespace already" begin
ok "a state folder is absolute" says 64 "--state 'here': must be an absolute path" \
	s 1 bftmutexctl server start --key "$dir/server-1.key" --state here
ok "by server journal too" says 64 "--state 'here': must be an absolute path" \
	s 1 bftmutexctl server journal --state here
ok "one that would keep nothing" says 69 "a server runs in this network namespace already" \
	s 1 bftmutexctl server start --key "$dir/server-1.key" --state "$dir/state"
is "shown" "$(show '"\(.durability) \(.journal) \(.unsaved) \(.recovering)"')" \
	"sync detached 0 false"
ok "promises are told when they are kept" hold promises
ok "what reveals nothing is told at once" hold harmless
ok "states, and a journal that dies over one" hold states 51
ok "who may be the journal" hold rights
ok "answers beyond what it holds are dropped" hold flood 51
is "counted" "$(show '.stats | .held > 0 and .journalled > 0 and .unjournalled > 0')" true

# Restarts
anew --token-floor 0
ok "the journal" follow
ok "clients" traffic 4 6
ok "SIGTERM ends it well" unfollow
stop
ok "started again" begin
ok "it knows what it told" knows
is "and recovers nothing" "$(objects 'map(.recovering) | any') $(show .recovering)" "false false"
ok "the next journal" follow
ok "clients go on, also with objects that were not there" traffic 6 2
unfollow
stop

ok "a start without the journal" s 1 bftmutexctl server start --key "$dir/server-1.key" \
	--state "$dir/state" --lease-max 1s
stop
ok "with it again" begin
is "it may have missed something" "$(objects 'map(.recovering) | all') $(show .recovering)" "true true"
is "and the file says so" "$(about complete)" 0
ok "after its silence" granting_soon
ok "clients bring an object back, and that is kept" hold rejoin
ok "the file has it" follow
unfollow
stop
begin
is "it stays" "$(objects 'map(select(.recovering | not) | .version) | tostring')" "[]"
stop
ok "the file is trusted when the administrator says so" begin --trust-journal
is "nothing recovers" "$(objects 'map(.recovering) | any') $(show .recovering)" "false false"
ok "all of it is there" knows
stop
ok "that lasts" begin
is "also later" "$(objects 'map(.recovering) | any')" false
stop

# The journal follows, and nobody waits
anew --token-floor 0 --durability async
ok "async: nobody waits for the journal" hold async
ok "the journal" follow
ok "clients" traffic 2 2
saved() { [[ $(show .unsaved) == 0 ]]; }
ok "it follows" wait_for 10 saved
unfollow
stop
begin --durability async
is "after a restart it is not believed" "$(objects 'map(.recovering) | all') $(show .recovering)" \
	"true true"
is "but there" "$(objects 'map(.version > 0) | any')" true
stop
begin --durability async --trust-journal
is "unless the administrator says so" "$(objects 'map(.recovering) | any') $(show .recovering)" \
	"false false"
stop

# Under traffic
anew --token-floor 0
ok "the journal" follow
clients_begin 8 0
ok "under traffic" wait_for 20 answered 20
ok "SIGTERM ends it well, too" unfollow
clients_end
stop

# The same number of objects fits into the same memory
cram=(--object-memory 16777216 --max-state 1048576)
anew --token-floor 0 "${cram[@]}"
ok "the journal" follow
ok "states beyond three quarters of the memory" c 1 order_server_room 1 crammed "$v4" "$dir/client-50.client"
unfollow
stop
ok "started again" begin "${cram[@]}"
is "all are there" "$(objects '"\(length) \(map(.recovering) | any)"')" "14 false"
stop

# The virtual machine was cloned or set back: the file is outdated as well.
anew --token-floor 0
ok "the journal" follow
ok "clients" traffic 2 2
ok "this virtual machine is a copy" forks
wait "$keeper"
is "its journal ends" "$? $(tail -n 1 "$dir/journal.err")" \
	"69 bftmutexctl: journal $file: the server has begun anew without it, since this virtual machine was cloned or set back; stop the server and start it with this journal again, whose content it will not trust"
keeper=
is "since the server keeps nothing, and recovers" "$(show '"\(.durability) \(.recovering)"')" "none true"
stop
ok "started with its journal" begin
is "it believes nothing of it" "$(objects 'map(.recovering) | all') $(show .recovering) $(about complete)" \
	"true true 0"
stop

# From the configuration
configured=$dir/configured
conf() {
	printf 'cluster test {\n\tid = 9\n\tb = 0\n\tserver 1 {\n\t\taddress = 10.73.0.1\n%s\n\t}\n}\n' \
		"$1" >"$dir/conf"
	s 1 bftmutexctl server start --key "$dir/server-1.key" --state "$dir/state" \
		--config "$dir/conf" "${@:2}"
}
ok "keys of the configuration" conf "durability = sync  journal = $configured"
is "are followed" "$(show .durability) $(stat -c %a "$configured")" "sync 600"
stop
ok "options go before them" conf "durability = sync  journal = $configured" --durability none
is "so nothing is kept" "$(show .durability)" none
stop
ok "a file for what it says" conf "durability = sync" --journal "$configured.2"
is "which is taken" "$(show .durability) $(stat -c %a "$configured.2")" "sync 600"
stop
ok "a file for nothing" says 64 "--journal $configured is for --durability async or sync" \
	conf "" --journal "$configured"
ok "a file that is named, and not used" says 0 "journal = $configured of the configuration is not used" \
	conf "journal = $configured"
stop
ok "a wrong word" says 78 "key 'durability' = 'often': must be none, async or sync" \
	conf "durability = often"

# Files that are refused
other=$dir/other
start_other() {
	s 1 bftmutexctl server start --key "$dir/server-1.key" --state "$dir/state" \
		--durability sync --journal "$other"
}
ok "no words" says 64 "must be none, async or sync" begin --durability often
ok "trust in nothing" says 64 "is for --durability async or sync" begin --durability none \
	--trust-journal
echo "this is not a journal, but text, and more than a few bytes of it." >"$other"
ok "another file" says 65 "file is not a database; if it is the journal and broken, stop this server alone" start_other
rm "$other" && sqlite3 "$other" "CREATE TABLE a (b)"
ok "another database" says 65 "it is no journal of a server" start_other
cp "$file" "$other" && sqlite3 "$other" "UPDATE about SET server = 2"
ok "another server's" says 65 "it belongs to server 2 of cluster 9; the key is for server 1 of cluster 9" \
	start_other
other=$dir/no/folder
ok "nowhere" says 66 "No such file" start_other
other=$dir/broken
cp "$file" "$other" && sqlite3 "$other" \
	"UPDATE body SET data = zeroblob(length(data)) WHERE rowid = (SELECT min(rowid) FROM body)"
ok "a state that is another" says 65 \
	"the bytes are not those of the state that is named; if it is the journal and broken, stop this server alone" start_other
ok "no server is left behind" says 69 "no server runs" s 1 bftmutexctl server show
mkdir "$dir/ro" && mount -t tmpfs tmpfs "$dir/ro" && cp "$file" "$dir/ro/journal" &&
	mount -o remount,ro "$dir/ro"
other=$dir/ro/journal
ok "what cannot be written" says 77 "" start_other
umount "$dir/ro"
ok "no server" says 69 "no server runs" journal
s 1 bftmutexctl server start --key "$dir/server-1.key" --state "$dir/state" >/dev/null
ok "a server that keeps nothing" says 78 "without --durability" journal
ok "nor notes a file" says 78 "without --durability" \
	s 1 bftmutexctl server journal --state "$dir/state"
stop
begin
cp "$file" "$dir/other.file" && sqlite3 "$dir/other.file" "UPDATE about SET id = id - 1"
ok "a file that it was not started with" says 65 "started with another file" \
	s 1 bftmutexctl server journal --file "$dir/other.file"
follow
ok "two at a time" says 69 "another 'server journal' is at work" journal
unfollow
(cd "$dir" && stop && file=journal begin)
noted() { s 1 timeout -s KILL 30 bftmutexctl server journal --state "$1"; }
noted "$dir/state" 2>"$dir/journal.err" &
keeper=$!
ok "the start notes which file it is" \
	wait_for 10 grep -q "server 1 of cluster 9 is kept in $file" "$dir/journal.err"
ok "but not everywhere" says 78 "another --state than $dir" noted "$dir"
stop
keeper_ended() { gone "$keeper"; }
ok "it ends with its server" wait_for 10 keeper_ended
wait "$keeper"

# A disk that is full
mkdir "$dir/small" && mount -t tmpfs -o size=400k tmpfs "$dir/small"
file=$dir/small/journal
anew --token-floor 0
ok "a small disk" follow
clients_begin 8 0
ok "the journal gives up when it is full" wait_for 60 keeper_ended
ok "with the reason" grep -qE "full|disk" "$dir/journal.err"
clients_end
stop
umount "$dir/small" 2>/dev/null || diag "busy"
finish
