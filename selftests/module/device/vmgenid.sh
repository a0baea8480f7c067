#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: host tier=all time=60
#
# A virtual machine with a server, a daemon and a program that has a lock is written to a file
# and goes on from there with another generation number, as from a snapshot. It has its programs
# in memory: QEMU writes none to a file that has a file system of its host.
# shellcheck disable=SC2317  # called by name
set -u
cd "$(dirname "$0")/../../.." || exit
# shellcheck source=selftests/lib/tap.sh
. selftests/lib/tap.sh
PATH=$PATH:/usr/sbin:/sbin

dir=$(mktemp -d)
root=$dir/root
qemu=

cleanup() {
	[[ ! $qemu ]] || kill "$qemu" 2>/dev/null
	rm -rf "$dir"
}

qemu-system-x86_64 -device help 2>/dev/null | grep -q '"vmgenid"' || skip_all "QEMU has no vmgenid"
kernel=$(selftests/vm/fetch-kernel 6.1 2>/dev/null) || skip_all "no kernel 6.1"
modules=("$kernel"/lib/modules/*)
module=build/${modules[0]##*/}/bftmutex.ko
[[ -e $module ]] || skip_all "the module for 6.1 is not built"

make_root() {
	local name file
	mkdir -p "$root"/{bin,dev,proc,run,state,sys}
	cp "$(type -P busybox)" "$root/bin" || return
	for name in cat grep insmod ip mount sh sleep tr; do
		ln -s busybox "$root/bin/$name"
	done
	cp -L build/bin/bftmutex{,d,ctl} "$root/bin" || return
	while read -r file; do
		install -D "$file" "$root$file"
	done < <(ldd build/bin/bftmutex{,d,ctl} | sed -n 's|^\t\(.* => \)\?\(/.*\) (0x.*|\2|p' | sort -u)
	for name in udp_tunnel ip6_udp_tunnel; do
		find "${modules[0]}" -name "$name.ko" -exec cp {} "$root" \; || return
	done
	strip -g -o "$root/bftmutex.ko" "$module" || return
	mkdir -m 700 "$root/keys" || return
	build/bin/bftmutexctl keygen --dir "$root/keys" --cluster 9 --servers 1 --clients 50 >/dev/null || return
	cat >"$root/conf" <<'CONF'
default = storage
cluster storage {
	id = 9
	b = 0
	credentials = /keys/client-50.client
	server 1 { address = 127.0.0.1 }
}
CONF
	cat >"$root/init" <<'INIT'
#!/bin/sh
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
ip link set lo up
for module in udp_tunnel ip6_udp_tunnel bftmutex; do
	insmod /$module.ko
done
bftmutexctl server start --key /keys/server-1.key --lease-max 20s --token-floor 5 --state /state/server
bftmutexd --config /conf --state /state/daemon --foreground &
server() { bftmutexctl server show --json | tr -d ' ' | tr , '\n' | grep "\"$1\"" | tr -d '"}'; }
until server quarantine_ns | grep -q ':0$'; do sleep 1; done
(bftmutex --lease 20s one sleep 1000; echo "bftmutex: exit $?") &
while :; do
	echo "seen $(server epoch) $(server quarantine_ns) $(server token_floor) $(cat /state/daemon/*)"
	bftmutexctl holders
	sleep 1
done
INIT
	chmod +x "$root/init"
	(cd "$root" && find . | cpio --quiet -o -H newc -R 0:0) >"$dir/initrd"
}

# begin NAME [OPTION...]: its console is in NAME; it hears what is written to descriptor 3.
begin() {
	local name=$1
	shift
	[[ -e $dir/monitor ]] || mkfifo "$dir/monitor"
	exec 3<>"$dir/monitor"
	qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot -machine pc \
		-cpu Nehalem,+rdrand -accel tcg -m 384 -device vmgenid,guid=auto \
		-kernel "$kernel/vmlinux" -initrd "$dir/initrd" -append "console=ttyS0 quiet loglevel=5 \
		panic=-1 mitigations=off norandmaps random.trust_cpu=on tsc=reliable no_timer_check" \
		-chardev "file,id=console,path=$dir/$name" -serial chardev:console \
		-monitor stdio "$@" <&3 >"$dir/$name.said" 2>&1 &
	qemu=$!
}

on_console() { grep -q "$2" "$dir/$1"; }
# Prints the first or last line of the state of the lock.
seen() { tr -d '\r' <"$dir/$1" | grep ^seen | "$2" -n 1; }
gone() { ! kill -0 "$1" 2>/dev/null; }

ok "a machine in memory" make_root || bail "root"
begin before
holds() { on_console before '^held.*one' && [[ $(seen before tail) == *quarantine_ns:0* ]]; }
ok "a program has a lock" wait_for 600 holds || { diag "$(tail -n 20 "$dir/before")"; bail "lock"; }
first=$(seen before tail)
echo "migrate \"exec:cat >$dir/state\"" >&3
written() { echo "info migrate" >&3; grep -q completed "$dir/before.said"; }
ok "it is written to a file" wait_for 100 written
echo quit >&3
ok "and ends" wait_for 60 gone "$qemu"

begin after -incoming "exec:cat $dir/state"
lost() { on_console after "bftmutex: exit" && on_console after ^seen; }
ok "it goes on" wait_for 300 lost || diag "$(tail -n 20 "$dir/after"; cat "$dir/after.said")"
ok "the program has lost its lock" on_console after \
	"lock 'one' lost: this virtual machine was cloned, or set back to an earlier state"
is "and was ended" "$(tr -d '\r' <"$dir/after" | grep 'bftmutex: exit')" "bftmutex: exit 79"
# anew: the last of what was seen, field by field, is not what was seen before
anew() {
	local before after
	read -ra before <<<"$first"
	read -ra after <<<"$(seen after tail)"
	[[ ${after[1]} != "${before[1]}" && ${after[2]} != *:0 && ${after[3]} == *:null ]] &&
		((after[4] > before[4]))
}
ok "the server has begun anew, and the daemon, without a token" wait_for 60 anew ||
	diag "$first, then $(seen after tail)"
ok "the kernel says so" on_console after "server 1 has begun anew, in quarantine"
echo quit >&3
finish
