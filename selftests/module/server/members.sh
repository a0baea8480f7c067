#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions about=module time=15
#
# Locks without a lease at one server: after a start it waits for its members, and an
# administrator evicts a member.
# shellcheck disable=SC2154,SC2317,SC2086,SC2119  # set by, or called from, what is sourced
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/pair.sh
. "$(dirname "$0")/../../lib/pair.sh"

members() { s 1 bftmutexctl server members --json | gojq -c "$1"; }
evict() { s 1 bftmutexctl client evict --state "$dir" "$@"; }
# set_rules < RULES
set_rules() {
	cat >"$dir/other"
	s 1 bftmutexctl server access set --state "$dir" "$dir/other"
}
# refused DESC TEXT COMMAND...: it fails and says so
refused() { ok "$1" fails_with "${@:2}"; }
fails_with() {
	local text=$1 said
	shift
	said=$("$@" 2>&1) && { echo "it succeeded: $said"; return 1; }
	grep -F -- "$text" <<<"$said" || { echo "it said: $said"; return 1; }
}

cat >"$dir/bftmutex.conf" <<END
cluster test {
	id = 9
	b = 0
	server 1 { address = $v4 }
	access { client = 50-51  prefix = "disk/"  leaseless = yes }
	access { client = any }
}
END
begin() { start --state "$dir" --config "$dir/bftmutex.conf" "$@"; }

begin || bail "server"
is "members" "$(members '[.[] | [.id, .awaited, .evicted]]')" '[[50,true,null],[51,true,null]]'
is "server show" "$(show '[.members, .awaited]' | tr -d ' \n')" '[2,2]'
refused "a member that is awaited stays one" "members are awaited" set_rules <<<'access { client = any }'
run "after a start all members are awaited" members restarted $v4 50 $v4 51 $v4 52
is "server show: none is awaited" "$(show .awaited)" 0
is "SYNCED is counted" "$(show '.stats.synced >= 3')" true
refused "who holds such a lock stays a member" "holds or awaits a lock without a lease" \
	set_rules <<<'access { client = any }'
is "the rules are as they were" "$(members length)" 2
# The server would keep the new rule, and a start without it would not know what it takes away.
cp "$dir/server-9-1.members" "$dir/noted"
printf 'access { client = %s }\n' '50-52  leaseless = yes' any >"$dir/other"
refused "rules with another folder" "server-9-1: No such file or directory: --state must be as it was" \
	s 1 bftmutexctl server access set "$dir/other" --state "$dir/other-state"
is "rules with another folder: the status" \
	"$(s 1 bftmutexctl server access set "$dir/other" 2>/dev/null; echo $?)" 66
is "rules with another folder: nothing is new" "$(members length) $(<"$dir/server-9-1.members")" "2 $(<"$dir/noted")"
set_rules >/dev/null <<'END'
access { client = 50-52  leaseless = yes }
access { client = any }
END
is "a member more" "$(members '[.[] | [.id, .awaited]]')" '[[50,false],[51,false],[52,false]]'


run "a member that holds" members holds $v4 50 $v4 51
is "bftmutexctl locks: no end" "$(locks '.[] | select(.name == "disk/8") | .remaining_ns')" null
refused "eviction without --fenced" "--fenced is needed" evict 50 7
refused "eviction of nobody" "'0': must be 1 to" evict 0 7 --fenced
refused "eviction of one who is no member" "no member" evict 57 7 --fenced
refused "eviction of tomorrow's incarnation" "must be 1 to" evict 50 4294967295 --fenced
refused "eviction with another folder" "as it was for 'server start'" \
	s 1 bftmutexctl client evict 50 7 --fenced --state "$dir/other-state"
is "eviction" "$(evict 50 7 --fenced --json | tr -d ' \n')" '{"client":50,"evicted":7}'
run "a member that is evicted" members evicted $v4 50 $v4 51

stop
refused "a start without a member of before" "clients 50 to 52 could hold" begin
sed 's/50-51  prefix.*leaseless/50-51  leaseless/' "$dir/bftmutex.conf" >"$dir/fewer.conf"
refused "a start without one of three members" "client 52 could hold" begin --config "$dir/fewer.conf"
begin --members-fenced || bail "server"
stop
begin || bail "server"
is "evictions outlast a restart" "$(members '[.[] | [.id, .awaited, .evicted]]')" \
	'[[50,true,7],[51,true,null]]'
refused "rules by which one that is awaited may hold less" "members are awaited" set_rules <<'END'
access { client = 50-51  prefix = "tape/"  leaseless = yes }
access { client = any }
END
run "its REASSERT is refused then" members again $v4 50 $v4 51
# The numbers of client 50, by the clock, are those of a later incarnation than 8.
newest=$(members '.[0].incarnation')
ok "eviction of one that is back" says 1 "it is incarnation $newest now, above 8" evict 50 8 --fenced
is "it is awaited all the same" "$(members '[.[] | [.id, .awaited, .evicted]]')" \
	'[[50,true,8],[51,false,null]]'
ok "eviction of one that is awaited" evict 50 1000000000 --fenced
run "nobody is awaited any more" members heard $v4 51
is "the note" "$(<"$dir/server-9-1.evicted")" "client 50 incarnation 1000000000"

stop
echo "client fifty" >"$dir/server-9-1.evicted"
refused "a note that cannot be read" "server-9-1.evicted:1: must be" begin
: >"$dir/server-9-1.evicted"
refused "a note that is empty" "is empty, so the evictions that were noted in it are lost: remove the file" begin
rm "$dir/server-9-1.evicted"
echo "clients fifty" >"$dir/server-9-1.members"
refused "rights that cannot be read" "server-9-1.members:1: must be" begin
rm "$dir/server-9-1.members"

# SYNC has a work look at all places for locks. Meanwhile other work of this processor goes on.
longest_wait() { # PID: of work, while the process runs; ms
	local begun ms longest=0
	while kill -0 "$1" 2>/dev/null; do
		begun=${EPOCHREALTIME/./}
		echo 1 >/proc/sys/vm/stat_refresh
		ms=$(((${EPOCHREALTIME/./} - begun) / 1000))
		((ms <= longest)) || longest=$ms
	done
	echo "$longest"
}
begin --max-locks 16777216 || bail "server"
c 1 members 1 restarted $v4 "$dir/client-50.client" $v4 "$dir/client-51.client" \
	$v4 "$dir/client-52.client" >/dev/null 2>"$dir/err" &
longest=$(longest_wait $!)
is "members tell" "$(<"$dir/err")" ""
ok "other work waited for $longest ms, 50 at most" test "$longest" -le 50
ok "the module can go" rmmod bftmutex
finish
