#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check: vm clock=instructions time=25
#
# Server 4 lies, in every way there is: nobody enters while another is inside, everybody gets in,
# and the clients name the liar and nobody else. They name each lie that no honest server can tell;
# a late answer is no lie.
#
#
#	bftm-c1 … bftm-c4, four contenders each ---- bridge ---- bftm-s1 … bftm-s7
#
# Functions are called by name, load may have no arguments, and variables are
# shared with the libraries.
# shellcheck disable=SC2317,SC2119,SC2154,SC2034
set -u

# shellcheck source=selftests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=selftests/lib/cluster.sh
. "$(dirname "$0")/../../lib/cluster.sh"

count=16
entries_each=5
# A contender that polls loses many rounds, in which liars can be seen.
polling=4
lease_max=600ms

cleanup() {
	kill_liar 4
	down
}

# named WANT: the suspicions of all clients together. A client may have met too few lies, but no
# client may suspect another server.
named() {
	local n
	for n in $(clients); do
		c "$n" bftmutexctl servers --json
	done >"$dev/known"
	all=$(gojq -rs '[.[].clusters[0].servers[] | select(.suspect) | .id] | unique |
		map(tostring) | join(" ")' "$dev/known")
	[[ $all == "$1" ]] && return
	echo "suspects: '$all' instead of '$1'"
	gojq -r '.clusters[0] | .client as $client | .servers[] |
		"client \($client): server \(.id) \(.state), rounds \(.rounds), disagreed \(.disagreed), lies \(.lies), late \(.late), repeated \(.repeated), bad \(.bad) \(.evidence | join(", "))"' "$dev/known"
	return 1
}

# known WANT LOCK: as named; but evidence comes by chance, so the clients go on while no server is
# suspected. If half of the turns give none, 21 turns give none with a probability of 2^-21, 5 in
# 10^7; most often the first turn is enough.
known() {
	local i
	for i in {1..20}; do
		named "$1" && return
		[[ $1 && ! $all ]] || return
		contend $count --entries $entries_each --lock "$2" --lease 0.3 \
			--hold 25 --timeout 30 && counted $((count * entries_each)) &&
			no_overlap || return
	done
	named "$1"
}

# judge DESC LOCK SUSPECTS: contend, and look
judge() {
	local desc=$1 lock=$2 begin=$SECONDS n
	tune || bail "the helpers do not take their configuration"
	ok "$desc: all complete" contend $count --entries $entries_each --lock "$lock" \
		--lease 0.3 --hold 25 --jitter 5 --pause 30 --timeout 30
	ok "$desc: no entry is lost" counted $((count * entries_each))
	ok "$desc: one at a time" no_overlap
	ok "$desc: suspects are '$3'" known "$3" "$lock"
	diag "$desc: $((SECONDS - begin)) s"
}

load || bail "module"
up --servers 7 -b 1 --clients 4 --lease-max $lease_max || bail "no cluster"
# Short sleeps: many rounds are lost, and so are many occasions to lie used.
tune 'delta = 5ms' 'retry-max = 400ms' || bail "configuration"

strategies=(silent always-free always-locked equivocate late replay duplicate)
! short || strategies=(silent equivocate replay)
for strategy in "${strategies[@]}"; do
	lie 4 "$strategy" --lease-max $lease_max --seed "$RANDOM" || bail "no liar"
	suspect=4
	# Silence proves nothing, and neither does delay: it may be the network.
	[[ $strategy != silent && $strategy != late ]] || suspect=
	judge "$strategy" "7-$strategy" "$suspect"
	[[ $strategy != late ]] ||
		is "late: it is slow" "$(gojq -rs '[.[].clusters[0].servers[] | select(.id == 4) | .state] |
			unique | join(" ")' "$dev/known")" slow
done

# Lies that no network can cause, and their names. A grant is seldom asked for a second time here,
# so test_contradiction tests the lie that takes it back.
declare -A lies=(
	[new-epochs]="changed its epoch as no restart does"
	[ahead]="granted what was not asked for yet"
	[other-attempt]="answered what it was not asked"
	[false-priority]="told a priority that nobody can have"
	[false-position]="told a place or a wait that no queue has"
)
# each_named: clients have met all of them. Until then they go on.
each_named() {
	local i strategy missing
	for i in {1..20}; do
		named 4 || return
		missing=
		for strategy in "${!lies[@]}"; do
			gojq -es --arg lie "${lies[$strategy]}" 'any(.[].clusters[0].servers[];
				.id == 4 and any(.evidence[]; startswith($lie)))' "$dev/known" >/dev/null ||
				missing+=" $strategy"
		done
		[[ $missing ]] || return 0
		contend $count --entries $entries_each --lock each --lease 0.3 --hold 25 \
			--timeout 30 && no_overlap || return
	done
	echo "not named:$missing"
	return 1
}
every=${!lies[*]}
lie 4 "${every// /,}" --lease-max $lease_max --seed "$RANDOM" || bail "no liar"
judge "impossible lies" 7-impossible 4
ok "impossible lies: each is named for what it is" each_named

# With four servers no honest one is dispensable: each must grant.
for n in $(clients); do
	sed -i '/server [567] /d' "$dev/c$n/bftmutex.conf"
done
strategies=(always-free equivocate)
! short || strategies=(equivocate)
for strategy in "${strategies[@]}"; do
	lie 4 "$strategy" --lease-max $lease_max --seed "$RANDOM" || bail "no liar"
	judge "4 servers, $strategy" "4-$strategy" 4
done
finish
