/* SPDX-License-Identifier: GPL-2.0 */
/* Each algorithm is a file; algorithms.c has the table. */
#ifndef BFTM_PEER_ALGORITHMS_H
#define BFTM_PEER_ALGORITHMS_H

#include "peer.h"

extern const struct peer_algorithm peer_central;
extern const struct peer_algorithm peer_ring;
extern const struct peer_algorithm peer_ricart;
extern const struct peer_algorithm peer_maekawa;
extern const struct peer_algorithm peer_inquire;
extern const struct peer_algorithm peer_sanders;
extern const struct peer_algorithm peer_election_ring;
extern const struct peer_algorithm peer_bully;
extern const struct peer_algorithm peer_basic;
extern const struct peer_algorithm peer_reliable;
extern const struct peer_algorithm peer_multicast_fifo;
extern const struct peer_algorithm peer_causal;
extern const struct peer_algorithm peer_sequencer;
extern const struct peer_algorithm peer_isis;
extern const struct peer_algorithm peer_rounds;
extern const struct peer_algorithm peer_generals;
extern const struct peer_algorithm peer_snapshot;
extern const struct peer_algorithm peer_strawman;
extern const struct peer_algorithm peer_sigma;
extern const struct peer_algorithm peer_contend;
extern const struct peer_algorithm peer_ours;
extern const struct peer_algorithm peer_kim;
extern const struct peer_algorithm peer_kim_storage;

#endif /* BFTM_PEER_ALGORITHMS_H */
