#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=30
#
# Objects that all clients share, end to end: results are exact, histories are linearizable, with a
# lying server, a stopped server, and helpers that die.
#
#
#	bftm-c1 … bftm-c3 ---- bridge ---- bftm-s1 … bftm-s7    n = 7, b = 1
#
# Functions are called by name, load may have no arguments, and variables are
# shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/order.sh
. "$(dirname "$0")/../../lib/order.sh"

cleanup() {
	kill_liar 4
	down
}

# counts DESC OBJECT TOTAL [ARG...]: the "add 1" of all clients add up to TOTAL
counts() {
	local desc=$1 object=$2 total=$3
	shift 3
	ok "$desc: all are answered" load_into added --object "$object" --request "add 1" \
		--clients 1-3 --timeout 60 "$@" || return
	is "$desc: each once" "$(added answered) $(submit 1 "$object" get)" "$(added requests) 0 $total"
}

# linearizable OBJECT: its history, in $history, is linearizable
linearizable() { bftmutex-lin "$history"; }

# large N: a value of N bytes
large() { head -c "$1" /dev/zero | tr '\0' x; }

named() { [[ $(servers 1 '[.[] | select(.suspect) | .id] | map(tostring) | join(" ")') == "$1" ]]; }
recovered() { [[ $(server_objects "$1" '[.[] | select(.recovering)] | length') == 0 ]]; }
knows() { [[ $(server_objects "$1" "map(.name) | contains([\"$2\"])") == true ]]; }

# newest OBJECT: its newest version at any server
newest() {
	local server
	for server in {1..7}; do
		server_objects "$server" ".[] | select(.name == \"$1\") | .version"
	done | sort -n | tail -n 1
}

# waits OBJECT VERSION: an operation on it waits at all servers, or has been applied after VERSION by a
# client that was still at work on another one
waits() {
	local server
	for server in {1..7}; do
		[[ $(server_objects "$server" ".[] | select(.name == \"$1\") | .pending == 1 or .version > $2") == true ]] ||
			return
	done
}

# An iteration that takes longer than a lease is abandoned; with checkers, large states take long.
lease_max=1
[[ $(uname -r) != *-bftmutex-* ]] || lease_max=5

load || bail "module"
up --servers 7 -b 1 --clients 3 --lease-max ${lease_max}s || bail "no cluster"

is "an object that was not created" "$(submit 1 none get)" "2 "
is "create" "$(submit 1 counter "create counter")" "0 "
is "create again, elsewhere" "$(submit 2 counter "create counter")" "17 counter"
is "add on one host" "$(submit 1 counter "add 5")" "0 5"
is "get on another" "$(submit 2 counter get)" "0 5"
is "not a request" "$(submit 3 counter "jump" | cut -d' ' -f1)" 22
is "one client alone" "$(load_into alone --object counter --request "add 1" --count 20 &&
	alone answered)" 20
# While requests wait, each iteration but the first begins with the commit of the one before.
continued() { c 1 bftmutexctl stats --json | gojq '.helper.ordering.continued'; }
before=$(continued)
submit 1 queued "create counter" >/dev/null
ok "requests wait: all are answered" load_into queued --object queued --request "add 1" --clients 1-1 \
	--threads 4 --count 10
is "requests wait: each once" "$(queued answered) $(submit 1 queued get)" "40 0 40"
ok "requests wait: a commit is the next get" test "$(continued)" -ge $((before + 5))
# A client that is alone says PROPOSE and COMMIT_GET to each server; its first operation says GET, too.
sent() { servers 1 'map(.sent) | add'; }
submit 1 steady "create counter" >/dev/null
before=$(sent)
ok "one client alone: all are answered" load_into steady --object steady --request "add 1" \
	--clients 1-1 --count 40
now=$(sent)
diag "$((now - before)) datagrams for 40 operations at 7 servers"
ok "one client alone: two datagrams an operation and server" \
	test $((now - before)) -ge $((7 * 80)) -a $((now - before)) -le $((7 * 85))
is "one client alone: each once" "$(submit 2 steady get)" "0 40"
counts "three clients" counter 205 --threads 4 --count 15

count=20
! short || count=8
for type in register map queue log; do
	history=$dev/history.$type
	ok "$type: all are answered" load_into mixed --object "$type" --type "$type" --create \
		--clients 1-3 --threads 2 --count $count --seed "$BFTMUTEX_SEED" --timeout 60 \
		--history "$history"
	is "$type: none is lost" "$(mixed answered)" $((6 * count))
	merge "$history"
	ok "$type: linearizable" linearizable
done

# Operations, responses and states that take many datagrams.
submit 1 big "create map" >/dev/null
is "a long operation" "$(submit 1 big "set a $(large 9000)")" "0 "
is "and another" "$(submit 2 big "set b $(large 12000)")" "0 "
is "a long response" "$(submit 3 big "get b")" "0 $(large 12000)"
# The long response is in the state as well, until its client submits again or the room
# is needed. Client 3 does not hear that its request was done, before that happens.
is "much is there" "$(for key in c d; do
	submit 2 big "set $key $(large 12000)"; done | xargs)" "0 0"
before=$(newest big)
deaf c3
submit 3 big "get b" --timeout 120 >"$dev/gone" &
asker=$!
ok "a response that is lost: its request is there" wait_for 20 waits big "$before"
is "a response that is lost: another client applies it" "$(submit 1 big "get none")" "61 "
is "a response that is lost: others need the room" "$(submit 2 big "get b")" "0 $(large 12000)"
hearing c3
wait "$asker"
is "a response that is lost: its client is told so" "$(cat "$dev/gone")" EIDRM
is "and goes on" "$(submit 3 big "get b")" "0 $(large 12000)"
is "a state that is full" "$(for key in e f g; do
	submit 2 big "set $key $(large 12000)"; done | xargs)" "0 90 90"
is "and can be emptied" "$(submit 1 big "get b")/$(submit 1 big "delete b")" "90 /0 "
is "too long for any datagrams" "$(submit 1 big "set a $(large 16380)")" EMSGSIZE

# Requests for things that do not exist or are not allowed.
ok "no such cluster" says 78 "bftmutexd has no cluster 'nope'" \
	c 1 bftmutexctl object create -C nope counter counter
tune 'b = 2' || bail "configuration"
is "too few servers for so many liars" "$(submit 1 counter get)" EPROTONOSUPPORT
tune 'b = 1' || bail "configuration"
is "and back" "$(submit 1 counter get)" "0 205"
netem s1 s2 s3 s4 s5 s6 s7 -- delay 30ms
ok "servers farther away than a limit is long" says 75 "the time to wait is over" \
	c 1 bftmutexctl object submit --wait 25ms counter get
netem s1 s2 s3 s4 s5 s6 s7
deaf s1 s2 s3
is "without a quorum, in time" "$(submit 1 counter "add 1" --timeout 3)" ENETUNREACH
ok "which servers do not answer is said" says 75 "4 of 7 servers can grant, a lock needs 5; servers 1, 2, 3 silent" \
	c 1 bftmutexctl object submit --wait 1s counter get
hearing s1 s2 s3
# It was given up by the caller only.
ok "what was submitted is driven to its end" wait_for 20 \
	eval '[[ $(submit 2 counter get) == "0 206" ]]'

# A restarted server gets its lost objects back from any client that knows them.
s 7 bftmutexctl server stop >/dev/null
counts "a server is gone" counter 251 --threads 3 --count 5
honest 7 --lease-max ${lease_max}s
ok "a server is back: it is told of objects" wait_for 60 knows 7 counter
ok "a server is back: and has recovered" wait_for 60 recovered 7
counts "a server is back" counter 296 --threads 3 --count 5

# When a helper dies, no answered request is lost, and none is done twice.
history=$dev/history.killed
order_load --object counter --request "add 1" --clients 1-3 --threads 2 --count 40 --timeout 60 \
	--history "$history" >"$dev/killed" 2>/dev/null &
loader=$!
ok "a helper dies: there is traffic" wait_for 20 grows "$history"
kill_helper 2
start_helper 2
wait "$loader"
. "$dev/killed"
total=$(submit 3 counter get | cut -d' ' -f2)
diag "a helper died: $answered of $requests answered, $unknown not known, total $total"
ok "a helper dies: nothing is lost or done twice" \
	test "$total" -ge $((296 + answered)) -a "$total" -le $((296 + answered + unknown))
is "a helper dies: the next one goes on" "$(submit 2 counter "add 0")" "0 $total"

# A server that answers at random is outvoted, and named.
lie 4 honest --order respond || bail "no liar"
counts "a server lies" counter $((total + 45)) --threads 3 --count 5
ok "a server lies: it is named" wait_for 20 named 4

# Consensus beside the liar: all learn one of the values that were proposed.
submit 1 decided "create register" >/dev/null
for n in 1 2 3; do
	submit $n decided "decide by $n" >"$dev/decided.$n" &
	deciders[n]=$!
done
wait "${deciders[@]}"
decided=$(sort -u "$dev"/decided.[123])
ok "decide: one of those proposed, for all ($decided)" grep -Ex "0 by [123]" <<<"$decided"
is "decide: it stays" "$(submit 1 decided "decide other")" "$decided"

# pay N COUNT: client N moves 1 from a to b COUNT times, by transactions that others make stale
pay() {
	local n=$1 left=$2 a b
	while ((left)); do
		{ read -r _ _ a; read -r _ b; } <<<"$(submit "$n" accounts list)"
		case $(submit "$n" accounts "txn if a $a"$'\n'"if b $b"$'\n'"set a $((a - 1))"$'\n'"set b $((b + 1))") in
		"0 "*) left=$((left - 1)) ;;
		"116 "*) ;;	# ESTALE
		*) return 1 ;;
		esac
	done
}

submit 1 accounts "create map" >/dev/null
submit 1 accounts "txn set a 12"$'\n'"set b 0" >/dev/null
for n in 1 2 3; do
	pay $n 4 &
	payers[n]=$!
done
paid=0
for n in 1 2 3; do wait "${payers[n]}" && paid=$((paid + 1)); done
is "txn: each is done" "$paid" 3
is "txn: all or nothing, each once" "$(submit 1 accounts list | xargs)" "0 a 0 b 12"
is "txn: the first line that does not hold" "$(submit 1 accounts "txn set a 1"$'\n'"if b 11"$'\n'"unless b")" "116 if b 11"
says_txn() { printf 'set c 1\nunless a\n' | c 1 bftmutexctl object submit --stdin accounts txn; }
ok "txn: bftmutexctl tells the line" says 1 "object 'accounts': the object is not as the request expects: unless a" says_txn
kill_liar 4

# With signed ranks, and one server less.
total=$((total + 45))
tune 'signed-ranks = yes' || bail "configuration"
counts "signed ranks" counter $((total + 45)) --threads 3 --count 5
is "signed ranks: nobody is blamed" "$(for n in 1 2 3; do
	servers "$n" '[.[] | select(.suspect)] | length'; done | xargs)" "0 0 0"

# A client with a longer lease than the quarantine of restarted servers does not count them.
tune "lease-max = $((2 * lease_max))s" || bail "configuration"
is "servers with a short silence count as down" "$(submit 1 counter get --timeout 3)" ENETUNREACH
is "and that is said once of each" "$(grep -c "lease-max of ${lease_max}s, which is less than $((2 * lease_max))s" "$dev/c1/log")" 6
tune "lease-max = ${lease_max}s" || bail "configuration"
# By another client, since this one's earlier requests continue with their old configuration.
is "and with the same time they do not" "$(submit 2 counter get)" "0 $((total + 45))"

# Three of seven lose their memory, and the others are too few. The folder tells a server that this is
# not its first start.
ok "until then each server knows what clients ask for" s 1 bftmutexctl check -s
for n in 1 2 3; do
	s "$n" bftmutexctl server stop >/dev/null
	s "$n" bftmutexctl server start --key "$dev/keys/server-$n.key" --state "$dev/servers" \
		--lease-max ${lease_max}s >/dev/null
done
forgotten="servers 1, 2, 3 without the memory of objects, and the others are too few: see \"When objects are lost\""
is_lost() { c 2 bftmutexctl object submit -w 5 counter get 2>"$dev/err"; [[ $? == 75 ]] && grep -qF "$forgotten" "$dev/err"; }
ok "objects are lost: a request is told why" wait_for 60 is_lost
ok "objects are lost: the log says so" grep -qF "object 'counter' cannot be had: servers 1, 2 and 3 have lost their memory" "$dev/c2/log"
ok "objects are lost: check says so" grep -qF "$forgotten" <(c 2 bftmutexctl check)
ok "objects are lost: check at such a server" says 1 "it has lost its memory of objects, and waits for" s 1 bftmutexctl check -s
ok "objects are lost: locks are not" c 2 bftmutex -w 20 lost true
finish
