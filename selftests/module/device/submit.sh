#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions about=module time=12
#
# BFTM_IOC_SUBMIT, by programs that make namespaces of their own and are the helper
# there; then, from here, what may go while programs wait: helper, namespace, module.
#
#
# shellcheck disable=SC2317  # functions are called by tap.sh

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

load || bail "the module cannot be loaded"
tracing=/sys/kernel/tracing
mount -t tracefs tracefs $tracing 2>/dev/null
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
echo 8192 >$tracing/buffer_size_kb	# that no event is written over
echo 1 >$tracing/events/bftmutex/enable || bail "no tracepoints"
programs="submit_arguments submit_helper submit_end submit_room submit_library submit_chaos"
for program in ${1:-$programs}; do
	embed "$program"
done
[[ ! ${1-} ]] || finish

fired() { grep -qE " bftm_$1: netns=[0-9]+ id=[1-9][0-9]* $2" $tracing/trace; }
ok "tracepoint submit" fired submit "name=object op_len=5 timeout_at_ns=[1-9]"
ok "tracepoint submitted: answered" fired submitted "error=0 status=0 number=17 response_len=4"
ok "tracepoint submitted: given up" fired submitted "error=4 status=0 number=0 response_len=0"
echo 0 >$tracing/events/bftmutex/enable

alone() { (($(namespaces) == 1)); }
ok "no namespace is left" wait_for 20 alone
log_objects -
embed submit_many
ok "nor after many operations" log_objects +

dir=$(mktemp -d) || bail "mktemp failed"
play() { netns_exec play submit_play "$@"; }
help() { # KIND: a helper, ready
	netns_exec play submit_play "$1" >"$dir/helper" &
	helper=$!
	wait_for 10 grep -q ready "$dir/helper"
}
ask() { # NAME: a program that waits, its words in $dir/NAME
	netns_exec play submit_play ask "$1" get >"$dir/$1" 2>&1 &
	asker=$!
	wait_for 10 grep -qx "given $1" "$dir/helper"
}
end() { # PID [SIGNAL]: its status
	kill "-${2:-KILL}" "$1"
	wait "$1"
}

ip netns add play || bail "no namespace"
ok "a helper" help counters
is "an object" "$(play ask a 'add 40') $(play ask a 'add 2') $(play ask b get)" "40 42 0"
is "an object that refuses" "$(play ask a jump 2>&1)" "submit_play: a: Invalid argument"
end "$helper" 2>/dev/null

ok "a silent one" help silent
ok "is given a submit" ask waits
ok "the module is in use" ! rmmod bftmutex
ok "the program still waits" kill -0 "$asker"
end "$helper" 2>/dev/null
wait "$asker"
is "its helper is killed: status" "$?" 69
is "its helper is killed: words" "$(<"$dir/waits")" \
	"submit_play: waits: bftmutexd ended; the operation may have been applied, or not"
ok "a next helper" help silent
ok "is not given it" ! grep -q given "$dir/helper"

# The last process, and with it the namespace, goes while a withdrawal waits for a
# helper that does not move.
ok "it is given another" ask left
kill -STOP "$helper"
end "$asker" 2>/dev/null
ip netns del play
end "$helper" 2>/dev/null
ok "namespace and module go" wait_for 20 rmmod bftmutex
rm -rf "$dir"
finish
