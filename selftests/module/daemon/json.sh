#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=13
#
# bftmutexctl --json: each output fits its schema, also with any bytes in names; and "bftmutexctl
# check", in all states that a monitor has to distinguish.
#
#	bftm-c1 ---- bridge ---- bftm-s1, -s2, -s3    n = 3, b = 0, F = 2
#
# Functions are called by name, load may have no arguments, and variables are
# shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/schemas.sh
. "$(dirname "$0")/../../lib/schemas.sh"

work=/tmp/json
mkdir -p $work

cleanup() {
	kill_liar 3
	down
}

j() { c 1 bftmutexctl "$@" --json; }
# o WORD ARG...: a command of objects, where options come first
o() { c 1 bftmutexctl object "$1" --json "${@:2}"; }
submit() { c 1 bftmutexctl object submit "$@"; }

load || bail "module"
preload bftmutexctl gojq
bftmutexctl dev up --servers 3 -b 0 --clients 1 --lease-max 2s --json >$work/up || bail "no cluster"
ready || bail "no locks"
keep dev-up cat $work/up

#
# Locks
#

utf8=$'l\xc3\xb6ck "a\\b"' bytes=$'\xff\xfe\n'
local_stats() { j stats | gojq -c "[.local.acquires, .local.won, .local.released, .local.lost]"; }
before=$(local_stats)
netns_exec bftm-c1 bftmutexctl watch --json --renewals >$work/events 2>/dev/null &
watcher=$!
seen=0
watching() {
	seen=$((seen + 1))
	c 1 bftmutex seen true && [[ -s $work/events ]]
}
wait_for 20 watching || bail "bftmutexctl watch"
netns_exec bftm-c1 bftmutexctl trace record --host c1 --config "$dev/c1/bftmutex.conf" >$work/trace 2>$work/trace.err &
recorder=$!
wait_for 20 grep -q Recording $work/trace.err || bail "bftmutexctl trace record"
c 1 bftmutex "$utf8" true
c 1 bftmutex --fence "$bytes" true
c 1 sh -c 'exec 9</dev/bftmutex
	bftmutex --fd 9 twice && bftmutex --fd 9 --convert -s && bftmutex --fd 9 -u'
c 1 bftmutex -l 500ms --no-renew lost sleep 1 2>/dev/null
told() { grep -q '"event":"lost"' $work/events; }
ok "a loss is told" wait_for 20 told
events=$(gojq -rc 'select(.name != "seen" and .event != "renewed") | "\(.event) \(.name | tojson) \(.token)"' $work/events | sort | tr '\n' ';')
is "watch: what happened, to what" "$events" \
	'acquired "lost" null;acquired "löck \"a\\b\"" null;acquired "twice" null;acquired {"base64":"//4K"} 1;converted "twice" null;lost "lost" null;released "löck \"a\\b\"" null;released "twice" null;released {"base64":"//4K"} 1;'
keep_lines watch <$work/events
kill $recorder
wait $recorder
keep_lines trace-record <$work/trace
is "trace record: what the cluster is like" "$(grep -c '"e":"cluster"' $work/trace)" 1
lines=$(wc -l <$work/events)
is "stats: by the fast path and by the daemon" \
	"$(local_stats | gojq -c --argjson a "$before" '[., $a] | transpose | map(.[0] - .[1])')" \
	"[$((seen + 4)),$((seen + 4)),$((seen + 3)),1]"

mkfifo $work/enough
netns_exec bftm-c1 bftmutex both sh -c "read line <$work/enough" &
holder=$!
held() { [[ $(states) == '[["held"'* ]]; }
states() { j holders | gojq -c 'map(select(.name == "both") | [.state, .cluster]) | sort'; }
ok "holders: who holds" wait_for 20 held
netns_exec bftm-c1 bftmutex both true &
waiter=$!
both() { [[ $(states) == '[["held","'*'],["pending","'*']]' ]]; }
ok "holders: who waits" wait_for 20 both
is "holders: who waits in the default cluster is told of as in that" "$(states)" \
	'[["held","demo"],["pending","demo"]]'
j holders | keep holders
j who both | keep who
echo >$work/enough
wait $holder $waiter

c 1 bftmutex --fence stamped true
s 1 bftmutexctl locks --json | keep locks
s 1 bftmutexctl clients --json | keep clients
is "what may be above 2^53 is a string" \
	"$(s 1 bftmutexctl locks --json | gojq -c '.[] | select(.name == "stamped") | [.gno, .token] | map(type)') $(
	s 1 bftmutexctl clients --json | gojq -c '.[0] | [.last_seq, .id] | map(type)') $(
	j servers | gojq -c '.clusters[0].servers[0] | [.epoch, .sent] | map(type)')" \
	'["string","string"] ["string","number"] ["string","number"]'

#
# Objects
#

value=$'one\ntwo 2\n\xff'
for type in register counter map queue log; do
	o create $type $type | keep object-submit
done
printf '%s' "$value" | submit --stdin map set k >$work/set
submit map set "$utf8" v
printf '%s' "$value" | submit --stdin --json register write | keep object-submit
o submit register read >$work/read
keep object-submit cat $work/read
is "submit: any bytes" "$(gojq -r .response.base64 $work/read | base64 -d | od -c)" "$(printf '%s' "$value" | od -c)"
for entry in one $'two\nthree' $'\xff'; do
	submit log append "$entry" >/dev/null
	submit queue push "$entry"
done
submit counter add 9007199254740993 >/dev/null
for type in register counter map queue log; do
	o show $type >$work/$type
	keep object-show cat $work/$type
done
is "show: a map" "$(gojq -c .entries $work/map)" \
	"[{\"key\":\"k\",\"value\":{\"base64\":\"$(printf '%s' "$value" | base64)\"}},{\"key\":\"löck\",\"value\":\"\\\"a\\\\b\\\" v\"}]"
is "show: a log" "$(gojq -c '[.entries, .len]' $work/log)" '[["one","two\nthree",{"base64":"/w=="}],3]'
is "show: a queue" "$(gojq -c '[.next, .len]' $work/queue)" '["one",3]'
is "show: a counter" "$(gojq -r .value $work/counter)" 9007199254740993
is "show, to people" "$(c 1 bftmutexctl object show map | sed -n '/^entries/,$p')" \
	"$(printf 'entries\n  k one\\x0atwo 2\\x0a\\xff\n  l\\xc3\\xb6ck "a\\\\b" v')"
o history map | keep_lines object-history
ok "history: any bytes" grep -q '"request":{"base64":"c2V0IGsgb25lCnR3byAyCv8="}' "$outputs"
netns_exec bftm-c1 bftmutexctl object watch --json -n 200ms map >$work/changes &
watches=$!
has() { grep -q "$1" $work/changes; }
ok "watch: what is there" wait_for 20 has '"key":"k"'
submit map delete k
ok "watch: what goes" wait_for 20 has '"change":"gone","key":"k"'
keep_lines object-watch <$work/changes
kill $watches
s 1 bftmutexctl objects --json | keep objects

strange=$'o\xff'
o create "$strange" register | keep object-submit
o list >$work/list
keep object-list cat $work/list
is "list: any bytes" "$(gojq -c 'map([.name, .type]) | sort' $work/list)" \
	'[["counter","counter"],["log","log"],["map","map"],["queue","queue"],["register","register"],[{"base64":"b/8="},"register"]]'
o dump >$work/dump
keep_lines object-dump <$work/dump
o delete "$strange" | keep object-submit
is "a request's number is a string, and above the version" "$(o submit map list |
	gojq -c '[(.number | type), (.number | tonumber) >= .version * 100000]')" '["string",true]'
is "restore: what is there is left" "$(o restore <$work/dump 2>/dev/null >$work/restored; echo $?)" 1
keep_lines object-restore <$work/restored
is "restore: what came of each" "$(gojq -cs 'map([.object, .status]) | sort' $work/restored)" \
	'[["counter",17],["log",17],["map",17],["queue",17],["register",17],[{"base64":"b/8="},0]]'

#
# bftmutexctl check
#

# check WANT WORDS: waits for this status and these words
check() {
	c 1 bftmutexctl check >$work/check
	[[ "$? $(<$work/check)" == "$1 "*"$2"* ]]
}
# checks DESC STATUS WORDS
checks() {
	ok "check: $1" wait_for 30 check "$2" "$3" || diag "$(<$work/check)"
	j check | keep check
}
checks "all is well" 0 "all well: cluster demo: 3 of 3 servers can grant, a lock needs 2"
s 3 bftmutexctl server stop --json | keep server-stop
checks "a server was stopped" 1 "2 of 3 servers can grant, a lock needs 2; server 3 silent"
is "in JSON" "$(j check | gojq -c '[.status, .verdict, .clusters[0].silent, .clusters[0].usable]')" \
	'[1,"degraded",[3],2]'
is "of a server host, without one" "$(s 3 bftmutexctl check --server; echo $?)" "failed: no server runs here
2"
honest 3 --lease-max 2s
checks "it is in quarantine" 1 "2 of 3 servers can grant, a lock needs 2; server 3 in quarantine"
ok "servers: for how long" test "$(j servers | gojq '.clusters[0].servers[2].quarantine_ns > 0')" == true
is "of a server host, in quarantine" "$(s 3 bftmutexctl check --server; echo $?)" \
	"degraded: server 3 of cluster 73 is in quarantine
1"
is "fencing tokens, which it has forgotten" "$(c 1 bftmutexctl check --fence >/dev/null; echo $?)" 1
if ! short; then
	checks "it grants again" 0 "all well"
	is "of a server host" "$(s 3 bftmutexctl check --server; echo $?)" \
		"all well: server 3 of cluster 73 grants locks
0"
	for n in 2 3; do
		s $n bftmutexctl server stop >/dev/null
	done
	checks "too few are left" 2 \
		"failed: cluster demo: 1 of 3 servers can grant, a lock needs 2; servers 2, 3 silent"
	for n in 2 3; do
		honest $n --lease-max 20s
	done
	checks "too few of them grant" 2 "servers 2, 3 in quarantine"
	checks "all is well again" 0 "all well"
	is "too few know fencing tokens" "$(c 1 bftmutexctl check --fence; echo $?)" \
		"failed: cluster demo: 3 of 3 servers can grant, a lock needs 2; servers that know which fencing tokens were given: 1, a token needs 2
2"
fi
if ! short; then
	lie 3 always-locked --lease-max 2s || bail "no liar"
	# With b = 0 the kernel's attempts are not judged. Those with a value are the daemon's, and it judges
	# one when the lock was held for longer than two round trips.
	lies() { c 1 bftmutex --value -w 5 liar.$RANDOM sleep 0.2; check 2 "server 3 suspected of lying; suspected servers: 1, no more than 0 may lie"; }
	ok "check: more lie than may" wait_for 60 lies || diag "$(<$work/check)"
	j check | keep check
	suspected() { grep -q '"event":"suspect"' $work/events; }
	ok "watch: a suspect" wait_for 20 suspected
fi
kill $watcher
sed 1,"$lines"d $work/events | keep_lines watch
j servers | keep servers
j stats | keep stats
s 1 bftmutexctl stats --json | keep stats
s 1 bftmutexctl server show --json | keep server-show
kill_helper 1
is "check: the daemon is dead" "$(c 1 bftmutexctl check; echo $?)" "failed: bftmutexd does not run
2"
c 1 bftmutexctl check --json | keep check

#
# The rest
#

echo 'access { client = 1-7  prefix = "x" }' | s 1 bftmutexctl server access set --json /dev/stdin | keep server-access-set
s 1 bftmutexctl server access show --json | keep server-access-show
echo 'access { client = 1-2  leaseless = yes }' | s 1 bftmutexctl server access set \
	--state "$dev/servers" /dev/stdin >/dev/null
s 1 bftmutexctl client evict 2 "$(date +%s)" --fenced --state "$dev/servers" --json | keep client-evict
s 1 bftmutexctl server members --json | keep server-members
bftmutexctl cluster show --json --config "$dev/c1/bftmutex.conf" | keep cluster-show
bftmutexctl cluster show --json --config "$dev/c1/bftmutex.conf" --lifetime 1h | keep cluster-show
bftmutexctl keygen --json --cluster 3 --servers 1 --clients 1 --dir $work/$'keys\xff' | keep keygen
bftmutexctl dev down --json | keep dev-down
is "each output is as its schema says" "$(wrong)" ""
is "and each schema has one" "$(kept | tr '\n' ' ')" \
	"$(all_schemas | gojq -r 'del(."common.json") | keys[] | rtrimstr(".json")' | LC_ALL=C sort | tr '\n' ' ')"
finish
