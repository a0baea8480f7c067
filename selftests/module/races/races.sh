#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm tier=all kernels=6.1,6.12,6.1-rt,6.1-debug,6.12-debug,6.1-kcsan,6.12-kcsan cpus=2 mem=768 append=log_buf_len=64M alone about=module time=60
# A short run of what "make races" does at length: selftests/module/races.
exec "$(dirname "$0")/vm.sh" "${BFTMUTEX_ITERATIONS:-15/5}" both +p
