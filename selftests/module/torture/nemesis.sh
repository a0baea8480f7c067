# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# check: part
#
# Causes the faults that "schedule" draws in a cluster. Source it after cluster.sh.
#
# Called by name, and shared with the script.
# shellcheck disable=SC2317,SC2154,SC2034

declare -A done_of=()	# how often each word was obeyed

# mark WHAT WHO LOCK [NUMBER...]: a line of the history
mark() { echo "$(now_ns) $*" >>"$work/history.marks"; }

# nemesis FILE: until it is through. Ends with the time of the guest at each of its lines.
nemesis() {
	local at word rest begin now
	begin=$(now_ns)
	while read -r at word rest; do
		now=$((($(now_ns) - begin) / 1000000))
		# Not a wait for something: it is the schedule that says when.
		((at <= now)) || read -r -t "$(printf '%d.%03d' $(((at - now) / 1000)) \
			$(((at - now) % 1000)))" <>"$work/never"
		# shellcheck disable=SC2086  # words
		"do_$word" $rest
		done_of[$word]=$((${done_of[$word]:-0} + 1))
	done <"$1"
}

signal() { torture_client --dir "$work" --name "$1" --signal "$2"; }
do_kill() { signal "$1" KILL; }
do_stop() { signal "$1" STOP; }
do_cont() { signal "$1" CONT; }

hosts_of() { if [[ $1 == all ]]; then echo "${everyone[@]}"; else echo "$1"; fi; }

do_net() {
	local hosts
	read -ra hosts <<<"$(hosts_of "$1")"
	netem "${hosts[@]}" -- "${@:2}"
}
do_mute() { netem "$1" -- loss 100%; }
do_deaf() { deaf "$1"; }
do_hearing() { hearing "$1" 2>/dev/null || :; }
do_cut() { do_mute "$1" && do_deaf "$1"; }
do_joined() { do_net "$1" && do_hearing "$1"; }

# The daemon of a client, killed and started again.
do_daemon() {
	kill_helper "$1"
	start_helper "$1" || diag "nemesis: daemon $1 did not start: $(tail -n 3 "$dev/c$1/log")"
}

# The configuration of one daemon.
do_fast() {
	local conf=$dev/c$1/bftmutex.conf
	sed -i -e '/^\tfast-path = /d' -e "s/^cluster .*/&\n\tfast-path = $2/" "$conf"
	kill -HUP "$(helper "$1")"
}

server() { s "$1" bftmutexctl server show --json | gojq -r "$2"; }
# knows_tokens SERVER: since its last restart it has been told
knows_tokens() { [[ $(server "$1" .token_floor) != null ]]; }

# One at a time may have forgotten tokens: that is what the protocol promises to survive.
do_restart() {
	local n
	for ((n = 2; n <= servers; n++)); do
		[[ ${plain[*]} ]] || knows_tokens "$n" || {
			diag "nemesis: server $1 is not restarted: $n does not know tokens yet"
			done_of[skipped]=$((${done_of[skipped]:-0} + 1))
			return
		}
	done
	s "$1" bftmutexctl server stop >/dev/null
	honest "$1" --lease-max "${lease_max}ms" --config "$dev/servers/bftmutex.conf"
	watch_quarantine "$1" &
	watchers+=($!)
}

# Records the quarantine that a server reports, until it is over.
watch_quarantine() {
	local left granted
	while read -r left granted < <(server "$1" '"\(.quarantine_ns) \(.stats.granted)"'); do
		echo "$(now_ns) granted s$1 - $left $granted" >>"$work/history.quarantine.$1"
		((left > 0)) || return 0
	done
}

do_lie() {
	strategies+=("$1")
	lie 1 "$1" --lease-max "${lease_max}ms" --seed "$RANDOM" ||
		diag "nemesis: no liar: $(cat "$dev/liar-1.out")"
}
do_honest() {
	s 1 bftmutexctl server stop >/dev/null 2>&1
	honest 1 --lease-max "${lease_max}ms" --config "$dev/servers/bftmutex.conf"
}

# Everything as it was, but for the server that lies.
heal() {
	local host slot
	netem "${everyone[@]}"
	for host in "${everyone[@]}"; do
		do_hearing "$host"
	done
	for slot in "$work"/pid.*; do
		do_cont "${slot##*/pid.}"
	done
	mark heal - -
}
