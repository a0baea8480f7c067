// SPDX-License-Identifier: GPL-2.0
#include "algorithms.h"

const struct peer_algorithm *const peer_algorithms[] = {
	&peer_central,
	&peer_ring,
	&peer_ricart,
	&peer_maekawa,
	&peer_inquire,
	&peer_sanders,
	&peer_election_ring,
	&peer_bully,
	&peer_basic,
	&peer_reliable,
	&peer_multicast_fifo,
	&peer_causal,
	&peer_sequencer,
	&peer_isis,
	&peer_rounds,
	&peer_generals,
	&peer_snapshot,
	&peer_strawman,
	&peer_sigma,
	&peer_contend,
	&peer_ours,
	&peer_kim,
	&peer_kim_storage,
	NULL
};
