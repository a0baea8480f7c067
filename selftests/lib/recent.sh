# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# For checkers that read a file by itself, so that a file that stays as it is gives no new word. To be
# sourced.

# recent FILE...: those of the files that the last fifty commits changed, or that are changed now.
# A commit without a parent has changed all.
recent() {
	comm -12 <(printf '%s\n' "$@" | sort -u) \
		<({ git log -c -50 --format= --name-only && git diff --name-only HEAD; } | sort -u)
}
