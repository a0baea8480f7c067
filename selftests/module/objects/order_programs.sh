#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=22
#
# Objects whose type is a program that takes long: each request is answered, also when others run
# meanwhile. And the commands of an administrator: list, dump, restore and delete.
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
	kill_liar 7
	down
}

# seconds: whole seconds since the boot
seconds() { cut -d. -f1 /proc/uptime; }

# at_once OBJECT REQUEST CLIENT...: one request of each client; prints the sorted answers
at_once() {
	local client object=$1 request=$2
	for client in "${@:3}"; do
		submit "$client" "$object" "$request" --timeout 60 &
	done | sort -n -k 2 | xargs
}

# within SECONDS COMMAND...: its output, and whether it took no longer
within() {
	local begun said
	begun=$(seconds)
	said=$("${@:2}")
	echo "$said, $(($(seconds) - begun <= $1))"
}

object() { c "$1" bftmutexctl object "${@:2}"; }

# A counter that takes as many seconds for a request as the request says.
program=/tmp/slow-$$
cat >$program <<END
#!/bin/bash
IFS= read -r _
read -r _ len; IFS= read -rN "\$len" state; read -r _
read -r _ len; IFS= read -rN "\$len" request; read -r _
echo >>$program.runs
sleep "\$request"
state=\$((\${state:-0} + 1))
printf 'status 0\nstate %d\n%s\nresponse %d\n%s\n' \${#state} "\$state" \${#state} "\$state"
END
chmod +x $program
runs() { wc -l <$program.runs; }
ran() { [[ -e $program.runs ]] && (($(runs) == $1)); }

load || bail "module"
# A program may take as long as the longest lease, and longer than an iteration.
up --servers 7 -b 1 --clients 3 --lease-max 10s || bail "no cluster"
for n in 1 2 3; do
	echo "type slow { program = $program  time-limit = 10s }" >>"$dev/c$n/bftmutex.conf"
	kill -HUP "$(helper "$n")"
	ok "client $n knows the program" wait_for 10 grep -q "read again" "$dev/c$n/log"
done

is "create" "$(submit 1 slow "create slow")" "0 "
is "three hosts at once, of whom two do not know the object" \
	"$(within 14 at_once slow 4 1 2 3)" "0 1 0 2 0 3, 1"
is "each program ran once" "$(runs)" 3
is "and when they do" "$(within 14 at_once slow 4 1 2 3)" "0 4 0 5 0 6, 1"
is "so it did again" "$(runs)" 6

# A request that comes while the program runs does not start it a second time.
submit 1 slow 1000 --timeout 60 >"$dev/hangs" &
hanging=$!
ok "a program hangs" wait_for 10 ran 7
is "others are answered when it was killed" "$(within 12 at_once slow 0 2 3)" "0 7 0 8, 1"
wait "$hanging"
is "whose request it was is told so" "$(cat "$dev/hangs")" "5 "
is "and it was run once" "$(runs)" 9

ok "many of one host" load_into many --object slow --request 0.5 --clients 2-2 --threads 16 \
	--count 1 --timeout 60
is "many of one host: each is done" "$(many answered) $(many refused)" "16 0"
is "and each once" "$(submit 1 slow 0) $(runs)" "0 25 26"

# Requests that are packed together have one version, and numbers of their own.
ok "numbers: all are answered" load_into added --object visits --type counter --create \
	--request "add 1" --clients 1-3 --threads 4 --count 5 --timeout 60 \
	--history "$dev/history"
adds='[.[] | select(.request == "add 1" and .response)] | sort_by(.response | tonumber)'
is "numbers: some share a version" \
	"$(gojq -s "$adds | map(.version) | length > (unique | length)" "$dev/history")" true
is "numbers: none shares its number, which grows" \
	"$(gojq -s "$adds | map(.number | tonumber) | length == 60 and . == unique" "$dev/history")" true
is "numbers: the tool shows the same" "$(object 1 submit --json visits get |
	gojq -c '[.response, (.number | tonumber) >= .version * 100000]')" '["60",true]'

# Commands of an administrator.
object 1 create settings map >/dev/null
object 1 submit settings set color "$(printf 'light\ngreen')" >/dev/null
large=$(head -c 9000 /dev/zero | tr '\0' x)
for key in b c; do
	object 1 submit settings set "$key" "$large" >/dev/null
done
# listed CLIENT [ARG...]: names and types of the objects, as the client lists them
listed() { object "$1" list "${@:2}" | awk 'NR > 1 { print $1, $3 }' | xargs; }
all="map settings slow slow counter visits"
submit 1 never get >/dev/null
is "list" "$(listed 1)" "$all"
is "list: a host that has used none of some" "$(listed 3)" "$all"
is "list: what this host has used" "$(listed 3 --local | xargs -n 2 | sort | xargs)" \
	"counter visits slow slow"
is "list: it makes no version" "$(object 2 list)" "$(object 3 list)"
is "list: for programs" "$(object 3 list --json |
	gojq -c '.[0] | [.name, .type, .version, .number]')" \
	'["settings","map",4,null]'
ok "list: no such cluster" says 78 "bftmutexd has no cluster 'nope'" object 3 list -C nope
ok "dump" eval 'object 1 dump >"$dev/dump"'
is "dump: what there is" "$(gojq -r '"\(.object) \(.type) \(.state | length)"' "$dev/dump" |
	sort | xargs)" "settings map 36092 slow slow 14 visits counter 32"
is "dump: one by its name" "$(object 2 dump visits | gojq -r .state)" \
	"$(gojq -r 'select(.object == "visits").state' "$dev/dump")"
ok "dump: one that is not there" says 1 "there is no such object" object 1 dump none
ok "restore: what is there stays" says 1 "the object exists already" \
	object 1 restore <"$dev/dump"
for name in settings slow visits; do
	ok "delete $name" object 2 delete "$name"
done
is "deleted" "$(submit 1 visits get)" "2 "
is "deleted: none is listed" "$(object 3 list)" \
	"The cluster has no objects that this client may use."
ok "delete: it is not there" says 1 "there is no such object" object 1 delete visits
is "delete: it can be made anew, of any type" "$(submit 3 visits "create log")" "0 "
ok "restore: others" says 1 "object 'visits': the object exists already" \
	object 3 restore <"$dev/dump"
is "restore: they are as they were" \
	"$(object 1 submit settings get color) $(submit 2 settings "get c") $(submit 2 slow 0)" \
	"$(printf 'light\ngreen') 0 $large 0 26"
ok "restore: nonsense" says 65 "line 1: not a line of 'object dump'" \
	object 1 restore <<<'{"object":"x","state":"0"}'

# A word that looks like an option is none behind the name.
ok "an option behind the name" says 64 "options come before NAME" \
	object 1 submit settings set color --json
ok "with a value" says 64 "options come before NAME" object 1 create other map --wait=5s
is "unless one says so" "$(object 1 submit -- settings set color --json
	object 1 submit settings get color)" --json

# A look that takes too long is not the last one.
object 1 create leader register >/dev/null
object 2 watch --json --wait 1s -n 100ms leader >"$dev/watched" 2>"$dev/complaints" &
watcher=$!
ok "watch: it looks" wait_for 20 grep -qs value "$dev/watched"
deaf s1 s2 s3
ok "watch: one look comes to nothing" wait_for 20 grep -qs leader "$dev/complaints"
hearing s1 s2 s3
object 1 submit leader write red >/dev/null
ok "watch: and it goes on" wait_for 20 grep -q '"red"' "$dev/watched"
kill "$watcher"

# One server lies about what there is, and the others that answer are a quorum only with it.
all=$(listed 1)
deaf s1 s2
for lie in list-invent list-hide list-delete; do
	lie 7 honest --order $lie
	is "$lie: the list is as it was" "$(listed 3)" "$all"
	kill_liar 7
	ok "$lie: it has lied" grep -q '"lies":[1-9]' "$dev/liar-7.json"
done
lie 7 honest --order list-endless
ok "list-endless: it is none that counts" says 75 "too few servers answer" object 3 list
hearing s1 s2
is "list-endless: the list is as it was" "$(listed 3)" "$all"

# A list has what the servers' access rules let its client use.
for server in {1..6}; do
	s "$server" bftmutexctl server access set <(echo 'access { client = 1  prefix = "s" }
		access { client = 2-3 }') >/dev/null
done
is "list: by access rules" "$(listed 1)" "map settings slow slow"
is "list: of another client" "$(listed 3)" "$all"
finish
