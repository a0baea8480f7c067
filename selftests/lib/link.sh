# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# For scripts that run in several VMs on one link ("run --link NAME --index I") and share a folder,
# by which they wait for each other. Source it in a VM.

share=/run/share

# appears FILE: the file exists in the shared folder
appears() { [[ -e $share/$1 ]]; }

# link_namespace NAME N: makes a namespace with 10.77.0.N on the link, beside the VM itself
link_namespace() {
	local name=$1 nic
	nic=$(ip -o -4 address | sed -n 's/^[0-9]*: \([^ ]*\) .*10\.77\.0\..*/\1/p')
	ip netns add "$name" &&
		ip link add link0 link "$nic" netns "$name" type macvlan mode bridge &&
		ip -n "$name" link set link0 name eth0 &&
		ip -n "$name" address add "10.77.0.$2/24" dev eth0 &&
		ip -n "$name" link set lo up &&
		ip -n "$name" link set eth0 up
}
