#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm tier=all mem=768 alone clock=instructions scale=BFTMUTEX_KILLS:100 time=900
# check: vm name=pair-fenced-checked tier=all kernels=6.12-debug mem=1536 alone clock=instructions scale=BFTMUTEX_KILLS:10 time=600
#
# Two hosts, one of which mounts a file system and writes to it under a lock without a lease. A power
# switch kills hosts at moments that the seed chooses: as they die, hang, work, or reboot.
# fence_bftmutex fences them, and the other one takes over. The image is never mounted twice, and has all that was
# written to it.
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 (lies), bftm-s2 … bftm-s4	n = 4, b = 1
#
# shellcheck disable=SC2154,SC2317  # set by, or called from, what is sourced
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

kills=${BFTMUTEX_KILLS:-100}
lock=disk/pair
servers=$dev/servers
/usr/bin/python3 -c 'import sys; sys.path.append("/usr/share/fence"); import fencing' 2>/dev/null ||
	skip_all "no library of fence agents: selftests/deps --for all"

work=$(mktemp -d) || bail "no folder"
cleanup() {
	switch off 1
	switch off 2
	stop_jobs
	kill_liar 1
	down
	rm -rf "$work"
} >/dev/null 2>&1

# It has a line for all that happens: "HOST in", "HOST wrote N", "HOST out", "HOST off".
# Between in and out, or off, the image is mounted there.
log=$work/log

# use HOST: the service of a host, while it has the lock.
cat >"$work/use" <<'END2'
#!/bin/bash
cd "$(dirname "$0")" || exit
host=$1
RANDOM=$((BFTMUTEX_SEED + $(wc -l <log)))
echo "$host in" >>log
losetup "/dev/loop$((host + 2))" disk && mount "/dev/loop$((host + 2))" "$host" || exit
for ((turn = 0; turn < RANDOM % 20; turn++)); do
	count=$(($(<"$host/count") + 1))
	echo $count >"$host/new" && sync "$host/new" && mv "$host/new" "$host/count" && sync "$host" || exit
	echo "$host wrote $count" >>log
	# Not a wait for something: a service has it mounted most of the time.
	read -r -t 0.1 <>never
done
umount "$host" && losetup -d "/dev/loop$((host + 2))" && echo "$host out" >>log
END2

# The power switch. A host loses its memory, with all that it would write later.
cat >"$work/switch" <<'END2'
#!/bin/bash
cd "$(dirname "$0")" || exit
while IFS='=' read -r name value; do
	[[ $name != action ]] || action=$value
	[[ $name != plug ]] || host=${value#bftm-c}
done
loop=/dev/loop$((host + 2))
off() {
	local pids
	ip -n "bftm-c$host" link set eth0 down
	while pids=$(ip netns pids "bftm-c$host") && [[ $pids ]]; do
		# shellcheck disable=SC2086  # words
		kill -KILL $pids 2>/dev/null
	done
	if mountpoint -q "$host"; then
		# EXT4_IOC_SHUTDOWN, EXT4_GOING_FLAGS_NOLOGFLUSH
		perl -e 'my $how = pack("L", 2);
			open F, "<", $ARGV[0] and ioctl F, 0x8004587d, $how or die $!' "$host" &&
			umount "$host" || return
	fi
	! losetup "$loop" >/dev/null 2>&1 || losetup -d "$loop" || return
	echo "$host off" >>log
	echo OFF >"power.$host"
}
case $action in
off) off ;;
on) ip -n "bftm-c$host" link set eth0 up && echo ON >"power.$host" ;;
status)
	echo "Status: $(<"power.$host")"
	[[ $(<"power.$host") == ON ]] || exit 2
	;;
esac
END2

# bftmutexctl at a server, as by ssh.
cat >"$work/remote" <<END2
#!/bin/bash
[[ \$2 != client ]] || set -- "\$@" --state "$servers"
exec netns_exec "bftm-\$1" bftmutexctl "\${@:2}"
END2
chmod +x "$work"/{use,switch,remote}

# boot HOST: its daemon, which is told that this is another boot, and a service that wants the lock
# for ever.
boots=0
boot() {
	boots=$((boots + 1))
	start_helper "$1" --boot-id "$(printf %x $boots)" || return
	netns_exec "bftm-c$1" bash -c 'while :; do
		bftmutex --no-lease --wait 1000 "$1" "$2" "$3" || echo "status $?"
	done' bash "$lock" "$work/use" "$1" >>"$work/err.$1" 2>&1 &
	disown
}

switch() { "$work/switch" <<<"action=$1"$'\n'"plug=bftm-c$2"; }
fence() {
	"$top/helper/integrations/fence/fence_bftmutex" <<-END2
		action=$1
		plug=bftm-c$2
		power_agent=$work/switch
		client_map=bftm-c1:1;bftm-c2:2
		servers=s1 s2 s3 s4
		remote=$work/remote %h
		power_wait=0
	END2
}

start_server() {
	s "$1" bftmutexctl server start --key "$dev/keys/server-$1.key" --lease-max 1s \
		--state "$servers" --config "$servers/bftmutex.conf" >/dev/null
}
restart() { s "$1" bftmutexctl server stop >/dev/null && start_server "$1"; }

writes() { grep -c wrote "$log"; }
has_written() { (($(writes) > $1)); }

# at_some_moment: not a wait for something, it is the seed that says when.
at_some_moment() { read -r -t "$((RANDOM % 2)).$((RANDOM % 1000 + 1000))" <>"$work/never"; }

# One kill: how, and of which host.
one_kill() {
	local n=$1 how=$2 before
	at_some_moment
	case $how in
	dies | reboots) switch off "$n" || return ;;
	hangs) ip netns pids "bftm-c$n" | xargs kill -STOP 2>/dev/null ;;
	esac
	[[ $how == works ]] || at_some_moment
	((RANDOM % 6)) || restart $((RANDOM % 3 + 2)) || return
	# A host that is back before anybody fences it tells the servers that it holds nothing.
	if [[ $how == reboots ]]; then switch on "$n"; else fence reboot "$n"; fi || return
	before=$(writes)
	boot "$n" || return
	wait_for 120 has_written "$before"
}

# The log says that it was mounted once at a time, and that each mount had what was written before.
judge() {
	awk '
		$2 == "in" && owner { print NR ": " $0 " while it is mounted at " owner; bad = 1 }
		$2 == "in" { if (from && from != $1) moved++; owner = from = $1 }
		$2 == "wrote" && owner != $1 { print NR ": " $0 ", which has it not mounted"; bad = 1 }
		# Between the write and the line of it a host may die.
		$2 == "wrote" && ($3 <= last || $3 > last + 1 + died) { print NR ": " $0 " after " last; bad = 1 }
		$2 == "wrote" { last = $3; died = 0 }
		$2 == "off" && owner == $1 { died++; held++ }
		($2 == "out" || $2 == "off") && owner == $1 { owner = "" }
		END {
			printf "mounts moved %d times; %d of '"$kills"' hosts had it mounted when they went off; %d writes\n",
				moved, held, last
			# Fewer of a hundred than a chance in 10^15.
			if ('"$kills"' >= 100 && held < 5) { print "too few of them"; bad = 1 }
			exit bad
		}' "$log"
}

load || bail "module"
modprobe -a ext4 loop || bail "no ext4"
up --servers 4 -b 1 --clients 2 --lease-max 1s || bail "no cluster"
# A mount that "ip netns exec" has copied goes with the mount itself.
mount --make-rshared /
mkdir "$work/1" "$work/2"
mkfifo "$work/never"
touch "$log"
truncate -s 16M "$work/disk"
make_image() {
	mkfs.ext4 -q "$work/disk" && mount -o loop "$work/disk" "$work/1" &&
		echo 0 >"$work/1/count" && umount "$work/1"
}
make_image || bail "no file system"
echo ON | tee "$work/power.1" >"$work/power.2"
tune 'leaseless = yes' || bail "configuration"
sed -i 's|^}|\taccess { client = 1-2  prefix = "disk/"  leaseless = yes }\n\taccess { client = any }\n}|' \
	"$servers/bftmutex.conf"
ok "a server lies" lie 1 always-free || bail "no liar"
for n in 2 3 4; do restart $n || bail "server $n"; done
for n in 1 2; do kill_helper $n; boot $n || bail "host $n"; done
ok "a host mounts it and writes" wait_for 120 has_written 0

diag "again by: BFTMUTEX_SEED=$BFTMUTEX_SEED BFTMUTEX_KILLS=$kills selftests/vm/run --icount --mem 768" \
	"--timeout 14400 -- selftests/module/daemon/pair_fenced.sh"
for ((kill = 1; kill <= kills; kill++)); do
	n=$((RANDOM % 2 + 1))
	hows=(dies dies hangs works reboots)
	how=${hows[RANDOM % 5]}
	ok "kill $kill: host $n $how; somebody writes" one_kill "$n" "$how" || break
done
for n in 1 2; do ok "host $n is switched off" switch off $n; done
said=$(judge) && good=0 || good=1
diag "$said"
is "never mounted twice, and nothing that was written is lost" "$good" 0
((good == 0)) || diag "$(tail -n 40 "$log")"
ok "the file system is whole" sh -c "e2fsck -fy '$work/disk'; e2fsck -fn '$work/disk'"
is "no program was told that its host is evicted, for none ran then" "$(cat "$work"/err.[12] | grep -c evicted)" 0
finish
