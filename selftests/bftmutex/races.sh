#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A short run of what "make races" does at length: selftests/races.
exec "$(dirname "$0")/../races/vm.sh" "${BFTMUTEX_ITERATIONS:-15/5}" both +p
