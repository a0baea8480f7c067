#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: part
#
# One of three VMs whose root file system has the project's packages, by "selftests/fresh packages":
# README's steps on real hosts, which here are server and client 1 to 3, 10.77.0.1 to .3. While
# host 1 holds the lock, host 2 finds it taken, and host 3 waits for it.
# shellcheck disable=SC2154,SC2317  # set by, and called from, what is sourced
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/link.sh
. "$(dirname "$0")/../../lib/link.sh"
[[ ${BFTMUTEX_INDEX:-} ]] || skip_all "runs in three VMs: selftests/fresh packages"

me=$BFTMUTEX_INDEX
etc=/etc/bftmutex

cleanup() {
	[[ ! -e /run/daemon ]] || kill "$(</run/daemon)"
	bftmutexctl server stop >/dev/null
	wait_for 20 rmmod bftmutex
}

# told FILE: by another VM
told() { wait_for 60 appears "$1" || bail "no host said '$1'"; }

configure() {
	cat <<-END
		cluster storage {
			id = 1
			b = 0
			credentials = $etc/keys/client-$me.client
			server 1 { address = 10.77.0.1 }
			server 2 { address = 10.77.0.2 }
			server 3 { address = 10.77.0.3 }
		}
	END
}

holds_until_tried() {
	# shellcheck disable=SC2016  # for the shell that holds it
	bftmutex -w 600 NAME sh -c 'touch "$0/held" && until [ -e "$0/tried" ]; do sleep 0.2; done' "$share"
}

ok "modprobe bftmutex" modprobe bftmutex || bail "no module"
if ((me == 1)); then
	ok "keygen" bftmutexctl keygen --cluster 1 --servers 3 --clients 1-3 --dir "$share/keys"
	touch "$share/made"
fi
told made
cp "$share/keys/server-$me.key" "$share/keys/client-$me.client" $etc/keys
ok "server start" bftmutexctl server start --id "$me" --key "$etc/keys/server-$me.key"
configure >$etc/bftmutex.conf
ok "cluster show" says 0 storage bftmutexctl cluster show
ok "bftmutexd" bftmutexd --pid-file /run/daemon
case $me in
1)
	ok "bftmutex NAME COMMAND" holds_until_tried ;;
2)
	told held
	is "the lock that host 1 holds is taken" "$(bftmutex -n NAME true; echo $?)" 1
	touch "$share/tried" ;;
3)
	told held
	ok "the lock is given to this host when host 1 gives it back" bftmutex -w 600 NAME test -e "$share/tried" ;;
esac
touch "$share/over-$me"
for n in 1 2 3; do
	told "over-$n"
done
finish
