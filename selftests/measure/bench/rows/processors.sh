#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two clients on two processors ask one server, in the kernel and in user space; and the spinlocks
# that a processor found taken by the other meanwhile.
# Functions are called by name.
# shellcheck disable=SC2154,SC2317  # variables of lib.sh
# shellcheck source=selftests/measure/bench/lib.sh
. "$(dirname "$0")/../lib.sh"

tracing=/sys/kernel/tracing
probe=$tracing/events/bench/taken

# A processor that finds a spinlock taken calls this function, which waits for the lock.
watch() {
	[[ -e $tracing/kprobe_events ]] || mount -t tracefs none "$tracing"
	echo "p:bench/taken native_queued_spin_lock_slowpath" >"$tracing/kprobe_events" &&
		echo hist:keys=stacktrace:size=16384 >"$probe/trigger" && echo 1 >"$probe/enable"
}

watched() {
	echo 0 >"$probe/enable"
	cat "$probe/hist"
	echo '!hist:keys=stacktrace' >"$probe/trigger"
	echo >"$tracing/kprobe_events"
}

# taken NAME: how often, by the functions that wanted the locks: NAME_module, NAME_others. Functions of
# the module stand in $work/functions.
taken() {
	watched >"$work/stacks"
	: >"$work/functions"
	awk -v name="$1" -v functions="$work/functions" '
		$1 == "{" { function_is_next = 0; by = "others" }
		function_is_next && !/raw_/ {
			function_is_next = 0
			wants = $1
			by = /\[bftmutex\]/ ? "module" : "others"
		}
		/native_queued_spin_lock_slowpath/ { function_is_next = 1 }
		$2 == "hitcount:" {
			count[by] += $3
			if (by == "module")
				print $3, wants >functions
		}
		/^ *Hits:/ { hits = $2 }
		/^ *Dropped:/ { dropped = $2 }
		END {
			printf "%s_module.count %d times\n", name, count["module"]
			printf "%s_others.count %d times\n", name, count["others"]
			exit dropped || hits != count["module"] + count["others"]
		}' "$work/stacks"
}

# Two processes that use one socket find its locks taken: without that, nothing is watched.
same_socket() {
	perl -MSocket -e '
		socketpair A, B, AF_UNIX, SOCK_DGRAM, 0 or die $!;
		$pid = fork;
		for (1 .. 20000) { send A, "x", 0 or die $!; defined recv B, $got, 1, 0 or die $! }
		waitpid $pid, 0 if $pid'
}
is_watching() {
	watch && same_socket && taken control >"$work/control" &&
		[[ $(awk '/^control_others/ { print $2 }' "$work/control") -gt 0 ]]
}

loads() { at load "$1" 10 1 10.73.0.1 "${@:2}"; }

cluster 4 1 || bail "no cluster"
new_client 201
one=$keys
new_client 202
two=$keys
# In turn, so that what else the machine does meets all of them.
for turn in 1 2 3; do
	row "one client, the kernel's server" loads "one_kernel_$turn" "$one"
	row "two clients, the kernel's server" loads "two_kernel_$turn" "$one" "$two"
	lie 1 honest --lease-max 6s --no-quarantine || bail "no server in user space"
	row "one client, a server in user space" loads "one_user_$turn" "$one"
	row "two clients, a server in user space" loads "two_user_$turn" "$one" "$two"
	honest 1 --lease-max 6s --no-quarantine || bail "no server in the kernel"
done
ok "a spinlock that is taken is noticed" is_watching
ok "spinlocks are watched" watch || bail "no probe"
row "two clients, watched" loads watched "$one" "$two"
row "spinlocks that were taken" taken watched
diag "$(<"$work/functions")"
finish
