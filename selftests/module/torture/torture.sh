#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm tier=all kernels=6.1,6.12,6.1-rt,6.1-debug,6.12-debug,6.1-kcsan,6.12-kcsan clock=instructions time=20
# check: vm name=torture-long tier=all clock=instructions mem=1024 set=BFTMUTEX_HOSTS=3 scale=BFTMUTEX_SECONDS:120 time=900
#
# Locks under everything that may befall them, by a schedule that the seed draws: one
# holder at a time, tokens grow, no update is lost, nobody is told what is not so, and
# when it is over each lock is had again soon.
#
#
#	bftm-c1 … bftm-c3 ---- bridge ---- bftm-s1 … bftm-s6    b = 1, s1 lies
#
# Even seeds have n = 6 = 5b + 1 servers and tokens, odd ones n = 4 = 3b + 1 without, for
# with so few tokens do not outlive restarts.
#
# BFTMUTEX_SECONDS is how long (120 by "make torture"), BFTMUTEX_SEED repeats it. With
# BFTMUTEX_KEEP=DIR, such as /run/share, schedule and histories are kept there.
#
# Functions are called by name, load may have no arguments, and variables are
# shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"
# shellcheck source=selftests/module/torture/nemesis.sh
. "$(dirname "$0")/../torture/nemesis.sh"

seconds=${BFTMUTEX_SECONDS:-4}
servers=6 plain=()
((BFTMUTEX_SEED % 2 == 0)) || { servers=4 plain=(--plain); }
many=${BFTMUTEX_HOSTS:-2}
processes=2
# The last one is held without a lease.
locks=4
lease_max=400
delta=5
# After all has healed: 10 × (Δ + 2δ)
bound=$((10 * (lease_max + 2 * delta)))
work=$(mktemp -d)
teeth=$(mktemp -d)
mkfifo "$work/never"
loads=()
watchers=()
strategies=()

cleanup() {
	local n
	# Nobody would end reading a pipe.
	rm -f "$work/never"
	[[ ! ${BFTMUTEX_KEEP:-} ]] || cp "$work"/* "$BFTMUTEX_KEEP"
	stop_jobs
	for ((n = 1; n <= servers; n++)); do
		kill_liar "$n"
	done
	down
	rm -rf "$work" "$teeth"
}

start_clients() {
	local n
	loads=()
	for n in $(clients); do
		netns_exec "bftm-c$n" torture_client --dir "$work" --name "c$n" --locks $locks \
			--lease $lease_max --processes $processes \
			--seed $((BFTMUTEX_SEED * 100 + n)) --lasting "${plain[@]}" &
		loads+=($!)
	done
}

entered_all() {
	local healed n
	healed=$(awk '$2 == "heal" { print $1 }' "$work/history.marks")
	for ((n = 1; n <= locks; n++)); do
		awk -v healed="$healed" -v lock="l$n" '$2 == "enter" && $4 == lock && $1 > healed \
			{ found = 1; exit } END { exit !found }' "$work"/history.c* || return
	done
}

# Clients have to ask for it.
all_know() {
	local n
	for ((n = 2; n <= servers; n++)); do
		knows_tokens "$n" || return
	done
}

# The worst of all clients; those that were killed on purpose do not count.
end_clients() {
	local pid worst=0
	touch "$work/stop"
	for pid in "${loads[@]}"; do
		wait "$pid" || worst=$?
	done
	return $worst
}

note_counters() {
	local file
	for file in "$work"/counter.*; do
		[[ -e $file ]] || continue	# without tokens there is none
		mark final - "${file##*.}" "$(od -An -t u8 -j 8 -N 8 "$file" | tr -d ' ')"
	done
}

# Is it found out when servers that can win a round alone say FREE to everybody?
too_many_liars() {
	local n work=$teeth found
	plain=(--plain)
	for ((n = 1; n <= (servers + 3) / 2; n++)); do
		lie "$n" always-free --lease-max "${lease_max}ms" --no-quarantine || return
	done
	start_clients
	wait_for 60 is_found
	found=$?
	end_clients
	return $found
}
is_found() {
	cat "$work"/history.* >"$work/all"
	! bftmutex-history "$work/all" >"$work/found" && grep '^overlap' "$work/found"
}

preload bftmutexctl bftmutexd bftmutex-liar bftmutex-history bftmutex-lin torture_client gojq
perl "$top/selftests/module/torture/schedule" "$BFTMUTEX_SEED" "$seconds" "$servers" "$many" \
	$processes $lease_max >"$work/schedule" || bail "no schedule"
diag "$(wc -l <"$work/schedule") lines of schedule $(md5sum <"$work/schedule" | cut -c-8)," \
	"again by: BFTMUTEX_SEED=$BFTMUTEX_SEED BFTMUTEX_SECONDS=$seconds BFTMUTEX_HOSTS=$many" \
	"selftests/vm/run --icount --mem 1024 --timeout 14400 -- selftests/module/torture/torture.sh"
# Of so many objects the kernel's log would overrun.
load dyndbg=-p || bail "module"
modprobe sch_netem || bail "sch_netem"
up --servers "$servers" -b 1 --clients "$many" --lease-max ${lease_max}ms || bail "no cluster"
tune "delta = ${delta}ms" "retry-max = ${lease_max}ms" 'leaseless = yes' || bail "configuration"
sed -i "s|^}|\taccess { client = 1-$many  prefix = \"l$locks\"  leaseless = yes }\n\taccess { client = any }\n}|" \
	"$dev/servers/bftmutex.conf"
for ((n = 1; n <= servers; n++)); do
	s $n bftmutexctl server access set --state "$dev/servers" --config "$dev/servers/bftmutex.conf" >/dev/null ||
		bail "rules of server $n"
done
mapfile -t everyone < <(clients | sed 's/^/c/'; seq -f s%g "$servers")

start_clients
nemesis "$work/schedule"
heal
diag "nemesis: $(for word in "${!done_of[@]}"; do echo "${done_of[$word]} $word"; done |
	sort -k2 | paste -sd,)"
diag "server 1 lied: $(printf '%s\n' "${strategies[@]}" | sort | uniq -c | awk '{ print $1, $2 }' |
	paste -sd,)"
ok "healed: every lock is had again" wait_for 60 entered_all
[[ ${plain[*]} ]] || ok "healed: servers have learned the tokens again" wait_for 60 all_know
ok "all come to their end" end_clients
((${#watchers[@]} == 0)) || wait "${watchers[@]}"
note_counters
cat "$work"/history.* >"$work/all"
ok "one at a time" bftmutex-history --heal $bound --lin "$work/lin" "$work/all"
diag "$(bftmutex-history --heal $bound "$work/all" | tail -n 20)"
ok "some are inside" test "$(grep -c ' enter ' "$work/all")" -ge $((2 * seconds))
[[ ${plain[*]} ]] ||
	ok "counters are linearizable" bftmutex-lin --quiet --model counter "$work/lin"
ok "two holders are found when too many servers lie" too_many_liars
diag "$(tail -n 1 "$teeth/found")"
finish
