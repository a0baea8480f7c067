#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=10
#
# One story, selftests/measure/bench/dlm_story.c, told through bftmutex_dlm.h by a cluster whose
# server 4 lies, and by the kernel's DLM through libdlm: the lines are the same. The DLM has one node,
# this VM; "make bench-programs" builds its program.

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

# shellcheck disable=SC2154  # set by what is sourced
programs=$top/build/bin/bench
story='left NL: granted
left NL to PR: granted
right PR: granted
left is told that somebody waits, right has not EX yet
left PR to NL: granted
right PR to EX: granted
right EX to PR, with a value: granted
left NL to PR, with the value: granted
it is seventeen
both PR to EX, one: Resource deadlock avoided
the other waits
one to NL, the other: granted
right NL to PR, at once or not: Resource temporarily unavailable
left is told that somebody waits
right NL to PR, given up: canceled
right NL: unlocked
left EX: unlocked'

# shellcheck disable=SC2317  # called from tap.sh
cleanup() { down; }

load || bail "the module cannot be loaded"
up --servers 4 -b 1 --lease-max 10s || bail "no cluster"
is "bftmutex" "$(c 1 timeout 60 dlm_story demo story 2>&1)" "$story"
is "bftmutex, once more" "$(c 1 timeout 60 dlm_story demo story 2>&1)" "$story"
lie 4 inquirer --no-quarantine || bail "no liar"
is "with a server that asks holders for what nobody wants" "$(c 1 timeout 60 dlm_story demo liar 2>&1)" "$story"

if [[ ! -x $programs/dlm_story || ! -x $programs/dlm_node ]]; then
	skip "the kernel's DLM" "not built: make bench-programs"
elif ! modprobe dlm 2>/dev/null; then
	skip "the kernel's DLM" "the kernel $(uname -r) has no module dlm"
else
	[[ -d /sys/kernel/config/dlm ]] || mount -t configfs none /sys/kernel/config || bail "no configfs"
	ip link set lo up
	ip address add 10.77.0.1/32 dev lo || bail "no address"
	ok "the DLM has a lockspace" timeout 60 "$programs/dlm_node" join bench 1 10.77.0.1
	# Where udev would have put them.
	mkdir -p /dev/misc && ln -sf /dev/dlm* /dev/misc
	is "the kernel's DLM" "$(timeout 60 "$programs/dlm_story" bench story 2>&1)" "$story"
fi
finish
