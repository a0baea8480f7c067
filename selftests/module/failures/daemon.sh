#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm name=fail-daemon tier=all mem=1024 "allow=audit: type=1326|kauditd_printk_skb" time=300
#
# The daemon at work, in a VM, with one allocation failing, an earlier or a later one, or
# all from there on: it goes on, or ends with a word. Programs are answered in time, and
# the next daemon finds all in order: nobody entered while another was inside, and the
# counter is what it was told.
#
#	daemon.sh [N|N+...]	of these; unless given, of sixty between 1 and 30000
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 … bftm-s7
#
# shellcheck disable=SC2317,SC2119,SC2154,SC2034

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

hook=$top/build/bin/tests/fail_alloc.so
dir=$(mktemp -d)
cleanup() {
	stop_jobs
	down
	rm -rf "$dir"
}

# answered COMMAND...: any answer will do. Additions to the counter are counted.
answered() {
	c 1 timeout 60 "$@" >"$dir/out" 2>&1
	status=$?
	((status < 124)) || { echo "$*: status $status"; return 1; }
}
adds() {
	answered bftmutexctl object submit --timeout 10s counter add 1 || return
	# Whether it was applied is not known.
	unknown=$((unknown + (status != 0))) added=$((added + (status == 0)))
}

# A lock that nobody wants, one that another has; an object; what is asked and told.
work() {
	answered bftmutex -l 1s -w 5 alone true || return
	c 2 bftmutex -l 1s -w 20 both sh -c "touch $dir/inside
		until [ -e $dir/enough ]; do sleep 0.05; done" &
	holder=$!
	wait_for 20 test -e "$dir/inside" || return
	answered bftmutex -n both true || return
	timeout 60 netns_exec bftm-c1 bftmutex -l 1s -w 5 both true &
	waiter=$!
	touch "$dir/enough"
	wait "$holder"
	wait "$waiter"
	status=$?
	((status < 124)) || { echo "who waits: status $status"; return 1; }
	answered bftmutexctl servers --json || return
	answered bftmutexctl stats --json || return
	kill -HUP "$(helper 1)" 2>/dev/null
	answered bftmutex -l 1s -w 5 --fence alone true || return
	adds && adds
}

# An end by a signal is in the kernel's log, one by an assertion in the daemon's. OpenSSL, as it
# begins, uses locks and threads' data that it could not make, and libseccomp a filter. Libseccomp may
# also take a filter for whole that lacks calls: then the daemon can do less, and not even say so.
end_is_clean() {
	gone "$(helper 1)" || return 0
	ended=$((ended + 1))
	if dmesg | grep -E "bftmutexd\[$(helper 1)\].*(segfault|trap|general protection)"; then
		grep -qE 'libcrypto.*CRYPTO_THREAD_(lock_new|run_once)|libseccomp.*seccomp_load' \
			"$dev/c1/log" || return
		crashed=$((crashed + 1))
	elif grep -q 'Assertion' "$dev/c1/log"; then
		asserted=$((asserted + 1))
	elif dmesg | grep -q "type=1326.* pid=$(helper 1) "; then
		filtered=$((filtered + 1))
	else
		sed '/fail_alloc/,/^[^/]/d; /ready/d' "$dev/c1/log" | grep .
	fi
}

one() {
	kill_helper 1
	rm -f "$dir/inside" "$dir/enough"
	run_helper=(env LD_PRELOAD="$hook" FAIL_ALLOC_NTH="$1" FAIL_ALLOC_TRACE=1)
	start_helper 1
	run_helper=()
	work && end_is_clean && return
	cat "$dev/c1/log"
	return 1
}

counter() { c 1 timeout 60 bftmutexctl object submit counter get; }
is_between() {
	local now
	now=$(counter) || return
	echo "$now, $added answered, $unknown not known"
	((now >= added && now <= added + unknown))
}

if (($# == 0)); then
	mapfile -t which < <(awk 'BEGIN {
		for (i = 1; i <= 12; i++) print i
		for (x = 14; x < 30000; x *= 1.2) print int(x)
		print "200+\n1000+\n5000+\n20000+"
	}')
	set -- "${which[@]}"
fi
[[ -e $hook ]] || bail "not built; 'make failures' does it"
load || bail "the module cannot be loaded"
up --servers 7 -b 1 --clients 2 --lease-max 1s || bail "no cluster"
ok "an object is made" c 1 bftmutexctl object create counter counter
added=0 unknown=0 ended=0 asserted=0 crashed=0 filtered=0
for nth; do
	ok "allocation $nth fails" one "$nth"
done
diag "the daemon ended $ended times of $#, $asserted by a library's assertion, $crashed by its crash," \
	"$filtered by a filter of system calls that lacks some"
kill_helper 1
ok "with memory the daemon serves" start_helper 1
ok "contenders enter" contend 4 --entries 10 --lease 0.8 --hold 5 --timeout 60
ok "nobody entered while another was inside" no_overlap
ok "the counter is what it was told" is_between
finish
