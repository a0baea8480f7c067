#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The lock of etcd, and puts, one after the other and many at a time: three members that
# do not wait for any disk.
# shellcheck disable=SC2154  # variables of lib.sh
# shellcheck source=selftests/measure/bench/lib.sh
. "$(dirname "$0")/../lib.sh"

cluster 7 1 || bail "no cluster"
etcd_members
row "etcd" at etcd_lock 300 "$leader"
row "puts of etcd" at etcd_lock 300 "$leader" 1 4 16 64
diag "$(grep per_request "$work/values")"
leave_cluster 7 1
finish
