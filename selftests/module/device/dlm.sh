#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=10
#
# One story, selftests/measure/bench/dlm_story.c, told through bftmutex_dlm.h by a cluster whose
# server 4 lies, and by the kernel's DLM through libdlm: the lines are the same. The DLM has one node,
# this VM; "make bench-programs" builds its program. Two VMs: selftests/measure/bench/dlm_hosts.

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

# shellcheck disable=SC2154  # set by what is sourced
programs=$top/build/bin/bench
story=$(<"$top/selftests/measure/bench/dlm_story.lines")
# Two hosts: without the last word of one that waits; see dlm_story.c.
told=$(awk '!/is told/ || !told++' <<<"$story")

# shellcheck disable=SC2317  # called from tap.sh
cleanup() { down; }

load || bail "the module cannot be loaded"
up --servers 4 -b 1 --clients 2 --lease-max 10s || bail "no cluster"
is "bftmutex" "$(c 1 timeout 60 dlm_story demo story 2>&1)" "$story"
is "bftmutex, once more" "$(c 1 timeout 60 dlm_story demo story 2>&1)" "$story"
folder=$(mktemp -d)
c 2 timeout 60 dlm_story demo hosts right "$folder" >"$folder/right" 2>&1 &
is "two hosts, left" "$(c 1 timeout 60 dlm_story demo hosts left "$folder" 2>&1)" "$told"
wait $!
is "two hosts, right" "$(<"$folder/right")" "$told"
rm -rf "$folder"
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
