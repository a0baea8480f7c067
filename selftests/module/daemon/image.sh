#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm tier=all mem=768 alone clock=instructions time=40
#
# The example of a file system whose writer is fenced by the token, helper/systemd/examples: an
# image that a storage host exports, and two hosts that mount it under a lock.
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 (and the image) ... bftm-s4    n = 4, b = 1
#
# shellcheck disable=SC2016,SC2119,SC2154,SC2317  # for other shells; set by, or called from, what is sourced

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

examples=$top/helper/systemd/examples
storage=10.73.0.1
tools='bftmutex|bftmutex-keeper'
place=/run/image

cleanup() {
	[[ ! ${late-} ]] || end_late
	stop_storage
	umount --lazy "$place"/[12] 2>/dev/null
	down
}

# Host 1's holder, and the tools that watch it.
end_late() {
	pkill -KILL -x "$tools"
	kill -KILL -- "-$late"
	wait "$late"
	late=
} 2>/dev/null

stop_storage() { [[ ! -e $place/pid ]] || kill "$(<"$place/pid")"; }
start_storage() {
	rm -f "$place/pid"
	ip netns exec bftm-s1 nbdkit --foreground --pidfile "$place/pid" python "$examples/fenced-image.py" \
		image="$place/disk" 2>>"$place/log" &
	disown
	wait_for 20 test -s "$place/pid"
}

# on N OPTIONS SCRIPT: host N, under the lock, with the image on $place/N
on() {
	local n=$1 options=$2
	shift 2
	# shellcheck disable=SC2086  # words
	ip netns exec "bftm-c$n" bftmutex --fence $options data "$examples/with-image" $storage "/dev/nbd$((n - 1))" "$place/$n" "$@"
}
attached() { [[ -s /sys/block/nbd$1/pid ]]; }

for tool in nbdkit nbd-client mkfs.ext4; do
	command -v $tool >/dev/null || skip_all "$tool is missing: selftests/deps --for all"
done
load || bail "module"
modprobe -a nbd ext4 || bail "no nbd"
up --servers 4 -b 1 --clients 2 --lease-max 20s || bail "no cluster"
mkdir -p $place/1 $place/2
truncate -s 16M $place/disk
mkfs.ext4 -q $place/disk || bail "mkfs"
ok "the image is exported" start_storage || bail "$(<$place/log)"
is "host 1 writes" "$(on 1 '' sh -c 'echo one >$0/first && echo written' $place/1)" written
ok "and has detached it" ! attached 0
first=$(<$place/disk.token)
is "status of the command" "$(on 1 '' sh -c 'exit 3'; echo $?)" 3

# Host 1 holds it, and is paused: its tools are, and no daemon renews its lease. Its writer is told
# later that it may go on.
mkfifo $place/go
exec {go}<>$place/go
setsid ip netns exec bftm-c1 bftmutex --fence --lease 5s data \
	"$examples/with-image" $storage /dev/nbd0 $place/1 \
	bash -c 'echo two >$0/second && sync && pkill -STOP -x "$1" && echo >$0/../paused
		read -r _ <$0/../go
		if echo late >$0/late && sync $0/late; then echo written; else echo refused; fi >$0/../late' $place/1 "$tools" \
	2>$place/err &
late=$!
ok "host 1 holds it and is paused" wait_for 60 test -e $place/paused || bail "$(<$place/err)"
kill_helper 1
is "host 2 gets the lock after it, and has what host 1 wrote" \
	"$(on 2 '-w 60' sh -c 'cat $0/first $0/second && echo three >$0/third' $place/2 | xargs)" "one two"
ok "its token was larger" test "$(<$place/disk.token)" -gt "$first"
echo >&"$go"
ok "host 1 goes on" wait_for 60 test -s $place/late
is "and its write is refused" "$(<$place/late)" refused
ok "which the storage host says" grep -q "fencing token .* is stale" $place/log
end_late
umount --lazy $place/1 2>/dev/null
nbd-client -nonetlink -d /dev/nbd0 >/dev/null
ok "the file system is whole" e2fsck -fn $place/disk
is "and has what holders of the lock wrote" "$(on 2 '' ls $place/2 | grep -v lost | xargs)" "first second third"

stop_storage
ok "the storage host is started again" start_storage
ok "and has not forgotten the token" ! c 1 nbd-client -nonetlink -name "$first" $storage /dev/nbd0
ok "the daemon of host 1 is started again" start_helper 1
is "others can have it" "$(on 1 '' cat $place/1/third)" three
finish
