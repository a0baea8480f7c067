#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm kernels=6.1,6.12 clock=instructions about=module time=20
#
# Loading, unloading, parameters, the end of network namespaces, all while datagrams arrive. The
# script checks that every object is destroyed at the end, and so does the VM.
# shellcheck disable=SC2154,SC2317  # set by, or called from, what is sourced

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

dir=$(mktemp -d)
key=$dir/server-1.key
floods=()
# Number of loads and unloads. A VM without hardware support takes a second for each, so it makes
# fewer.
loads=${BFTMUTEX_LOADS:-100}
if [[ ! ${BFTMUTEX_LOADS-} && ${KSFT_MACHINE_SLOW-} && $(uname -r) != 6.1.* ]]; then
	loads=25
fi
! short || loads=12

cleanup() {
	stop_floods
	ip -all netns delete 2>/dev/null
	rmmod bftmutex 2>/dev/null
	rm -rf "$dir"
}

is_loaded() { [[ -e /sys/module/bftmutex ]]; }

background() {
	"$@" &
	floods+=($!)
}

stop_floods() {
	((${#floods[@]} == 0)) || kill "${floods[@]}"
	wait "${floods[@]}" 2>/dev/null
	floods=()
}

# Prints the kernel's messages since the last mark.
marks=0
mark() { echo "module.sh: mark $((++marks))" >/dev/kmsg; }
said() { dmesg | sed "1,/module.sh: mark $marks\$/d"; }

# refused DESC TEXT PARAMETER...: insmod fails, the kernel says TEXT.
refused() {
	local desc=$1 text=$2 status=0
	shift 2
	mark
	insmod "$BFTMUTEX_KO" "$@" 2>/dev/null && status=1
	if is_loaded; then
		status=2
		rmmod bftmutex
	fi
	if ((status == 0)) && said | grep -qF -- "$text"; then
		ok "refused: $desc" true
	else
		is "refused: $desc (status $status)" "$(said | grep bftmutex)" "…$text…"
	fi
}

# bad_key DESC TEXT: the file $dir/bad.key is refused.
bad_key() { refused "$1" "$2" server="$dir/bad.key"; }

# key_file LINE...: a file with these lines instead of a good one's.
key_file() {
	printf '%s\n' "$@" >"$dir/bad.key"
	chmod 600 "$dir/bad.key"
}

bftmutexctl keygen --dir "$dir" --cluster 9 --servers 2 --clients 1 >/dev/null ||
	bail "no keys"
modprobe -a udp_tunnel ip6_udp_tunnel 2>/dev/null
# Without its debugging data the module is loaded in a fraction of the time.
strip --strip-debug -o "$dir/bftmutex.ko" "$BFTMUTEX_KO" && BFTMUTEX_KO=$dir/bftmutex.ko
digits=$(sed -n 's/.*"\(.*\)".*/\1/p' "$key")

#
# Parameters
#

refused "missing file" "server=$dir/none: cannot open" server="$dir/none"
refused "directory" "server=$dir:" server="$dir"
mkfifo -m 600 "$dir/fifo"
refused "FIFO" "server=$dir/fifo:" server="$dir/fifo"
for mode in 604 640 610; do
	cp "$key" "$dir/bad.key"
	chmod $mode "$dir/bad.key"
	bad_key "key file of mode $mode" "chmod 600 $dir/bad.key"
done
key_file "cluster = 9" "server = 1" "key = \"${digits%?}\""
bad_key "key of 63 digits" "64 hexadecimal digits"
key_file "cluster = 9" "server = 1" "key = \"${digits}0\""
bad_key "key of 65 digits" "64 hexadecimal digits"
key_file "cluster = 9" "server = 1" "key = \"${digits%?}x\""
bad_key "key that is not hexadecimal" "64 hexadecimal digits"
key_file "server = 1" "key = \"$digits\""
bad_key "no cluster" "needs cluster ="
key_file "cluster = 9" "key = \"$digits\""
bad_key "no server" "needs cluster ="
key_file "cluster = 9" "server = 1"
bad_key "no key" "needs cluster ="
key_file "cluster = 0" "server = 1" "key = \"$digits\""
bad_key "cluster 0" "must be 1 to 4294967295"
key_file "cluster = 4294967296" "server = 1" "key = \"$digits\""
bad_key "cluster 2^32" "must be 1 to 4294967295"
key_file "cluster = 9" "server = 65536" "key = \"$digits\""
bad_key "server 65536" "must be 1 to 65535"
: >"$dir/bad.key"
bad_key "empty file" "server=$dir/bad.key:"
head -c 5000 /dev/zero >"$dir/bad.key"
bad_key "file of 5000 bytes" "server=$dir/bad.key:"
head -c 4096 /dev/urandom >"$dir/bad.key"
bad_key "random bytes" "needs cluster ="
ok "no key was ever said" ! grep -qiF "${digits:0:16}" <(dmesg)

while read -r name bad range; do
	for value in ${bad//,/ }; do
		# The others are in make check-all.
		! short || [[ $value == "${bad%%,*}" ]] || continue
		refused "$name=$value" "$name=$value: must be $range" server="$key" "$name=$value"
	done
done <<'END'
port 0,65536 1 to 65535
lease_max_ms 0,3600001 1 to 3600000
rho_ppm 0,100001 1 to 100000
max_locks 63,16777217 64 to 16777216
max_clients 0,1048577 1 to 1048576
max_waiters 0,65537 1 to 65536
max_holders 0,4097 1 to 4096
max_objects 0,65537 1 to 65536
max_state 1023,1048577 1024 to 1048576
object_memory 16777215,1099511627777 16777216 to 1099511627776
no_quarantine 31 0 to 30
token_floor -1,x,9223372036854775808,18446744073709551616 0 to 9223372036854775807
END
refused "port=-1" "invalid for parameter" server="$key" port=-1
refused "unknown parameter value" "invalid for parameter" server="$key" rho_ppm=many

perl -MIO::Socket::INET -e '
	my $s = IO::Socket::INET->new(Proto => "udp", LocalPort => 7373) or die;
	sleep 1000' &
taken=$!
wait_for 10 grep -q ':1CCD ' /proc/net/udp
refused "port that is taken" "UDP port 7373: cannot start" server="$key"
kill $taken
wait $taken 2>/dev/null

#
# One line starts a server
#

ok "insmod starts a server" insmod "$BFTMUTEX_KO" dyndbg=+p server="$key" lease_max_ms=2000 \
	max_waiters=7 max_holders=8 max_objects=9 max_state=2048 object_memory=20000000 token_floor=5
show=$(bftmutexctl server show --json)
for pair in cluster:9 id:1 port:7373 lease_max_ns:2000000000 max_waiters:7 max_holders:8 \
	max_objects:9 max_state:2048 object_memory:20000000 token_floor:5 no_quarantine:0; do
	is "its ${pair%:*}" "$(gojq -r ".${pair%:*}" <<<"$show")" "${pair#*:}"
done
ok "no key in /sys" ! grep -rqi "${digits:0:16}" /sys/module/bftmutex/parameters
cat >"$dir/conf" <<END
cluster one {
	id = 9
	b = 0
	lease-max = 2s
	credentials = "$dir/client-1.client"
	server 1 { address = 127.0.0.1 }
}
END
bftmutexd --config "$dir/conf" --state "$dir" --foreground >"$dir/log" 2>&1 &
helper=$!
ok "a helper finds it" wait_for 10 grep -q ready "$dir/log"
ok "it grants a lock" bftmutex -w 20 one true
kill $helper
wait $helper 2>/dev/null

exec 9<>/dev/bftmutex
ok "an open handle keeps the module" ! rmmod bftmutex
exec 9>&-
mark
ok "it can be unloaded then, with its server" rmmod bftmutex
ok "which the log tells" grep -q 'server 1 has ended with the module' <(said)

# Alone of its cluster, it leaves no room for that: no client counts its grants.
ok "insmod starts a server without a quarantine" insmod "$BFTMUTEX_KO" dyndbg=+p \
	server="$key" no_quarantine=2
is "its no_quarantine" "$(bftmutexctl server show --json | gojq .no_quarantine)" 2
rmmod bftmutex

#
# Over and over, while datagrams arrive
#

ip netns add bftm-s2
ip -n bftm-s2 link set lo up
background flood "$key" 127.0.0.1
background netns_exec bftm-s2 flood "$dir/server-2.key" 127.0.0.1

load_and_unload() {
	insmod "$BFTMUTEX_KO" dyndbg=+p server="$key" lease_max_ms=1 max_locks=64 \
		max_clients=64 || return
	# A handle and a second server for every fourth.
	if (($1 % 4 == 0)); then
		netns_exec bftm-s2 bftmutexctl server start --key "$dir/server-2.key" \
			--lease-max 1ms --max-locks 64 >/dev/null || return
		bftmutex -n x true 2>/dev/null
	fi
	rmmod bftmutex
}

for ((i = 0, failed = 0; i < loads && !failed; i++)); do
	load_and_unload $i || failed=$i
done
is "loaded and unloaded over and over" "$i of $loads" "$loads of $loads"

load || bail "the module cannot be loaded"
grants() { s 3 bftmutexctl server show --json | gojq -e '.stats.granted > 0'; }
for ((i = 0, failed = 0; i < loads / 4 && !failed; i++)); do
	ip netns add bftm-s3
	s 3 ip link set lo up
	s 3 bftmutexctl server start --key "$key" --lease-max 1ms --max-locks 64 >/dev/null
	netns_exec bftm-s3 flood "$key" 127.0.0.1 &
	pid=$!
	# Its timers are due from now on.
	wait_for 10 grants || failed=1
	ip netns delete bftm-s3
	kill $pid
	wait $pid 2>/dev/null
done
ok "and of the end of a namespace that has one" grep -q 'server 1 has ended with its network namespace' <(dmesg)
is "network namespaces deleted with a server at work" "$i of $((loads / 4))" \
	"$((loads / 4)) of $((loads / 4))"

stop_floods
ip netns delete bftm-s2
ok "unloaded" wait_for 10 rmmod bftmutex
ok "what was created was destroyed" log_is_clean
finish
