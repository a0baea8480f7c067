#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=24
#
# Access rules and limits of the servers: a refused client is told the reason, and all others go on.
#
#
#	bftm-c1   bftm-c2 ---- bridge ---- bftm-s1 … bftm-s4    n = 4, b = 1
#
# Functions are called by name, and variables are shared with the libraries.
# shellcheck disable=SC2317,SC2154,SC2034

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

work=$(mktemp -d)
lease_max=4s
all=(1 2 3 4)

cleanup() {
	stop_jobs
	kill_liar 1
	down
	rm -rf "$work"
}

# t N ARG...: bftmutex on client N; sets status and err.
t() {
	c "$1" bftmutex "${@:2}" >"$work/out" 2>"$work/err"
	status=$?
	err=$(<"$work/err")
}

# can DESC N ARG..., cannot DESC STATUS TEXT N ARG...: a client and a lock; a lock of an earlier
# test may still be in its lease.
can() {
	t "$2" -w 20 "${@:3}" true
	is "$1" "$status $err" "0 "
}

cannot() {
	t "$4" -w 20 "${@:5}" true
	is "$1: status" "$status" "$2"
	ok "$1: it says so" grep -qF -- "$3" <(echo "$err")
}

denied() { cannot "$1" 77 "access is refused by the servers" "${@:2}"; }

# rules SERVER...: gives these servers the rules on standard input. All at once, since a lease may
# end before a slow machine has done one after the other.
rules() {
	local n pid pids=()
	cat >"$work/rules"
	for n; do
		s "$n" bftmutexctl server access set "$work/rules" >"$work/set" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || return
	done
}

show() { s "$1" bftmutexctl server show --json | gojq -r "$2"; }

# start SERVER... -- ARG...: restarts the servers with these options.
start() {
	local servers=()
	while [[ $1 != -- ]]; do
		servers+=("$1")
		shift
	done
	local n
	for n in "${servers[@]}"; do
		s "$n" bftmutexctl server stop >/dev/null
		honest "$n" --lease-max $lease_max "${@:2}" || return
	done
}

# hold N LOCK LEASE: client N has the lock until a stop_jobs.
hold() {
	netns_exec "bftm-c$1" bftmutex -w 30 -l "$3" "$2" \
		sh -c "touch $work/held.$2; exec sleep 100" 2>/dev/null &
	wait_for 30 test -e "$work/held.$2"
}

load || bail "the module cannot be loaded"
up --servers 4 -b 1 --clients 2 --lease-max $lease_max || bail "no cluster"

#
# Rules
#

is "no rules" "$(s 1 bftmutexctl server access show)" \
	"There are no access rules: every client may take every lock."
can "no rules: client 1" 1 jobs/1
rules "${all[@]}" <<'END'
access { client = 1  prefix = "jobs/secret"  deny = yes }
access { client = 1  prefix = "jobs/"  lease-max = 900ms  waiters = 16 }
access { client = 2-7  prefix = "data/" }
END
is "rules: number" "$(cat "$work/set") $(show 1 .rules)" "rules                    3 3"
is "rules: in their order" "$(s 1 bftmutexctl server access show --json | gojq -c .)" \
	'[{"client_first":1,"client_last":1,"deny":true,"lease_max_ns":null,"leaseless":false,"max_waiters":null,"prefix":"jobs/secret"},{"client_first":1,"client_last":1,"deny":false,"lease_max_ns":900000000,"leaseless":false,"max_waiters":16,"prefix":"jobs/"},{"client_first":2,"client_last":7,"deny":false,"lease_max_ns":null,"leaseless":false,"max_waiters":null,"prefix":"data/"}]'
is "rules: for people" "$(s 1 bftmutexctl server access show | sed -n '3s/  */ /gp')" \
	"1 no 900ms 16 no jobs/"
can "what a rule allows" 1 -l 800ms jobs/1
can "what another allows" 2 data/1
denied "what none allows" 1 data/1
denied "another client's" 2 jobs/1
denied "a shorter name than the prefix" 2 data
denied "what an earlier one denies" 1 jobs/secret/1
cannot "a longer lease than the rule's" 64 "do not grant such a lease" 1 -l 1s jobs/1
ok "a longer lease than the rule's: it says what limits it" \
	grep -q "lease-max of the servers' access rules; 'bftmutexctl servers --json' has" <(echo "$err")
is "refused requests make no lock" "$(s 1 bftmutexctl locks --json | gojq '[.[] | select(.name == "data")] | length')" 0

rules 1 </dev/null
rules 2 3 4 <<'END'
access { client = 1 }
END
denied "refused by three of four" 2 data/1
rules 2 3 4 </dev/null
can "no rules again" 2 data/1
rules 2 <<'END'
access { deny = yes }
END
can "refused by one of four, which may be the liar" 2 data/1
echo "access { deny = yes }" >"$work/deny"
ok "rules that all deny: it says so" says 0 "no rule allows anything, so all clients are refused" \
	s 2 bftmutexctl server access set "$work/deny"
rules 2 </dev/null
is "no rules again: it says so" "$(sed 's/  */ /' "$work/set")" "Access: every client may take every lock.
rules 0"
is "no rules again: not in JSON" "$(s 2 bftmutexctl server access set /dev/null --json | tr -d ' \n')" '{"rules":0}'
hidden="access rule 3 (client = 3) is never used: rule 2 (client = any) comes before it, and is for the same clients and names \
or more; put it before that rule, or remove it"
printf 'access { client = %s }\n' '1 prefix = a' any '3 prefix = b deny = yes' >"$work/hidden"
is "rules of which one hides another: it says so" "$(s 2 bftmutexctl server access set "$work/hidden" 2>&1)" \
	"bftmutexctl: $hidden
rules                    3"
printf 'access { client = %s }\n' '1-2 prefix = a' '1-3 prefix = a' 1-2 >"$work/rules"
is "rules of which none does" "$(s 2 bftmutexctl server access set "$work/rules" 2>&1)" "rules                    3"
rules 2 </dev/null

# A RELEASE always passes the rules.
kill_shell() { pkill -KILL -x sleep; }
released() { [[ $(s 1 bftmutexctl locks --json | gojq '[.[] | select(.client == 1)] | length') == 0 ]]; }
# A busy machine may need longer for new rules than the lease is: again, then.
for ((i = 0; i < 5; i++)); do
	hold 1 kept $lease_max || bail "no lock"
	rules "${all[@]}" <<'END'
access { client = 1  deny = yes }
access { }
END
	! released && break
	kill_shell
	stop_jobs
	rules "${all[@]}" </dev/null
	rm "$work/held.kept"
done
ok "still had while the rules have changed" test $i -lt 5
kill_shell
ok "and can be released" wait_for 3 released
stop_jobs
denied "and not be taken again" 1 kept
can "but by others" 2 kept
rules "${all[@]}" </dev/null

# Replaced under traffic: the longest list, and none.
for ((i = 3; i < 1026; i++)); do echo "access { client = $i deny = yes }"; done >"$work/long"
echo "access { client = 1-2 prefix = \"traffic\" }" >>"$work/long"
replace() {
	local n turns=0
	while [[ ! -e $work/stop ]]; do
		for n in "${all[@]}"; do
			s "$n" bftmutexctl server access set "$work/long" >/dev/null &&
				s "$n" bftmutexctl server access set /dev/null >/dev/null || return
			turns=$((turns + 2))
		done
		echo $turns >"$work/turns"
	done
}
replace &
replacing=$!
count=100
! short || count=25
ok "replaced under traffic: all have their turns" contend 4 --entries $count --lock traffic --hold 1 --lease 0.9
touch "$work/stop"
wait $replacing
is "replaced under traffic: every replacement" $? 0
diag "replaced $(<"$work/turns") times"
ok "replaced under traffic: never two at once" no_overlap
ok "replaced under traffic: counted" counted $((4 * count))

# Cost of the longest list; client 1 is found last.
us_of_entries() { awk '{ print $4 }' "$entries" | sort -n | awk '{ v[NR] = $1 } END { print int(v[int((NR + 1) / 2)] / 1000) }'; }
polling='' contend 2 --entries 30 --lock speed --hold 0 --lease 0.9 >/dev/null
none=$(us_of_entries)
sed 's/ prefix = "traffic"//' "$work/long" | rules "${all[@]}"
is "1024 rules" "$(show 4 .rules)" 1024
contend 2 --entries 30 --lock speed --hold 0 --lease 0.9 >/dev/null
diag "acquire: $none us without rules, $(us_of_entries) us behind 1024 of them"
rules "${all[@]}" </dev/null

# A client with keys floods the servers, but no rule allows it anything.
flood() {
	netns_exec bftm-c2 flood "$dev/keys/server-$1.key" "10.73.0.$1" 40 &
}
rules "${all[@]}" <<'END'
access { client = 1-2 }
END
before=$(show 1 .stats.refused)
for n in "${all[@]}"; do flood "$n"; done
can "flood: others go on" 1 calm
can "flood: others go on" 2 calm
has_refused() { (($(show 1 .stats.refused) > before + 50)); }
ok "flood: it is refused" wait_for 20 has_refused
is "flood: and makes no lock" "$(s 1 bftmutexctl locks --json | gojq '[.[] | select(.name | length == 1)] | length')" 0
rules "${all[@]}" </dev/null
before=$(show 1 .stats.granted)
has_granted() { (($(show 1 .stats.granted) > before + 50)); }
ok "flood: without rules it is granted" wait_for 20 has_granted
can "flood: others go on still" 1 calm
can "flood: and wait for its locks" 2 a
stop_jobs

#
# Rules of the configuration, and what is wrong with them
#

cp "$dev/c1/bftmutex.conf" "$work/conf"
sed -i 's/^cluster .*/&\n\taccess { client = 1 }/' "$work/conf"
start 1 -- --config "$work/conf"
is "start: rules of the configuration" "$(show 1 .rules)" 1
s 1 bftmutexctl server access set /dev/null >/dev/null
s 1 bftmutexctl server access set --config "$work/conf" >/dev/null
is "set: rules of the configuration" "$(show 1 .rules)" 1
sed 's/^\taccess { client = 1 }/&\n&/' "$work/conf" >"$work/twice"
sed -i 's/client = 1 /client = 1 waiters = 0 /' "$work/conf"
err=$(s 1 bftmutexctl server access set --config "$work/conf" 2>&1)
is "set: a mistake" "$?" 78
ok "set: it says where and what" grep -q "conf:[0-9]*: key 'waiters' = '0': must be 1 to 65536" <<<"$err"
is "set: and changes nothing" "$(show 1 .rules)" 1
s 1 bftmutexctl server stop >/dev/null
ok "start: a rule that another hides" says 0 "access rule 2 (client = 1) is never used: rule 1 (client = 1) comes" \
	honest 1 --config "$work/twice"
s 1 bftmutexctl server stop >/dev/null
err=$(honest 1 --config "$work/conf" 2>&1)
is "start: a mistake" "$?" 78
sed -i -e 's/waiters = 0 //' -e 's/id = 73/id = 74/' "$work/conf"
err=$(honest 1 --config "$work/conf" 2>&1)
is "start: another cluster's configuration" "$?" 78

#
# What is known of fencing tokens
#

state=$work/state
key=$dev/keys/server-1.key
begin() { s 1 bftmutexctl server start --key "$key" --lease-max $lease_max --state "$state" "$@" >"$work/out" 2>&1; }
begin
is "tokens: the first start" "$? $(show 1 .token_floor)" "0 0"
ok "tokens: it says so" grep -q "it begins with 0" "$work/out"
is "tokens: noted" "$(stat -c %a "$state" "$state/server-73-1" | xargs)" "700 600"
begin
is "tokens: started twice" "$?" 69
s 1 bftmutexctl server stop >/dev/null
begin --max-waiters 7
is "tokens: not the first start" "$? $(show 1 .token_floor)" "0 null"
ok "tokens: it says so" grep -q "does not know which tokens" "$work/out"
is "tokens: for people" "$(s 1 bftmutexctl server show | sed -n 's/^token floor  *//p')" "unknown"
is "max-waiters" "$(show 1 .max_waiters)" 7
s 1 bftmutexctl server stop >/dev/null
begin --token-floor 12
is "tokens: by the administrator's word" "$? $(show 1 .token_floor)" "0 12"
s 1 bftmutexctl server stop >/dev/null
state=$work/new
begin --token-floor unknown
is "tokens: by his word, not known" "$? $(show 1 .token_floor)" "0 null"
s 1 bftmutexctl server stop >/dev/null
state=$work/newer
lie 1 silent || bail "no liar"		# has the port
begin
is "tokens: a start that fails" "$?" 69
ok "tokens: is none" ! test -e "$state/server-73-1"
kill_liar 1
begin
is "tokens: so the next is the first" "$? $(show 1 .token_floor)" "0 0"

#
# Full tables
#

# Only client 1 is there: it takes the one place.
kill_helper 2
start "${all[@]}" -- --max-clients 1 || bail "no servers"
can "full client table: who is in it" 1 -w 60 full
one_client() { for n in "${all[@]}"; do [[ $(show "$n" .clients) == 1 ]] || return; done; }
ok "full client table: it is full" one_client
start_helper 2 || bail "no helper"
cannot "full client table: a newcomer" 69 "a table of the servers is full" 2 newcomer
can "full client table: others go on" 1 full

# With a lease of 10 s no step comes too late, also on a slow machine. All servers have each lock.
lease_max=10s
start "${all[@]}" -- --max-locks 64 || bail "no servers"
tune "lease-max = $lease_max" 'ask = all' || bail "configuration"
can "full lock table: not yet" 1 -w 60 -l 1s hoard.0
netns_exec bftm-c1 hoard 64 hoard 10000 >"$work/hoard" 2>&1 &
hoard=$!
wait_for 30 test -s "$work/hoard"
is "full lock table: it is full" "$(<"$work/hoard")" held
cannot "full lock table: a newcomer" 69 "a table of the servers is full" 2 newcomer
is "full lock table: what is there stays" "$(show 1 .locks)" 64
kill $hoard
ok "full lock table: room comes back" wait_for 60 c 2 bftmutex -w 20 newcomer true
finish
