#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm cpus=2 mem=768 append=log_buf_len=64M alone about=module time=60
# A short run of what "make races" does at length: selftests/module/races.
exec "$(dirname "$0")/vm.sh" "${BFTMUTEX_ITERATIONS:-15/5}" both +p
