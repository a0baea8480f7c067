#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=18 never=6.12-debug,6.1-debug,6.12-kcsan,6.1-kcsan
#
# Integrations with other programs, on a cluster: the Python binding, the shell library, the
# metrics, and "bftmutexctl top" on a terminal.
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1, -s2, -s3    n = 3, b = 0, F = 2
#
# Functions are called by name, load may have no arguments, and variables are shared with the
# libraries.
# shellcheck disable=SC2016,SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../lib/cluster.sh"

from=$top/helper/integrations
work=/tmp/integrations
mkdir -p $work
cd "$(dirname "$0")" || bail "no folder"
cleanup() { down; }

load || bail "module"
up --servers 3 -b 0 --clients 2 --lease-max 3s || bail "no cluster"

#
# Python
#

export PYTHONPATH=$from/python PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH=$top/build/bin
c 1 bftmutexctl object create counter counter >/dev/null
embed c 1 /usr/bin/python3 in_python

#
# Shell
#

export BFTMUTEX_SH=$from/shell/bftmutex.sh
embed c 1 dash in_shell
short || embed c 1 bash in_shell

#
# Metrics: what is printed is what bftmutexctl says
#

value() { sed -n "s/^$1 //p" $work/metrics; }
c 1 bftmutex taken true
c 1 bftmutexctl stats --json >$work/stats
c 1 "$from/metrics/bftmutex-metrics" --output $work/metrics
is "metrics of a client: locks won" "$(value bftmutex_local_won_total)" "$(gojq .local.won $work/stats)"
is "one was lost" "$(value bftmutex_local_lost_total)" "$(gojq .local.lost $work/stats)"
is "servers that can grant" "$(value 'bftmutex_cluster_usable{cluster="demo"}')" 3
is "each is well" "$(value 'bftmutex_peer_state{cluster="demo",server="[123]",state="ok"}' | xargs)" "1 1 1"
is "no server runs here" "$(value bftmutex_helper_up) $(value bftmutex_server_up)" "1 0"
s 1 "$from/metrics/bftmutex-metrics" --output $work/metrics
is "metrics of a server" "$(value bftmutex_helper_up) $(value bftmutex_server_up) $(value bftmutex_server_bad_tag_total)" "0 1 0"
ok "it has granted" test "$(value bftmutex_server_granted_total)" -gt 0

#
# bftmutexctl top, on a terminal
#

export LC_ALL=C.UTF-8 TERM=xterm
# on HOST: a terminal there, 110 by 30, with the program; what it shows; type into it
on() { "${1%%[0-9]*}" "${1#?}" tmux -L "$1" -f /dev/null new-session -d -x 110 -y 30 "bftmutexctl top -n 500ms; echo ended \$?; cat"; }
screen() { tmux -L "$1" capture-pane -p; }
type_in() { tmux -L "$1" send-keys "$2"; }
shows() { screen "$1" | grep -qE -- "$2"; }
# see HOST DESC PATTERN
see() { ok "top: $2" wait_for 20 shows "$1" "$3" || diag "$(screen "$1")"; }

mkfifo $work/enough
netns_exec bftm-c1 bftmutex $'l\xc3\xb6ck' sh -c "read line <$work/enough" &
holder=$!
held() { c 1 bftmutexctl holders | grep -q ^held; }
wait_for 20 held
netns_exec bftm-c1 bftmutex $'l\xc3\xb6ck' true &
on c1
see c1 "all is well" '^all well: cluster demo: 3 of 3 servers can grant, a lock needs 2$'
see c1 "each server, and how much is sent to it" '^ +2  ok +no +0s +[0-9.]+[mu]s +[0-9.]+ +[0-9.]+ .* 10\.73\.0\.2:'
see c1 "the lock is held" '^held +EX +- +none +[0-9.]+m?s .* bftmutex  +löck$'
see c1 "and waited for" '^pending .* bftmutex  +löck$'
setsid ip netns exec bftm-c1 dash -c '. "$BFTMUTEX_SH"
	bftmutex_lock 9 readers -s && bftmutex_lock 8 readers -s && bftmutex_convert 8 --exclusive' &
readers=$!
see c1 "a reader wants to be alone, and is not" '^held +PR +EX +none .* readers$'
kill -KILL -- -$readers
see c1 "so many a second" 'locks of this host:  won [0-9.]+/s  released [0-9.]+/s'
is "top: sorted by name" "$(screen c1 | grep -oE '[A-Z]+[*]')" "LOCK*"
type_in c1 s
see c1 "sorted by what remains" 'REMAINING[*]'
if ! short; then
	s 3 bftmutexctl server stop >/dev/null
	see c1 "a server is silent" '^degraded: .*; server 3 silent$'
	tmux -L c1 resize-window -x 30 -y 6
	see c1 "a small terminal" '^bftmutexctl top  [0-9:]{8}  q:$'
	tmux -L c1 resize-window -x 110 -y 30
	on s1
	see s1 "no daemon there" '^failed: bftmutexd is not running in this network namespace$'
	see s1 "its server" '^server 1 of cluster 73 runs here; its quarantine: 0'
	see s1 "locks in its table" '^in the table of the server: [1-9]'
	see s1 "by name" '  löck$'
	tmux -L s1 kill-server
fi
echo >$work/enough
see c1 "nothing is held any more" '^held here, waited for or lost: 0$'
type_in c1 q
see c1 "it ends" '^ended 0$'
tmux -L c1 kill-server
ok "top: no terminal" says 64 "top needs a terminal" c 1 bftmutexctl top </dev/null
ok "top: a terminal without a cursor to move" says 64 "TERM is 'dumb'" \
	c 1 env TERM=dumb script -qec "bftmutexctl top" /dev/null
ok "top: no terminal of that name" says 64 "TERM is 'lost'" \
	c 1 env TERM=lost script -qec "bftmutexctl top" /dev/null
ok "top: no JSON" says 64 "servers, holders, locks and stats have it" c 1 bftmutexctl top --json
wait_jobs
finish
