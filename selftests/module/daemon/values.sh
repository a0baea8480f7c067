#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=17
#
# The value of a lock, from bftmutex(1) to the servers and back: what one program leaves the next
# one reads, or reads that it is not valid, and never another. Of two hosts, and of programs of one.
#
#	bftm-c1, bftm-c2 ---- bridge ---- bftm-s1 … bftm-s4
#
# Functions are called by name, load may have no arguments, and variables are
# shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034,SC2016
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

own_work

# reads N [ARG...]: what a program of client N finds as the value, "none" when it is not valid
reads() { c "$1" bftmutex -w 100 --value "${@:2}" "$lock" sh -c 'echo "${BFTMUTEX_VALUE-none}"'; }
# writes N SCRIPT [ARG...]: a program of client N with the lock alone; its exit status
writes() {
	c "$1" bftmutex -w 100 --value "${@:3}" "$lock" sh -c "$2" 2>"$work/err"
	echo $?
}
said() { grep -qF "$1" "$work/err" || diag "$(<"$work/err")"; }
# holds N: commands from the standard input, with a descriptor 9 of client N
holds() { ip netns exec "bftm-c$1" bash -c 'exec 9<>/dev/bftmutex; . /dev/stdin' 2>"$work/err"; }

load || bail "the module cannot be loaded"
up --servers 4 -b 1 --clients 2 --lease-max 10s || bail "no cluster"

#
# From one program to the next
#

next_lock
is "no program has left one" "$(reads 2 -s)" none
is "a program leaves one" "$(writes 1 'printf "\001\377a" >&$BFTMUTEX_VALUE_FD')" 0
is "others read it, in any mode" "$(for mode in CR CW PR; do reads 2 --mode $mode; done | xargs)" \
	"01ff61 01ff61 01ff61"
is "one that leaves none changes nothing" "$(writes 2 true) $(reads 1)" "0 01ff61"
is "nor one that fails" "$(writes 2 'echo word >&$BFTMUTEX_VALUE_FD; exit 3') $(reads 1)" "3 01ff61"
is "nor one that takes the lock without its value" \
	"$(c 2 bftmutex "$lock" sh -c 'echo "${BFTMUTEX_VALUE-none} ${BFTMUTEX_VALUE_FD-none}"') $(reads 1)" "none none 01ff61"
is "nor one that only reads: it has nowhere to write" \
	"$(c 2 env BFTMUTEX_VALUE=old BFTMUTEX_VALUE_FD=1 bftmutex -s --value "$lock" sh -c 'echo "$BFTMUTEX_VALUE ${BFTMUTEX_VALUE_FD-none}"') $(reads 1)" \
	"01ff61 none 01ff61"
is "64 bytes" "$(writes 1 'printf %064d 7 >/dev/fd/$BFTMUTEX_VALUE_FD') $(reads 2 -s)" "0 $(printf '30%.0s' {1..63})37"
is "65 are an error, after which none is valid" \
	"$(writes 1 'printf %065d 7 >&$BFTMUTEX_VALUE_FD') $(reads 2 -s)" "65 none"
ok "which is said" said "lock '$lock': the command wrote more than 64 bytes to BFTMUTEX_VALUE_FD: no value is left"
is "in mode PW" "$(writes 1 'printf B >&$BFTMUTEX_VALUE_FD' --mode PW --close) $(reads 2)" "0 42"

# A process that the command leaves behind holds the lock; the value is left when it has ended, too.
is "with what is left behind" "$(writes 1 'mkfifo '"$work"'/go; (read word <'"$work"'/go; printf C >&$BFTMUTEX_VALUE_FD) & echo >'"$work"'/go') $(reads 2)" "0 43"

#
# One that ends without a word
#

next_lock
is "left before" "$(writes 1 'printf D >&$BFTMUTEX_VALUE_FD') $(reads 2)" "0 44"
is "a writer is killed" "$(writes 1 'printf E >&$BFTMUTEX_VALUE_FD; kill -9 $$')" 137
is "then none is valid" "$(reads 2 -s)" none
is "until the next is left" "$(writes 2 'printf F >&$BFTMUTEX_VALUE_FD') $(reads 1)" "0 46"
is "a reader that is killed changes nothing" "$(c 1 bftmutex -s --value "$lock" sh -c 'kill -9 $$'; echo $?) $(reads 2)" "137 46"
writes 1 'kill -9 $PPID; sleep 1000' >/dev/null
is "the process that watches the lease is killed" "$(reads 2)" none
is "and another is left" "$(writes 2 'printf G >&$BFTMUTEX_VALUE_FD') $(reads 1)" "0 47"
is "a lock that is lost" "$(writes 1 'printf H >&$BFTMUTEX_VALUE_FD; sleep 1000' -l 300ms --no-renew) $(reads 2)" "79 none"

#
# By descriptor
#

next_lock
is "by descriptor" "$(holds 1 <<-END
	bftmutex --fd 9 --value; echo "\$?"
	bftmutex --fd 9 $lock; bftmutex --fd 9 --value; echo "\$?"
	bftmutex --fd 9 --set-value 00; echo "\$?"
	bftmutex --fd 9 -u
	bftmutex --fd 9 --value $lock; bftmutex --fd 9 --value; echo "\$?"
	bftmutex --fd 9 --set-value ''; bftmutex --fd 9 --value; echo "\$?"
	bftmutex --fd 9 --set-value 0aFF; bftmutex --fd 9 --value
	bftmutex --fd 9 -u; bftmutex --fd 9 --set-value 00; echo "\$?"
	bftmutex --fd 9 -s --value --print $lock | grep -v DEADLINE
	bftmutex --fd 9 --set-value 00; echo "\$?"
	bftmutex --fd 9 --convert --print | grep -v DEADLINE
	bftmutex --fd 9 --set-value 01
	END
)" "65
65
65
0
BFTMUTEX_VALUE=
0
BFTMUTEX_VALUE=0aff
65
BFTMUTEX_VALUE=0aff
BFTMUTEX_MODE=PR
65
BFTMUTEX_MODE=EX"
is "it says why" "$(<"$work/err")" "bftmutex: --fd 9: no lock is held
bftmutex: --fd 9: the lock is held without its value; take it, or convert it, with --value
bftmutex: --fd 9: the lock is held without its value; take it, or convert it, with --value
bftmutex: --fd 9: no lock is held
bftmutex: --fd 9: --set-value 00: the lock is held in mode PR; a value is set in mode EX or PW, to which --convert leads"
is "closed and not released: not valid" "$(reads 2)" none

# A conversion to less leaves the value to those who come beside.
next_lock
is "a conversion leaves it" "$(holds 1 <<-END
	bftmutex --fd 9 --value $lock
	bftmutex --fd 9 --set-value 77
	bftmutex --fd 9 --convert -s
	ip netns exec bftm-c2 bftmutex -s --value $lock sh -c 'echo \$BFTMUTEX_VALUE'
	bftmutex -n -s --value $lock true; echo "\$?"
	END
)" "77
0"
is "for longer than it is held" "$(reads 2) $(<"$work/err")" "77 "
is "one that begins to read the value" "$(holds 1 <<-END
	bftmutex --fd 9 --mode CR $lock
	bftmutex --fd 9 --convert --value --print -x | grep -v DEADLINE
	bftmutex --fd 9 --set-value 78; bftmutex --fd 9 -u
	END
) $(reads 2)" "BFTMUTEX_VALUE=77
BFTMUTEX_MODE=EX 78"

# Set before the conversions, it is the program's own all the time, and goes when EX or PW is given up.
next_lock
is "set in PW, before a conversion to EX" "$(holds 1 <<-END
	bftmutex --fd 9 --value --mode PW $lock
	bftmutex --fd 9 --set-value 61
	bftmutex --fd 9 --convert -x --value --print | grep -v DEADLINE
	ip netns exec bftm-c2 bftmutex -n -s --value $lock true; echo "\$?"
	bftmutex --fd 9 -u
	END
) $(reads 2)" "BFTMUTEX_VALUE=61
BFTMUTEX_MODE=EX
1 61"
is "and left by a conversion from EX to PW, which still may write another" "$(holds 1 <<-END
	bftmutex --fd 9 --value $lock
	bftmutex --fd 9 --set-value 62
	bftmutex --fd 9 --convert --mode PW
	ip netns exec bftm-c2 bftmutex --mode CR --value $lock sh -c 'echo \$BFTMUTEX_VALUE'
	bftmutex --fd 9 --set-value 63; bftmutex --fd 9 -u
	END
) $(reads 2)" "62 63"
# Down and up in one go: the servers may not have answered the first conversion when they hear of the second.
next_lock
is "from EX to PR and back: it reads its own" "$(holds 1 <<-END
	bftmutex --fd 9 --value $lock
	for value in 71 72 73 74 75; do
		bftmutex --fd 9 --set-value \$value
		bftmutex --fd 9 --convert -s; bftmutex --fd 9 --convert -x
		bftmutex --fd 9 --value
	done
	bftmutex --fd 9 -u
	END
) $(reads 2)" "$(printf 'BFTMUTEX_VALUE=%s\n' 71 72 73 74 75) 75"
is "the servers know it" "$(reads 2 -s) $(<"$work/err")" "75 "

# wrong MESSAGE ARG...
wrong() {
	c 1 bftmutex "${@:2}" 2>"$work/err" 9</dev/bftmutex
	is "wrong: ${*:2}" "$? $(head -n 1 "$work/err")" "64 bftmutex: $1"
}
wrong "--set-value '0g': must be two hexadecimal digits a byte, 0 to 64 bytes" --fd 9 --set-value 0g
wrong "--set-value needs --fd N, a descriptor of /dev/bftmutex; a command has BFTMUTEX_VALUE_FD by --value" --set-value 00
wrong "--set-value takes no NAME, no --value, no --convert, no --print, no --unlock and no --held" --fd 9 --set-value 00 -u
wrong "--value takes no --unlock and no --held" --fd 9 --value -u
wrong "--value and --no-fork: no process would give the lock back, and its value would not be valid for the next holder" --value -F "$lock" true
wrong "--print needs NAME or --convert: --value prints the value by itself" --fd 9 --value --print

#
# The example of Documentation/modes.rst: copies of an image
#

for name in read-image write-image; do
	sed -n "/^   # $name/,/^\$/s/^   //p" "$top/Documentation/modes.rst" >"$work/$name"
done
mkdir "$work"/{shared,1,2}
ln -s "$work/shared" "$work/1/shared"
ln -s "$work/shared" "$work/2/shared"
image() { (cd "$work/$1" && c "$1" bftmutex --value "${@:2}"); }
looks() { image "$1" -s image sh ../read-image; }
changes() { image "$1" --fence image sh ../write-image "$2"; }
echo one >"$work/shared/image"
is "as long as no value is known there is no copy" "$(looks 1) $(ls "$work/1")" "one shared"
changes 2 two
is "then there is one" "$(looks 1) $(cat "$work/1/copy")" "two two"
echo three >"$work/shared/image"
is "which is used as long as no program has written" "$(looks 1)" two
changes 1 four
is "and no longer" "$(looks 1) $(looks 2)" "four four"

#
# Another daemon
#

next_lock
is "left before" "$(writes 1 'printf I >&$BFTMUTEX_VALUE_FD') $(reads 2)" "0 49"
mkfifo "$work/in" "$work/out"
ip netns exec bftm-c1 bftmutex --value -l 4s "$lock" sh -c "
	echo >$work/out; read word <$work/in; printf J >&\$BFTMUTEX_VALUE_FD" &
read -r _ <"$work/out"
kill_helper 1
start_helper 1 || bail "no daemon"
adopted() { (($(c 1 bftmutexctl stats --json | gojq .helper.adopted) >= 1)); }
ok "another daemon has taken the writer over" wait_for 20 adopted
echo >"$work/in"
wait_jobs
got=$(reads 2)
ok "what it leaves is read, or nothing" grep -qxE "4a|none" <<<"$got"
diag "it is $got"
is "and what the next one leaves is" "$(writes 1 'printf K >&$BFTMUTEX_VALUE_FD') $(reads 2)" "0 4b"

#
# A server that lies
#

next_lock
lie 4 false-value --no-quarantine || bail "no liar"
false=0
for n in 1 2 3; do
	[[ $(writes $((n % 2 + 1)) "printf $n >&\$BFTMUTEX_VALUE_FD") == 0 ]] || false=written
	got=$(reads 2 -s)
	[[ $got == "3$n" ]] || false=$got
done
is "with a liar, what was left is read" "$false" 0
kill_liar 4
ok "it lied" grep -q '"lies":[1-9]' "$dev/liar-4.json"
finish
