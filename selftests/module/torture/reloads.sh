#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=5
# check: vm name=reloads-long tier=all clock=instructions scale=BFTMUTEX_RELOADS:10000 time=1200
#
# A server that is stopped and started while a lock is held there grants nothing until
# its quarantine is over, however often. BFTMUTEX_RELOADS is how often (10,000 by "make
# reloads"), BFTMUTEX_SEED repeats it.
#
#
# Functions are called by name, variables are shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/lib/pair.sh
. "$(dirname "$0")/../../lib/pair.sh"

count=${BFTMUTEX_RELOADS:-100}
"$(dirname "$0")/../../lib/number" BFTMUTEX_RELOADS "$count" 1 1000000 || exit

reload() {
	c 1 reloads "$count" "$BFTMUTEX_SEED" "$dir/server-1.key" "$v4" "$dir/client-50.client" \
		"$dir/client-51.client" >"$dir/out"
}
log_objects -
ok "nothing is granted in $count quarantines" reload
diag "$(<"$dir/out")"
ok "no namespace is left" log_objects +
finish
