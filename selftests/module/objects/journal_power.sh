#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=20
#
# A server whose machine loses its power at any moment: after a restart the server knows everything
# that it has confirmed to a client.
#
#
# shellcheck disable=SC2154,SC2317  # set by, or called from, what is sourced
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/pair.sh
. "$(dirname "$0")/../../lib/pair.sh"
# shellcheck source=selftests/lib/journal.sh
. "$(dirname "$0")/../../lib/journal.sh"

# A copy of the files at some moment is the worst that a loss of power leaves on a disk that keeps
# all written data.
copy() {
	kill -STOP "$keeper"
	cp "$acked" "$dir/acked.then"
	mkdir -p "$dir/then"
	rm -f "$dir"/then/*
	cp -a "$file"* "$dir/then" && cp -a "$dir"/state/* "$dir/then"
	kill -CONT "$keeper"
}
from_copies() {
	local i status=0
	begin --token-floor 0 && follow || return
	clients_begin 8 0
	for ((i = 0; i < 3; i++)); do
		wait_for 20 answered $(($(wc -l <"$acked") + 1 + RANDOM % 40)) || return
		copy || return
		cp -a "$dir/then" "$dir/copy.$i"
		cp "$dir/acked.then" "$dir/acked.$i"
	done
	clients_end
	unfollow
	stop
	for ((i = 0; i < 3; i++)); do
		s 1 bftmutexctl server start --key "$dir/server-1.key" --lease-max 1s \
			--state "$dir/copy.$i" --durability sync \
			--journal "$dir/copy.$i/journal" >/dev/null &&
			knows "$dir/acked.$i" || status=1
		stop
	done
	return $status
}
ok "started from copies of the files that were made at some moment" from_copies

# A file system that forgets what was not synced, as a machine without power.
disk() {
	truncate -s 48M "$dir/disk" && mkfs.ext4 -q "$dir/disk" && mkdir "$dir/mnt" &&
		mount -o loop "$dir/disk" "$dir/mnt" || return
	file=$dir/mnt/journal
	acked=$dir/acked.disk
	touch "$acked"
}
power_loss() {
	local i told
	for ((i = 0; i < ${BFTMUTEX_LOSSES:-4}; i++)); do
		follow || return
		clients_begin 8 0
		wait_for 20 answered $(($(wc -l <"$acked") + 1 + RANDOM % 60)) || return
		told=$(power_off "$dir/mnt" "$acked") || return
		clients_end
		unfollow KILL
		stop
		umount "$dir/mnt" && mount -o loop "$dir/disk" "$dir/mnt" || return
		begin || return
		# Later answers may be lost; the next round continues from here.
		truncate -s "$told" "$acked"
		knows "$acked" || { echo "at loss $i"; return 1; }
	done
	stop
}
if modprobe -a loop ext4 2>/dev/null && disk; then
	rm -rf "$dir/state"
	ok "a server with its journal on a disk of its own" begin --token-floor 0
	ok "losses of power" power_loss
	umount "$dir/mnt" 2>/dev/null
else
	skip "losses of power" "no ext4 or loop device"
fi
diag "$(wc -l <"$acked") answers"
finish
