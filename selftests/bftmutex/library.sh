#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The examples of bftmutex(3), as they stand there: built against what "make
# install" makes, and run as client 1 of a cluster.

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../lib/cluster.sh"

page=${top:?}/Documentation/man/bftmutex.3
dir=$(mktemp -d) || bail "mktemp failed"
cleanup() {
	down
	rm -rf "$dir"
}

# example N: its text, without what is roff.
example() {
	awk -v want="$1" '
		/^\.EE/ { inside = 0 }
		inside && n == want
		/^\.EX/ { n++; inside = 1 }' "$page" |
		sed -e 's/\\e/\\/g' -e 's/\\-/-/g' -e 's/\\&//g'
}

load || bail "the module cannot be loaded"
up --servers 6 --lease-max 1s || bail "no cluster"
ok "make install" make -C "$top" --no-print-directory install DESTDIR="$dir" KVER=none
export PKG_CONFIG_PATH=$dir/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dir
is "pkg-config: version" "$(pkg-config --modversion libbftmutex)" \
	"$(sed -n 's/^VERSION := //p' "$top/Makefile")"
# What is not in /usr but below DESTDIR is not a system folder for it.
export PKG_CONFIG_SYSTEM_INCLUDE_PATH=/none PKG_CONFIG_SYSTEM_LIBRARY_PATH=/none
export LD_LIBRARY_PATH=$dir/usr/lib
for n in 1 2; do
	example $n >"$dir/$n.c"
	read -ra flags < <(pkg-config --cflags --libs libbftmutex)
	ok "example $n: builds" gcc -Wall -Wextra -Werror -o "$dir/$n" "$dir/$n.c" "${flags[@]}"
done
c 1 "$dir/1" >"$dir/out" 2>"$dir/err"
is "example 1: status" "$? $(<"$dir/err")" "0 "
ok "example 1: output" grep -qE '^step 2 with token [1-9][0-9]*$' "$dir/out"
c 1 "$dir/2" >"$dir/out" 2>"$dir/err"
is "example 2: status" "$? $(<"$dir/err")" "0 "
ok "example 2: output" grep -qE '^[1-9][0-9]* ns longer$' "$dir/out"
finish
