#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A short run of what "make races" does at length: selftests/module/races.
exec "$(dirname "$0")/vm.sh" "${BFTMUTEX_ITERATIONS:-15/5}" both +p
