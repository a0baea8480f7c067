#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm tier=all kernels=6.1 alone time=120
#
# The agent of Pacemaker, judged by ocf-tester of Debian's package resource-agents, and by what it
# answers when the lock is lost; and the plug-in of sos, of package sosreport, which tells no key.
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1, ..., -s4    n = 4, b = 1, F = 3
#
# shellcheck disable=SC2016,SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../lib/cluster.sh"

cleanup() { down; }

load || bail "module"
up --servers 4 --clients 2 --lease-max 10s || bail "no cluster"
export HA_RSCTMP=/run/resource-agents OCF_ROOT=/usr/lib/ocf OCF_RESOURCE_INSTANCE=lock OCF_RESKEY_name="it's"
agent=$OCF_ROOT/resource.d/bftmutex/lock
install -D "$top/helper/integrations/ocf/lock" "$agent"

# a ACTION [PARAMETER=VALUE...]: its exit status is what Pacemaker sees
a() {
	local action=$1 pair
	shift
	for pair; do local -x "OCF_RESKEY_$pair"; done
	ip netns exec bftm-c1 "$agent" "$action" >/run/agent 2>&1
}
status() { a "$@"; echo $?; }
holder() { cat $HA_RSCTMP/bftmutex-lock.pid; }

if command -v ocf-tester >/dev/null; then
	ok "ocf-tester" c 1 ocf-tester -n lock -o name=tested "$agent"
	is "another node has it meanwhile" "$(c 2 bftmutex -n tested echo had)" had

	is "monitor before start" "$(status monitor)" 7
	is "start" "$(status start)" 0
	is "monitor" "$(status monitor)" 0
	is "once more" "$(status start)" 0
	is "nobody else has it" "$(c 2 bftmutex -n "$OCF_RESKEY_name" echo had; echo $?)" 1
	is "monitor, another name" "$(status monitor name=)" 6
	is "monitor, a margin that is reached" "$(status monitor margin=3600)" 1
	ok "and says so" grep -q "is not renewed and will be lost in" /run/agent
	is "monitor, a margin that is not" "$(status monitor margin=1)" 0
	for value in wait=x wait=08 margin=08 margin=123456; do
		is "validate-all $value" "$(status validate-all $value)" 6
	done
	is "no such action" "$(status promote)" 3
	is "stop" "$(status stop)" 0
	is "now it can be had" "$(c 2 bftmutex -n "$OCF_RESKEY_name" echo had)" had
	is "stop, when it is stopped" "$(status stop)" 0
	is "start, with a margin of half of the lease" "$(status start lease=8s margin=4)" 6
	ok "and says so" grep -q "margin '4': must be less than half of the lease, and the lease is 8 s at most" /run/agent
	is "and holds nothing" "$(c 2 bftmutex -n "$OCF_RESKEY_name" echo had)" had
	is "start, with one of less" "$(status start lease=8s margin=3)" 0
	is "stop it" "$(status stop)" 0

	# A folder that is full.
	mount -t tmpfs -o size=4k full $HA_RSCTMP
	echo >$HA_RSCTMP/fill
	is "start, when its process cannot be noted" "$(status start)" 1
	ok "and says so" grep -q "cannot be noted in" /run/agent
	umount $HA_RSCTMP
	is "and holds nothing" "$(c 2 bftmutex -w 5 "$OCF_RESKEY_name" echo had)" had

	# Somebody else's.
	ip netns exec bftm-c2 bftmutex "$OCF_RESKEY_name" sleep infinity &
	other=$!
	taken() { ! c 1 bftmutex -n "$OCF_RESKEY_name" true; }
	wait_for 10 taken
	is "start, while another node has it" "$(status start wait=1)" 1
	is "and it does not wait on" "$(status monitor)" 7
	kill $other
	wait $other 2>/dev/null
	is "start, no such cluster" "$(status start cluster=none)" 1

	# Its number was used again.
	ip netns exec bftm-c1 bftmutex -- other sleep infinity &
	other=$!
	held() { grep -q "^held .* $other " <(c 1 bftmutexctl holders); }
	wait_for 10 held
	echo $other >$HA_RSCTMP/bftmutex-lock.pid
	is "the process of another lock is not the agent's" "$(status monitor)" 7
	is "stop" "$(status stop)" 0
	ok "and it is left alone" kill $other
	wait $other 2>/dev/null

	# The state of the process does not matter when the lock is lost.
	is "start again" "$(status start)" 0
	for n in 1 2 3 4; do s $n bftmutexctl server stop >/dev/null; done
	failing() { [[ $(status monitor margin=4) == 1 ]]; }
	ok "no server: before the lock is lost, monitor fails" wait_for 20 failing
	ok "it is held still" grep -q "^held .* $(holder) " <(c 1 bftmutexctl holders)
	lost() { [[ $(status monitor margin=4) == 7 ]]; }
	ok "then it is lost" wait_for 20 lost
	is "stop" "$(status stop)" 0
else
	skip "the agent of Pacemaker" "no ocf-tester: apt-get install resource-agents"
fi

if command -v sos >/dev/null; then
	cp "$top/helper/integrations/sos/bftmutex.py" /usr/lib/python3/dist-packages/sos/report/plugins/
	cp "$top/build/bin/bftmutexctl" /usr/sbin
	mkdir -p /etc/bftmutex/keys /run/sos
	cp "$dev"/keys/* /etc/bftmutex/keys
	cp "$dev/c1/bftmutex.conf" /etc/bftmutex
	c 1 sos report --batch --build --only-plugins bftmutex --tmp-dir /run/sos -q >/run/sos.out 2>&1
	found() { grep -rl "$@" /run/sos/sosreport-*; }
	ok "sos: what bftmutexctl says" found '"usable"' || diag "$(</run/sos.out)"
	ok "sos: it asks for the objects of the cluster" compgen -G "/run/sos/sosreport-*/sos_commands/bftmutex/bftmutexctl_object_list*"
	ok "sos: the configuration" found '^cluster demo'
	secrets=$(grep -ohE '[0-9A-F]{64}' /etc/bftmutex/keys/*.key /etc/bftmutex/keys/*.client)
	ok "sos: there are keys" test "$(wc -w <<<"$secrets")" -ge 8
	told() { local secret; for secret in $secrets; do found -i "$secret" && return; done; false; }
	ok "sos: none of them is told" ! told
else
	skip "the plug-in of sos" "no sos: apt-get install sosreport"
fi
finish
