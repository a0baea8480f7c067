# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# A server that keeps its objects, and clients of it. Source it after pair.sh.
#
# shellcheck disable=SC2154,SC2317,SC2034  # shared, or called by name

file=$dir/journal
acked=$dir/acked
keeper=
traffic=

# begin [ARG...]: the server, with durability = sync; its objects answer at once.
begin() {
	s 1 bftmutexctl server start --key "$dir/server-1.key" --lease-max 1s \
		--state "$dir/state" --durability sync --journal "$file" "$@" >/dev/null
}

journal_is() { [[ $(show .journal) == "$1" ]]; }

# follow: start the journal; true when it works.
follow() {
	# Delete the output of the previous journal.
	: >"$dir/journal.err"
	# Not by s: $! is to be the journal, not a shell that waits for it.
	netns_exec bftm-s1 bftmutexctl server journal --file "$file" 2>"$dir/journal.err" &
	keeper=$!
	wait_for 10 grep -q "is kept in" "$dir/journal.err"
}

# unfollow [SIGNAL]: end it. Return: its exit status.
unfollow() {
	local status=0
	kill "-${1:-TERM}" "$keeper" 2>/dev/null
	wait "$keeper" 2>/dev/null || status=$?
	keeper=
	wait_for 10 detached
	return $status
}
detached() { ! journal_is attached; }

# clients OBJECTS ITERATIONS: traffic, with a line in $acked for each answer.
clients_begin() {
	netns_exec bftm-c1 journal_traffic 1 "$v4" "$dir/client-50.client" "$acked" "$@" &
	traffic=$!
}

clients_end() {
	kill "$traffic" 2>/dev/null
	wait "$traffic" 2>/dev/null
	traffic=
}

answered() { (($(wc -l <"$acked") >= $1)); }

# told KNOWN ACKED: KNOWN has at least all answers of ACKED; prints the missing ones.
told() {
	awk 'FILENAME == ARGV[1] { rank[$1] = $2; proposed[$1] = $3; committed[$1] = $4; next }
		!($1 in rank) || $2 > rank[$1] || $3 > proposed[$1] || $4 > committed[$1] {
			print "told: " $0 "; known: " rank[$1], proposed[$1], committed[$1]
			bad = 1
		}
		END { exit bad }' "$1" "$2"
}

# knows [FILE]: the server itself knows all answers that were given by then.
knows() {
	s 1 bftmutexctl objects --json |
		gojq -r '.[] | select(.recovering | not) |
			"\(.name) \(.rank_count) \(.proposed_version) \(.version)"' >"$dir/known"
	told "$dir/known" "${1:-$acked}"
}

# in_file: the journal's file has all answers that were given by now.
in_file() {
	sqlite3 -separator ' ' "$file" "SELECT CAST(name AS TEXT), count, ifnull(p.version, 0),
		ifnull(c.version, 0) FROM object
		LEFT JOIN body AS p ON p.object = name AND p.digest = proposed
		LEFT JOIN body AS c ON c.object = name AND c.digest = committed" >"$dir/known"
	told "$dir/known" "$acked"
}
