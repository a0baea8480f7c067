#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions "allow=audit: type=1326" time=15
#
# Things that bftmutexd and the programs that it starts cannot do.
#
#	bftm-c1 ---- bridge ---- bftm-s1    n = 1, b = 0
#
# All other tests show that the daemon does not need the rights that it gave up: a refused system
# call logs a line in the kernel's log, and a run with such a line fails. Here a program makes
# refused calls; see "makes it" below.
# shellcheck disable=SC2317,SC2154  # called from, or set by, what is sourced

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

conf=$dev/c1/bftmutex.conf

cleanup() {
	stop_jobs
	down
}

# status WORD: of the daemon, from /proc
status() { awk -v word="$1:" '$1 == word { print $2 }' "/proc/$(helper 1)/status"; }

# sandbox WORD: starts a new daemon with this value in its configuration
sandbox() {
	kill_helper 1 TERM
	sed -i '/^sandbox = /d' "$conf"
	sed -i "1i sandbox = $1" "$conf"
	start_helper 1
}

submit() { c 1 bftmutexctl object submit "$@"; }

# logged TEXT: the daemon's log has TEXT
logged() { grep -qF -- "$1" "$dev/c1/log"; }

# A type that makes the system call of its request, and answers with the result.
cat >/tmp/probe <<'END'
#!/usr/bin/perl
use strict;
use warnings;
use POSIX ();

# Numbers of x86_64; a word that is no number is a command of the shell.
my %call = (ptrace => [101, 0, 0, 0, 0], mount => [165, 0, 0, 0, 0, 0],
	unshare => [272, 0x10000000], setns => [308, 0, 0], bpf => [321, 0, 0, 0],
	keyctl => [250, 0, 0, 0, 0, 0], init_module => [175, 0, 0, 0],
	io_uring_setup => [425, 1, 0], userfaultfd => [323, 0], reboot => [169, 0, 0, 0, 0],
	process_vm_readv => [310, 1, 0, 0, 0, 0, 0], perf_event_open => [298, 0, 0, 0, 0, 0],
	clock_settime => [227, 0, 0], clone3 => [435, 0, 0],
	clone_newuser => [56, 0x10000011, 0, 0, 0, 0], socket_packet => [41, 17, 3, 0],
	socket_unix => [41, 1, 1, 0], getpid => [39]);

local $/;
my ($what) = <STDIN> =~ /\nrequest \d+\n(.*)\n/;
my $answer;
if (my $call = $call{$what}) {
	$! = 0;
	$answer = syscall($call->[0], @$call[1 .. $#$call]) < 0 ? 0 + $! : 'done';
} else {
	$answer = `$what 2>&1`;
}
printf "status 0\nresponse %d\n%s\n", length($answer), $answer;
END
chmod +x /tmp/probe

load || bail "module"
up --servers 1 -b 0 --clients 1 --lease-max 5s || bail "no cluster"

#
# The default
#

is "capabilities: CAP_NET_ADMIN" "$(status CapEff) $(status CapPrm)" \
	"0000000000001000 0000000000001000"
is "capabilities: none for programs" "$(status CapBnd) $(status CapInh) $(status CapAmb)" \
	"0000000000000000 0000000000000000 0000000000000000"
is "no new privileges, system calls filtered" "$(status NoNewPrivs) $(status Seccomp)" "1 2"
is "no core dump" "$(awk '/^Max core/ { print $5, $6 }' "/proc/$(helper 1)/limits")" "0 0"
ok "not written to swap" test "$(status VmLck)" -gt 0
peek() { setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace cat "/proc/$1/environ"; }
ok "its memory is nobody's without CAP_SYS_PTRACE" ! peek "$(helper 1)"
setpriv --bounding-set=-all --inh-caps=-all sleep 1000 &
ok "as is that of another with as few rights" wait_for 10 peek $!
kill $!
ok "it grants locks" c 1 bftmutex -w 10 sandbox true

echo "type probe { program = /tmp/probe  time-limit = 10s }" >>"$conf"
kill -HUP "$(helper 1)"
ok "a new configuration is read" wait_for 10 logged "read again"
created() { c 1 bftmutexctl object create probe probe; }
ok "a program is a type" wait_for 30 created

# A refused call is logged; only this test may have such lines.
while read -r call want; do
	is "program: $call" "$(submit probe "$call")" "$want"
done <<'END'
getpid done
socket_unix done
ptrace 38
mount 38
unshare 38
setns 38
bpf 38
keyctl 38
init_module 38
io_uring_setup 38
userfaultfd 38
reboot 38
process_vm_readv 38
perf_event_open 38
clock_settime 38
clone3 38
clone_newuser 38
socket_packet 38
END
is "program: no capabilities" "$(submit probe 'grep -h ^Cap /proc/self/status' | awk '{ print $2 }' |
	sort -u)" 0000000000000000
is "program: a shell, pipes, files, other programs" \
	"$(submit probe 'f=$(mktemp) && seq 3 | sort -r >$f && paste -sd , $f && rm $f')" "3,2,1"
if [[ -e /proc/self/loginuid ]]; then
	ok "the log tells what was refused" grep -q 'type=1326.*syscall=321 ' <(dmesg)
else
	skip "the log tells what was refused" "a kernel without audit"
fi

#
# strict
#

echo "sandbox = strict" >>"$conf"
kill -HUP "$(helper 1)"
ok "strict: not with a type" wait_for 10 logged "with a section 'type' it must be no or yes"
sed -i -e '/^type /d' -e '/^sandbox/d' "$conf"
ok "strict: it serves" sandbox strict
is "strict: filtered" "$(status Seccomp)" 2
ok "strict: it grants locks" c 1 bftmutex -w 10 sandbox true
ok "strict: and changes objects" c 1 bftmutexctl object create counter counter
is "strict: which are counted" "$(submit counter add 1)" 1
sed -i "s/^\tlease-max = .*/\tlease-max = 4s/" "$conf"
kill -HUP "$(helper 1)"
ok "strict: a new configuration is read" wait_for 10 logged "read again"
ok "strict: and used" c 1 bftmutex -w 10 sandbox true
sed -i "s/^sandbox = .*/sandbox = no/" "$conf"
: >"$dev/c1/log"
kill -HUP "$(helper 1)"
ok "strict: for good" wait_for 10 logged "from the next start on"
is "strict: it is filtered as before" "$(status Seccomp)" 2
ok "strict: it says who asks for it" c 1 bftmutexctl servers

#
# no
#

ok "no: it serves" sandbox no
is "no: not filtered, but without rights to gain" "$(status Seccomp) $(status NoNewPrivs)" "0 1"
is "no: nor capabilities" "$(status CapEff) $(status CapBnd)" "0000000000001000 0000000000000000"
ok "no: it grants locks" c 1 bftmutex -w 10 sandbox true
finish
