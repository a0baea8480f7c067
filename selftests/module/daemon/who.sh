#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=10
#
# bftmutexctl who: the servers tell who has a lock, and one that lies makes no holder up.
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 … bftm-s4
#
# Functions are called by name, and variables are shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2016
set -u

. "$(dirname "$0")/../../lib/tap.sh"
. "$(dirname "$0")/../../lib/cluster.sh"
own_work

# who NAME FILTER: what client 2 is told, through gojq
who() { c 2 bftmutexctl who --json "$1" | gojq -r "$2"; }
is_held() { [[ $(who "$1" .state) == held ]]; }

# hold NAME ARG...: client 1 holds it until the file "go" is made
hold() {
	local name=$1
	shift
	rm -f "$work/go" "$work/held"
	c 1 bftmutex "$@" "$name" sh -c "touch $work/held; until [ -e $work/go ]; do sleep 0.1; done" &
	holder=$!
	wait_for 10 test -e "$work/held"
}

give_back() {
	touch "$work/go"
	wait "$holder"
}

load || bail "the module cannot be loaded"
up --servers 4 --clients 2 --lease-max 10s || bail "no cluster"

ok "nobody" says 0 "lock 'free': nobody has it (" c 2 bftmutexctl who free
hold one -l 10s --fence
ok "held, in words" says 0 "lock 'one': held by client" c 2 bftmutexctl who one
is "held" "$(who one '[.lock, .state, .mode, .holders, .waiters, .lasting, .servers] | map(tostring) | join(" ")')" \
	"one held EX 1 0 false 4"
is "held: by whom" "$(who one .client)" "$(c 1 bftmutexctl servers --json | gojq .clusters[0].client)"
ok "held: the lease has less than 10 s left" test "$(who one '.rest_ns > 0 and .rest_ns <= 10000000000')" = true
ok "held: a token was stamped" test "$(who one '.token | tonumber > 0')" = true
c 2 bftmutex -w 30 one true &
waiter=$!
ok "one waits" wait_for 10 eval '[[ $(who one .waiters) == 1 ]]'
give_back
wait $waiter
ok "given back: nobody" wait_for 10 eval '[[ $(who one .state) == nobody ]]'

hold shared -s -l 10s
is "shared" "$(who shared '[.state, .mode] | join(" ")')" "held PR"
give_back

# Each of these lies moves nothing.
hold lied -l 10s
owner=$(who lied .client)
ok "held by the kernel, told on its own host" says 0 "lock 'lied': held by client $owner" c 1 bftmutexctl who lied
for strategy in always-free always-locked silent equivocate twin; do
	lie 4 $strategy || bail "no liar"
	ok "$strategy: the holder is told" wait_for 20 eval '[[ $(who lied "[.state, .client] | map(tostring) | join(\" \")") == "held $owner" ]]'
	is "$strategy: nobody has another" "$(who other .client)" null
done
kill_liar 4
ok "three servers: held" wait_for 10 is_held lied
deaf s1
is "two servers: which are needed" "$(c 2 bftmutexctl who -w 500ms --json other | gojq -r '"\(.state): \(.reason)"')" \
	"unsure: too few servers answer: servers 1 and 4 are silent"
ok "two servers: too few for more than a grant" says 0 "lock 'lied': granted to client $owner" c 2 bftmutexctl who -w 500ms lied
deaf s2
ok "one server: it may lie" says 75 "lock 'lied': too few servers answer: servers 1, 2 and 4 are silent" c 2 bftmutexctl who -w 500ms lied
hearing s1 s2
give_back

# It is asked by the right to take the lock, and makes no entry.
is "asking makes no entry" "$(for n in 1 2 3; do s $n bftmutexctl locks --json | gojq '[.[] | select(.name == "other")] | length'; done | xargs)" "0 0 0"
ok "a name that is too long" says 64 "NAME: 65 bytes, 1 to 64 are allowed" c 2 bftmutexctl who "$(printf %65s x)"
ok "no name" says 64 "NAME of the lock is missing" c 2 bftmutexctl who
ok "a time that is none" says 64 "--wait 'soon': must be 1ms to 24h" c 2 bftmutexctl who -w soon x
ok "a second name" says 64 "'y': no such argument is expected" c 2 bftmutexctl who x y
ok "an empty name" says 64 "NAME: 0 bytes, 1 to 64 are allowed" c 2 bftmutexctl who ""
ok "an unknown option" says 64 "unrecognized option" c 2 bftmutexctl who --none x
is "servers count what they tell" "$(s 1 bftmutexctl server show --json | gojq '.stats.told > 0')" true
is "any name" "$(who '"a\b"' .lock)" '"a\b"'
ok "an unknown cluster" says 69 "bftmutexd has no cluster 'none'" c 2 bftmutexctl who -C none x

finish
