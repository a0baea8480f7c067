#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm tier=all clock=instructions mem=1024 alone scale=BFTMUTEX_ROUNDS:50 time=600
#
# Two hosts, each with a systemd of its own, whose bftmutex-guard@demo run demo on one of them.
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 ... bftm-s4    n = 4, b = 1
#
# BFTMUTEX_ROUNDS times something is killed, cut or stopped on the host that runs demo. demo
# writes down when it goes on, every 50 ms on a clock that both hosts share: it may have begun
# on one host only after it was over on the other. It ignores SIGTERM every other time, and would
# be given 60 s to end.
# shellcheck disable=SC2119,SC2154,SC2317  # set by, or called from, what is sourced

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

rounds=${BFTMUTEX_ROUNDS:-50}
beats=/root/beats
declare -A host=()

cleanup() {
	local n
	for n in 1 2; do
		[[ ! ${host[$n]-} ]] || kill -KILL "${host[$n]}"
	done
	down
}

# h N COMMAND...: on host N
h() { nsenter --target "$(pgrep -P "${host[$1]}")" --pid --mount --net --cgroup "${@:2}"; }

# Replaces this shell by the systemd of host N.
begin() {
	set -e
	echo "$BASHPID" >"/sys/fs/cgroup/h$1/cgroup.procs"
	# shellcheck disable=SC2016  # for the shell in there
	exec ip netns exec "bftm-c$1" env -i PATH="$PATH" container=vm \
		unshare --pid --mount --cgroup --fork --kill-child --mount-proc bash -ec '
			mount -t cgroup2 cgroup2 /sys/fs/cgroup
			mount -t tmpfs -o mode=755 run /run
			mount -t tmpfs log /var/log
			mount --bind "$0/etc" /etc/bftmutex
			mount --bind "$0/state" /var/lib/bftmutex
			exec /lib/systemd/systemd --log-target=console --show-status=no' "/root/h$1"
}

boot() {
	local n=$1
	mkdir -p "/root/h$n"/{etc,state} "/sys/fs/cgroup/h$n"
	cp "$dev/c$n/bftmutex.conf" "$dev/keys/client-$n.client" "/root/h$n/etc"
	cp "$dev/c$n"/cluster-* "/root/h$n/state"
	sed -i "s,credentials = .*,credentials = /etc/bftmutex/client-$n.client," "/root/h$n/etc/bftmutex.conf"
	echo "$n" >"/root/h$n/etc/host"
	begin "$n" >"/root/h$n/log" 2>&1 &
	host[$n]=$!
	disown "${host[$n]}"
	wait_for 120 h "$n" systemctl list-units
}

# Has demo a process on host N? Asked often, so the control group is asked, and no service manager.
running() {
	local key value
	while read -r key value; do
		[[ $key != populated ]] || return $((!value))
	done 2>/dev/null <"/sys/fs/cgroup/h$1/system.slice/demo.service/cgroup.events"
	return 1
}
status_says() { h "$1" systemctl status "$2" | grep -F "$3"; }
someone() { running 1 || running 2; }
# Sets n to the host that runs demo, and other.
find_holder() {
	wait_for 240 someone || return
	n=1 other=2
	running 1 || n=2 other=1
}
# process WORD: of the guard of host n, in the VM's numbers; its command line begins so
process() {
	local pid
	while read -r pid; do
		[[ $(tr '\0' ' ' <"/proc/$pid/cmdline") != "$1"* || $(<"/proc/$pid/comm") != "$2" ]] || echo "$pid"
	done < <(cat "/sys/fs/cgroup/h$n/system.slice/system-bftmutex\\x2dguard.slice"/*/cgroup.procs) | head -n 1
}
cluster_ends() {
	local i
	for i in 1 2; do
		s "$i" bftmutexctl server stop
	done
	# Then neither host can get the lock.
	wait_for 60 eval '! someone'
	honest 1 && honest 2
}

# Faults of host n, and the functions that end them.
faults=(script main keeper all daemon no_daemon cut servers unit ended stop)
fault_script() { kill -KILL "$(process "/bin/bash /usr/libexec/bftmutex-guard" bftmutex-guard)"; }
fault_main() { kill -KILL "$(process /usr/bin/bftmutex bftmutex)"; }
fault_keeper() { kill -KILL "$(process /usr/bin/bftmutex bftmutex-keeper)"; }
fault_all() { h "$n" systemctl kill -s KILL bftmutex-guard@demo; }
fault_daemon() { h "$n" systemctl kill -s KILL bftmutexd; }
# Else the guard, when it starts again before its lease is over at the servers, starts the daemon,
# whose first request for a lock may go before one that waits.
fault_no_daemon() { h "$n" systemctl mask --runtime --now bftmutexd; }
mend_no_daemon() { h "$n" systemctl unmask --runtime bftmutexd && h "$n" systemctl start bftmutexd; }
fault_cut() { deaf "c$n" && netem "c$n" -- loss 100%; }
mend_cut() { hearing "c$n" && netem "c$n"; }
fault_servers() { cluster_ends; }
# Its own Restart= starts it again, so that it has not ended.
fault_unit() { h "$n" systemctl kill -s KILL demo; }
fault_ended() { h "$n" systemctl stop demo; }
fault_stop() { h "$n" systemctl stop bftmutex-guard@demo; }
mend_stop() { h "$n" systemctl start --no-block bftmutex-guard@demo; }
# Faults after which another host has the lock.
moves() { [[ $1 != daemon && $1 != servers && $1 != unit ]]; }

# Prints the state of both hosts, and ends the test.
give_up() {
	for n in 1 2; do
		diag "host $n: $(h $n systemctl status --no-pager demo bftmutex-guard@demo bftmutexd)"
		diag "$(tail -n 30 "/root/h$n/log")"
	done
	bail "$1"
}

round() {
	local fault=$1
	find_holder || return
	"fault_$fault" || return
	if moves "$fault"; then
		wait_for 240 running "$other" || return
	else
		wait_for 240 someone || return
	fi
	[[ ! $(declare -F "mend_$fault") ]] || "mend_$fault"
}

# Begin and end of each run of demo; no run begins before the previous one is over.
runs() {
	awk '{ if (!($3 in first)) first[$3] = $1; last[$3] = $1; where[$3] = $2 }
		END { for (run in first) print first[run], last[run], where[run] }' "$beats" | sort -n
}
apart() {
	runs | awk 'NR > 1 && $1 <= end {
			printf "host %s began at %s, host %s went on until %s\n", $3, $1, who, end
			bad = 1
		}
		$2 > end { end = $2; who = $3 }
		END { exit bad }'
}

#
# The example of a timer
#

at_work() { grep -qx "$1" /root/nights; }
result() { echo "$(h "$1" systemctl show -P Result nightly) $(h "$1" systemctl show -P ExecMainStatus nightly)"; }
at_rest() { [[ $(h "$1" systemctl is-active nightly) != activating ]]; }

nightly_on_one_host() {
	cp "$top"/helper/systemd/examples/nightly.{service,timer} /etc/systemd/system
	cat >/usr/local/bin/nightly <<-'END'
		#!/bin/sh
		cat /etc/bftmutex/host >>/root/nights
		exit 3
	END
	chmod +x /usr/local/bin/nightly
	for n in 1 2; do
		h $n systemctl daemon-reload
		ok "host $n: systemctl start nightly.timer" h $n systemctl start nightly.timer
	done
	# As when a missed night is made up for at boot, after the power failed everywhere.
	for n in 1 2; do
		s $n bftmutexctl server stop
		honest $n --lease-max 15s
	done
	h 1 systemctl start --no-block nightly
	ok "host 1 does the night's work" wait_for 60 at_work 1
	ok "host 2 has nothing to do, which is no failure" h 2 systemctl start nightly
	is "for the lock was taken" "$(result 2)" "success 75"
	ok "host 1 holds it for a minute" wait_for 120 at_rest 1
	is "work that fails is a failure" "$(result 1)" "exit-code 3"
	is "it was done once" "$(</root/nights)" 1
}

install_all
for unit in systemd-udev{d,-trigger}.service systemd-udevd-{control,kernel}.socket \
	systemd-logind.service getty.target dbus.{service,socket} modprobe@.service; do
	ln -sf /dev/null "/etc/systemd/system/$unit"
done
rm -rf /etc/systemd/system/*.wants
cat >/usr/local/bin/demo <<'END'
#!/bin/bash
exec 3>>/root/beats {idle}<> <(:)
read -r host </etc/bftmutex/host
began=$EPOCHREALTIME
((RANDOM % 2)) || trap '' TERM
while :; do
	echo "$EPOCHREALTIME $host $host-$began" >&3
	read -rt 0.05 -u "$idle"
done
END
chmod +x /usr/local/bin/demo
cat >/etc/systemd/system/demo.service <<'END'
[Service]
ExecStart=/usr/local/bin/demo
Restart=always
TimeoutStopSec=60s
END
mkdir -p /etc/bftmutex /var/lib/bftmutex
: >$beats

load || bail "module"
up --servers 4 -b 1 --clients 2 --lease-max 15s || bail "no cluster"
kill_helper 1 TERM
kill_helper 2 TERM
for n in 1 2; do
	ok "host $n" boot $n || { diag "$(tail -n 50 /root/h$n/log)"; bail "no systemd"; }
	ok "host $n: systemctl start --no-block bftmutex-guard@demo" \
		h $n systemctl start --no-block bftmutex-guard@demo
done
ok "one runs demo" find_holder || give_up "no guard works"
is "the other waits" "$(h "$other" systemctl is-active bftmutex-guard@demo) $(h "$other" systemctl is-active demo)" \
	"activating inactive"
ok "which its status says" wait_for 20 status_says "$other" bftmutex-guard@demo "waiting for lock 'service/demo'"
ok "that of the daemon says that locks can be had" wait_for 20 status_says "$n" bftmutexd "locks can be had"
nightly_on_one_host
for ((i = 0; i < rounds; i++)); do
	fault=${faults[i % ${#faults[@]}]}
	ok "round $((i + 1)): $fault" round "$fault" || give_up "round $((i + 1))"
done
ok "demo never ran on two hosts" apart
diag "demo ran $(runs | wc -l) times in $rounds rounds"
finish
