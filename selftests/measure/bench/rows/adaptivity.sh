#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One contender, alone and among a thousand clients that want nothing; and a full table.
# shellcheck disable=SC2154  # variables of lib.sh
# shellcheck source=selftests/measure/bench/lib.sh
. "$(dirname "$0")/../lib.sh"

cluster 7 1 || bail "no cluster"
row "one client of one" at acquire alone 300
for u in {1..7}; do
	ok "a thousand more at server $u" at register 1001 2000 "10.73.0.$u" "$dev/keys/server-$u.key"
done
known=$(s 1 bftmutexctl server show --json | gojq .clients)
is "clients that server 1 knows" "$known" 1001
row "one client of a thousand and one" at acquire among 300
# As many as it has room for.
new_client 200
row "a server's try, a thousand and two clients" at try try_1000 300 1 10.73.0.1 "$keys"
ok "clients until the server has no room" at register 2001 66534 10.73.0.1 \
	"$dev/keys/server-1.key"
is "clients that server 1 knows by then" "$(s 1 bftmutexctl server show --json | gojq .clients)" 65536
row "a server's try, 65,536 clients" at try try_65536 300 1 10.73.0.1 "$keys"
finish
