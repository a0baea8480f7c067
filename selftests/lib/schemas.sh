# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Checks outputs of bftmutexctl against Documentation/schemas. Source it after cluster.sh.
# shellcheck disable=SC2154

outputs=/tmp/outputs

# keep NAME [CMD...]: stores its output, or standard input, to be checked against schema NAME.
keep() {
	local name=$1
	shift
	{
		printf '{"schema":"%s","output":' "$name"
		"${@:-cat}"
		echo "}"
	} >>"$outputs"
}

# keep_lines NAME: each line of standard input by itself
keep_lines() { sed "s/.*/{\"schema\":\"$1\",\"output\":&}/" >>"$outputs"; }

# all_schemas: in one object, by the names of their files
all_schemas() {
	local file comma=''
	echo "{"
	for file in "$top"/Documentation/schemas/*.json; do
		printf '%s"%s":' "$comma" "${file##*/}"
		cat "$file"
		comma=,
	done
	echo "}"
}

# wrong: prints a line for each violation in the stored outputs
wrong() { { all_schemas; cat "$outputs"; } | gojq -nr -f "$top/selftests/lib/schema.jq" 2>&1; }

# kept: names of the schemas for which outputs were stored
kept() { sed -n 's/^{"schema":"\([a-z-]*\)".*/\1/p' "$outputs" | sort -u; }
