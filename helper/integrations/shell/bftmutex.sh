# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Locks of a cluster for parts of a shell script; for any shell of POSIX:
#
#	. /usr/share/bftmutex/bftmutex.sh
#	bftmutex_lock 9 accounts --wait 10 --fence || exit
#	bftmutex_step 9 store --token "$BFTMUTEX_TOKEN" ... || exit
#	bftmutex_unlock 9 || echo "the lock was lost on the way" >&2
#
# The lock belongs to the descriptor, 3 to 9, which commands that the script starts inherit. No
# process watches the lease: bftmutex_step and bftmutex_held check it. See bftmutex(1), --fd.

# bftmutex_lock FD NAME [OPTION...]: open the descriptor and take the lock, with options of
# bftmutex(1), such as --shared, whose exit status it returns. Sets BFTMUTEX_DEADLINE_NS,
# BFTMUTEX_MODE, BFTMUTEX_TOKEN with --fence, and BFTMUTEX_VALUE with --value if it is valid. The
# descriptor is closed again when there is no lock. One that has a lock keeps it: the status is 65.
bftmutex_lock() {
	case $1 in
	[3-9]) ;;
	*) echo "bftmutex_lock: descriptor '$1': must be 3 to 9" >&2; return 64 ;;
	esac
	# The redirection below would end the shell if it failed.
	if ! [ -r "${BFTMUTEX_DEVICE:=/dev/bftmutex}" ]; then
		echo "bftmutex_lock: $BFTMUTEX_DEVICE is missing, or you may not open it" >&2
		return 66
	fi
	if bftmutex --fd "$1" --held 2>/dev/null; then
		echo "bftmutex_lock: descriptor $1 has a lock already: take another of 3 to 9, or bftmutex_unlock $1 first" >&2
		return 65
	fi
	eval "exec $1<\"\$BFTMUTEX_DEVICE\""
	bftmutex__fd=$1 bftmutex__name=$2
	shift 2
	unset BFTMUTEX_TOKEN BFTMUTEX_MODE BFTMUTEX_DEADLINE_NS BFTMUTEX_VALUE
	if bftmutex__granted=$(bftmutex --fd "$bftmutex__fd" --print "$@" -- "$bftmutex__name"); then
		eval "$bftmutex__granted"
	else
		set -- $?
		eval "exec $bftmutex__fd<&-"
		return "$1"
	fi
}

# bftmutex_convert FD [OPTION...]: hold the lock in another mode, by --shared, --exclusive or --mode,
# with --nonblock, --wait or --fence, see --convert of bftmutex(1), whose exit status it returns. Sets
# what bftmutex_lock sets; unless it is 0, all stays as it was.
bftmutex_convert() {
	bftmutex__fd=$1
	shift
	bftmutex__granted=$(bftmutex --fd "$bftmutex__fd" --convert --print "$@") || return
	unset BFTMUTEX_TOKEN BFTMUTEX_VALUE
	eval "$bftmutex__granted"
}

# bftmutex_value FD: sets BFTMUTEX_VALUE to the value of the lock that was taken with --value, as
# hexadecimal digits, or unsets it when the value is not valid; see --value of bftmutex(1). To leave
# another: bftmutex --fd FD --set-value HEX
bftmutex_value() {
	bftmutex__granted=$(bftmutex --fd "$1" --value) || return
	unset BFTMUTEX_VALUE
	eval "$bftmutex__granted"
}

# bftmutex_held FD: 0 while the lock is held, 79 when it was lost, 65 when there is none
bftmutex_held() { bftmutex --fd "$1" --held; }

# bftmutex_step FD COMMAND [ARG...]: the command's exit status, but 79 without running it when the
# lock was lost before, and 79 after it when the lock was lost meanwhile.
bftmutex_step() {
	bftmutex_held "$1" || return
	if bftmutex__run "$@"; then set -- "$1" 0; else set -- "$1" $?; fi
	bftmutex_held "$1" && return "$2"
}
bftmutex__run() { shift && "$@"; }

# bftmutex_unlock FD: give the lock back and close the descriptor; 79 when it was lost before
bftmutex_unlock() {
	bftmutex__status=0
	bftmutex --fd "$1" --unlock || bftmutex__status=$?
	eval "exec $1<&-"
	return "$bftmutex__status"
}
