#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The lock of etcd: three members that do not wait for any disk.
# shellcheck disable=SC2154  # variables of lib.sh
# shellcheck source=selftests/bench/lib.sh
. "$(dirname "$0")/../lib.sh"

cluster 7 1 || bail "no cluster"
etcd_members
row "etcd" at etcd_lock 300 "$leader"
finish
