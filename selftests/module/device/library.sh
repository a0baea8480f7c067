#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm alone time=40
#
# The examples of bftmutex(3) and bftmutex(4), as they stand there: built against what
# "make install" makes, and run as client 1 of a cluster; those that submit, where a
# helper plays the cluster.

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

man=${top:?}/Documentation/man
dir=$(mktemp -d) || bail "mktemp failed"
cleanup() {
	down
	[[ ! ${player:-} ]] || kill "$player"
	rm -rf "$dir"
}

# example SECTION N: its text, without what is roff.
example() {
	awk -v want="$2" '
		/^\.EE/ { inside = 0 }
		inside && n == want
		/^\.EX/ { n++; inside = 1 }' "$man/bftmutex.$1" |
		sed -e 's/\\e/\\/g' -e 's/\\-/-/g' -e 's/\\&//g'
}

load || bail "the module cannot be loaded"
up --servers 6 --lease-max 1s || bail "no cluster"
ok "make install" make -C "$top" --no-print-directory install DESTDIR="$dir" KVER=none
export PKG_CONFIG_PATH=$dir/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dir
is "pkg-config: version" "$(pkg-config --modversion libbftmutex)" \
	"$(cut -s -d '"' -f 2 "$top/kmod/version.h")"
# For pkg-config, a folder below DESTDIR is no system folder.
export PKG_CONFIG_SYSTEM_INCLUDE_PATH=/none PKG_CONFIG_SYSTEM_LIBRARY_PATH=/none
export LD_LIBRARY_PATH=$dir/usr/lib
build() { # SECTION N PROGRAM
	example "$1" "$2" >"$dir/$3.c"
	read -ra flags < <(pkg-config --cflags --libs libbftmutex)
	ok "bftmutex($1) example $2: builds" \
		gcc -Wall -Wextra -Werror -o "$dir/$3" "$dir/$3.c" "${flags[@]}"
}
build 3 1 1
build 3 2 2
build 3 3 submit
build 4 1 ioctl
c 1 "$dir/1" >"$dir/out" 2>"$dir/err"
is "example 1: status" "$? $(<"$dir/err")" "0 "
ok "example 1: output" grep -qE '^step 2 with token [1-9][0-9]*$' "$dir/out"
c 1 "$dir/2" >"$dir/out" 2>"$dir/err"
is "example 2: status" "$? $(<"$dir/err")" "0 "
ok "example 2: output" grep -qE '^[1-9][0-9]* ns longer$' "$dir/out"

ip netns add play || bail "no namespace"
ip netns exec play submit_play counters >"$dir/player" &
player=$!
ok "a helper with counters" wait_for 10 grep -q ready "$dir/player"
for n in submit ioctl submit; do
	ip netns exec play "$dir/$n"
done >"$dir/out" 2>"$dir/err"
is "examples that submit: output" "$(xargs <"$dir/out") $(<"$dir/err")" \
	"ticket 1 ticket 2 ticket 3 "
finish
