/* SPDX-License-Identifier: GPL-2.0 */
/* What Eva takes for granted of a client's arithmetic; wp_quorum.c and wp_client.c prove it. */
#ifndef PROOF_CLIENT_CONTRACTS_H
#define PROOF_CLIENT_CONTRACTS_H

#include "core/backoff/contend.h"

/*@ requires n <= 31 && \valid_read(value + (0 .. n - 1));
  @ assigns \result \from value[0 .. n - 1], n, k;
  @*/
u64 bftm_kth_largest(const u64 *value, u32 n, u32 k);

/*@ requires \valid_read(c) && \valid_read(cfg);
  @ requires 1000000 <= c->want.lease_ns <= 3600000000000;
  @ requires 1000 <= cfg->delta_ns <= 60000000000;
  @ assigns \result \from *c, *cfg, rnd;
  @*/
static u64 draw_sleep(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 rnd);

/*@ assigns \result \from *c, *cfg, most; */
u64 bftm_quarantine_left(const struct bftm_contend *c, const struct bftm_client_cfg *cfg,
			 u64 most);

#endif
