#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=30
# A short run of what "make floods" does at length: selftests/module/floods.
#
exec "$(dirname "$0")/vm.sh" "${BFTMUTEX_DATAGRAMS:-20000}" 2 1000 200 20000
