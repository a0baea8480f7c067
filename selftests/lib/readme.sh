# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# For scripts that do what README says of real hosts: they take its words, so that a command that
# README spells in another way than the programs fails.
# shellcheck disable=SC2154  # the script that sources it has set top

# readme BEGINNING [N]: README's command that begins so, for host N. A shell that is given it fails
# when README has none.
readme() {
	local command
	command=$(sed -n "/^On real hosts/,/^What is where/s/^\t\($1.*\)/\1/p" "$top/README" | head -n 1)
	[[ ${2-1} == 1 ]] || command=${command//1/$2}
	echo "${command:-echo "README has no command '$1'"; false}"
}
