# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Test Anything Protocol for shell tests.  Source it, test, call finish:
#
#	. "$(dirname "$0")/../lib/tap.sh"
#	plan 3					# optional: a promise to keep
#	ok "the file is there" test -e "$file"
#	ok "the server is gone" ! kill -0 "$pid"
#	is "exit status" "$?" 0
#	finish
#
# The plan "1..N" comes last.  A script that ends in any other way than by
# finish, skip_all or bail has failed.  If the script has a function named
# cleanup, it is called at every exit (so leave the EXIT trap alone).
#
# ok and is return 1 for a failed test, so that "ok … || bail …" can be written:
# do not use "set -e", which would end the script at the first failure.

tap_count=0
tap_failed=0
tap_plan=
tap_done=
tap_open=
tap_pid=$BASHPID
tap_log=$(mktemp) || exit 1
echo "TAP version 13"

# Lines for the reader of the log.
diag() {
	local line
	while IFS= read -r line || [[ $line ]]; do
		printf '# %s\n' "$line"
	done <<<"$*"
}

# tap_result WORD DESC [DIRECTIVE]; "#" would begin a directive
tap_result() {
	tap_count=$((tap_count + 1))
	printf '%s %d - %s%s\n' "$1" "$tap_count" "${2//#/\\#}" "${3:+ # $3}"
	if [[ $1 == "not ok" ]]; then
		tap_failed=$((tap_failed + 1))
		return 1
	fi
}

# After an arithmetic error bash goes on behind the function that was called at the top: the test in
# which the error was would have no result.
tap_torn() {
	[[ ! $tap_open ]] && return
	tap_result "not ok" "$tap_open" || :
	diag "an error of the script ended it:"
	diag "$(<"$tap_log")"
	tap_open=
}

# plan N: how many tests there will be; finish checks it.
plan() { tap_plan=$1; }

# ok DESC [!] CMD...: CMD succeeds (with "!": fails). It runs in this shell; its output is shown
# only when the test fails.
ok() {
	local desc=$1 want=0 got=0
	shift
	if [[ $1 == ! ]]; then
		want=1
		shift
	fi
	tap_torn
	tap_open=$desc
	# A process that CMD leaves behind may keep the file open; with a pipe, the script would
	# wait for it.
	"$@" >"$tap_log" 2>&1 || got=$?
	tap_open=
	if (((got != 0) == want)); then
		tap_result ok "$desc"
		return
	fi
	tap_result "not ok" "$desc" || :
	diag "status $got of: $*"
	diag "$(<"$tap_log")"
	return 1
}

# is DESC GOT WANT: two strings are equal.
is() {
	if [[ $2 == "$3" ]]; then
		tap_result ok "$1"
		return
	fi
	tap_result "not ok" "$1" || :
	diag "  got: $2"
	diag " want: $3"
	return 1
}

# says STATUS TEXT CMD...: CMD has this exit status, and TEXT in its output, which stays in
# $tap_log.said; for ok.
says() {
	local want=$1 text=$2 got=0
	shift 2
	"$@" >"$tap_log.said" 2>&1 || got=$?
	((got == want)) && grep -qF -- "$text" "$tap_log.said" && return
	echo "status $got instead of $want, and:"
	cat "$tap_log.said"
	return 1
}

# skip DESC REASON: one test that cannot run here.
skip() { tap_result ok "$1" "SKIP $2"; }

# Shall the script run a few cases of each kind, as in "make check"? "make check-all", and a script
# that is named, run all.
short() { [[ ${BFTMUTEX_SHORT-} ]]; }

# wait_jobs: wait for all jobs of the script. Not "wait", which in bash 5.2 waits for process
# substitutions as well, and now and then for one that has ended: forever, while a daemon lives.
wait_jobs() {
	local pids
	mapfile -t pids < <(jobs -p)
	((${#pids[@]} == 0)) || wait "${pids[@]}" 2>/dev/null
}

# Can an upper bound on time be judged? Only by a clock of instructions, which does not depend on
# the load of the host; not with checkers, which take more instructions.
in_time() { [[ $(uname -r) != *-bftmutex-* && ${BFTMUTEX_CLOCK-} == instructions ]]; }

# figure DESC CMD...: as ok, for a figure of time or memory. Its line "# check:" asks for the
# clock: clock=instructions.
figure() {
	if [[ $(uname -r) == *-bftmutex-* ]]; then
		skip "$1" "not judged on kernels with checkers"
	elif ! in_time; then
		skip "$1" "only judged by a clock of instructions: selftests/vm/run --icount"
	else
		ok "$@"
	fi
}

# tap_merge PREFIX: reads the output of another script from standard input, and prints its results
# as ours; up to "exit status N", which it returns, or the end.
tap_merge() {
	local line
	while IFS= read -r line; do
		case $line in
		1..0*SKIP*) skip "${1}all" "${line#*SKIP }" ;;
		ok*' # SKIP '*) line=${line#ok * - } && skip "$1${line% # SKIP *}" "${line#* # SKIP }" ;;
		"ok "* | "not ok "*) tap_result "${line%%ok *}ok" "$1${line#*ok * - }" || : ;;
		1..* | TAP*) ;;
		"exit status "*) return "${line##* }" ;;
		*) echo "$line" ;;
		esac
	done
}

# skip_all REASON: this script cannot run here.
skip_all() {
	tap_done=1
	echo "1..0 # SKIP $*"
	exit 4
}

# bail REASON: the script cannot go on. This is a failed test, since TAP's "Bail out!" ends all
# other scripts too.
bail() {
	tap_result "not ok" "no further: $*"
	tap_plan=
	finish
}

# wait_for SECONDS CMD...: poll until CMD succeeds; 1 when it does not in time. The only function
# that sleeps for a fixed time, and that allows for slow machines. Pauses grow with the time waited,
# since a look costs much of a clock that counts instructions. SECONDS are several times the time on
# an idle machine. In a VM with a real clock they are multiplied by twenty, since the load of the
# host is not known; the limit only ends a test that hangs.
wait_for() {
	local end slow=${KSFT_MACHINE_SLOW:+20} ms=50
	# By that clock a look takes time of the host, and sleeping takes none.
	if [[ ${BFTMUTEX_CLOCK-} == instructions ]]; then
		slow=${slow:+5} ms=200
	fi
	end=$((SECONDS + $1 * ${slow:-1}))
	shift
	until "$@" >/dev/null 2>&1; do
		((SECONDS <= end)) || return 1
		sleep "${ms}e-3"
		ms=$((ms * 3 / 2 < 1000 ? ms * 3 / 2 : 1000))
	done
}

# Print the plan and exit: 0 when all is well, 1 otherwise.
finish() {
	tap_torn
	tap_done=1
	[[ ! -e /run/captured ]] || diag "captured packets: $(</run/captured)"
	# A wrong plan must show in the output too.
	echo "1..${tap_plan:-$tap_count}"
	if [[ $tap_plan ]] && ((tap_plan != tap_count)); then
		diag "planned $tap_plan tests, ran $tap_count"
		exit 1
	fi
	exit $((tap_failed != 0))
}

tap_exit() {
	local status=$?
	# A child that gets a signal before it has started its program still has our traps.
	[[ $BASHPID == "$tap_pid" ]] || exit "$status"
	if [[ $(type -t cleanup) == function ]]; then
		cleanup
	fi
	rm -f "$tap_log" "$tap_log.said"
	if [[ ! $tap_done ]]; then
		tap_result "not ok" "the script ended early with status $status"
		echo "1..$tap_count"
		status=1
	fi
	exit "$status"
}
trap tap_exit EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
