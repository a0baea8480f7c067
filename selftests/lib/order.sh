# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Objects, for tests in a VM. Source it after cluster.sh.
#
# Called by name.
# shellcheck disable=SC2317,SC2154

# submit CLIENT OBJECT REQUEST [ARG...]: "STATUS RESPONSE" of the object, or an error
submit() {
	order_load --clients "$1-$1" --object "$2" --request "$3" --print --timeout 30 "${@:4}"
}

# load_into NAME ARG...: the variables of order_load ARG..., for NAME KEY
load_into() {
	order_load "${@:2}" >"$dev/load.$1" || return
	eval "$1() { sed -n \"s/^\$1=//p\" \"$dev/load.$1\"; }"
}

# merge FILE: one line for each request, as bftmutex-lin reads them
merge() {
	awk -F ',"return_ns":' '
		$2 ~ /^null/ { begun[$1] = $0; next }
		{ print; delete begun[$1] }
		END { for (key in begun) print begun[key] }' "$1" >"$1.merged" &&
		mv "$1.merged" "$1"
}

# server_objects N FILTER: the objects of server N, filtered by gojq
server_objects() { s "$1" bftmutexctl objects --json | gojq "$2"; }

# grows FILE
grows() { [[ -s $1 ]]; }
