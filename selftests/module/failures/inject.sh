# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# check: part
#
# Fault injection of a kernel that has it (6.1-debug, 6.12-debug). Source it after
# cluster.sh, call injection first.

fault=/sys/kernel/debug

# Every allocation may fail, also those that could wait; quietly.
injection() {
	mountpoint -q $fault || mount -t debugfs debugfs $fault 2>/dev/null
	[[ -d $fault/failslab ]] || skip_all "needs a kernel with fault injection: --kernel 6.12-debug"
	local what
	for what in "$fault"/fail*; do
		echo 0 >"$what/verbose"
	done
	for what in failslab fail_page_alloc; do
		echo N >$fault/$what/ignore-gfp-wait
		echo N >$fault/$what/task-filter
	done
	echo N >$fault/fail_page_alloc/ignore-gfp-highmem
	echo 0 >$fault/fail_page_alloc/min-order
}

# fail_module PERCENT: of all that the module allocates, in whatever context; 0 ends it.
fail_module() {
	local range
	if (($1)); then
		# From its first function to the one behind its last.
		mapfile -t range < <(awk '$4 == "[bftmutex]" && $2 ~ /[tT]/ { print $1 }' /proc/kallsyms |
			sort | sed -n '1p;$p')
		echo "0x${range[0]}" >$fault/failslab/require-start
		printf '0x%x\n' $((0x${range[1]} + 4096)) >$fault/failslab/require-end
		# The kernel warns when what vmalloc() notes for itself cannot be allocated.
		range=("$(awk '$3 == "alloc_vmap_area" { print $1; exit }' /proc/kallsyms)")
		echo "0x${range[0]}" >$fault/failslab/reject-start
		printf '0x%x\n' $((0x${range[0]} + 16384)) >$fault/failslab/reject-end
		echo 32 >$fault/failslab/stacktrace-depth
		echo -1 >$fault/failslab/times
	fi
	echo "$1" >$fault/failslab/probability
}
