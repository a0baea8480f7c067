#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm tier=all clock=instructions mem=2048 time=120
#
# A host that waits for thousands of locks at once gets all of them, by the kernel and by the
# daemon: neither sends so much that it has no time for the answers.
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 … bftm-s4    n = 4, b = 1, F = 3
#
# Functions are called by name, load may have no arguments, and variables are
# shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

own_work

know() { c 2 bftmutexctl servers --json | gojq ".clusters[0] | $1"; }
lent() { [[ $(know .fast_path) == "$1" ]]; }
sent() { know '[.servers[].sent] | add'; }
# Datagrams that had no room in a socket of host 2
overflows() { netns_exec bftm-c2 awk '$1 == "Udp:" && $6 ~ /^[0-9]/ { print $6 }' /proc/net/snmp; }
waiters_into() { waiters "${@:2}" >"$1"; }

# many COUNT WAY MS: host 2 waits for so many, and has the last one so soon after host 1
many() {
	local before overflown
	before=$(sent) overflown=$(overflows)
	unset -v last_ms left failed lost
	ok "$1 by the $2: host 2 waits for them, while host 1 has them" \
		waiters_into "$work/measured" "$1" 3000 || return
	. "$work/measured"
	diag "host 2 has the last after $last_ms ms; $(($(sent) - before)) datagrams of the daemon"
	is "$1 by the $2: none is left, fails or is lost, its own one neither" "$left $failed $lost" "0 0 0"
	figure "$1 by the $2: soon after host 1" test "$last_ms" -lt "$3"
	is "$1 by the $2: sockets had room for all answers" "$(overflows)" "$overflown"
}

load || bail "the module cannot be loaded"
up --servers 4 -b 1 --clients 2 --lease-max 20s || bail "no cluster"
ok "the kernel asks" wait_for 20 lent true

before_won=$(know .fast_won) before=$(sent)
# A push that is lost on the way costs up to half of a lease, until the next poll.
many 3000 kernel 8000
ok "the kernel waits for nearly all" test $(($(know .fast_won) - before_won)) -ge 2800
ok "the daemon has little to do" test $(($(sent) - before)) -lt 16000

tune 'fast-path = no' || bail "configuration"
ok "the daemon asks" wait_for 20 lent false
before=$(sent)
many 2000 daemon 5000
# Polls, an eighth of a lease apart, and TRY, RELEASE and renewals: 4 datagrams each.
ok "the daemon sends no more than it must" test $(($(sent) - before)) -lt $((2000 * 4 * 12))

finish
