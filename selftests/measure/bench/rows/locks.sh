#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A thousand to a million locks at one server.
# shellcheck disable=SC2154  # variables of lib.sh
# shellcheck source=selftests/measure/bench/lib.sh
. "$(dirname "$0")/../lib.sh"

dev_up --servers 1 -b 0 --clients 1 --lease-max 2m ||
	bail "no server"
kill_helper 1
ip -n bftm-net addr add 10.73.0.200/24 dev br0
new_client 201
filler=$keys
new_client 200
row "locks" at locks 1 10.73.0.1 "$keys" /run/netns/bftm-s1 "$filler" 1000 10000 100000 1000000
finish
