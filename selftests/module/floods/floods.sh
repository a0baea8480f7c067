#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm tier=all kernels=6.1,6.12,6.1-rt,6.1-debug,6.12-debug,6.1-kcsan,6.12-kcsan clock=instructions time=30
# A short run of what "make floods" does at length: selftests/module/floods.
#
exec "$(dirname "$0")/vm.sh" "${BFTMUTEX_DATAGRAMS:-20000}" 2 1000 200 20000
