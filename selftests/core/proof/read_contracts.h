/* SPDX-License-Identifier: GPL-2.0 */
/* A client reads a value that more than those servers tell which may not know the last. */
#ifndef PROOF_READ_CONTRACTS_H
#define PROOF_READ_CONTRACTS_H

#define PROOF_VALUE_TOLD
#include "client_contracts.h"

/*@ logic integer told_surely{L}(struct bftm_contend *c, integer good, integer now, integer n) =
  @   n <= 0 ? 0 : told_surely(c, good, now, n - 1) +
  @   (c->server[n - 1].k != 0 && c->server[n - 1].value_told != 0 &&
  @    c->server[n - 1].value_doubt == 0 && c->server[n - 1].from_ns + good >= now ? 1 : 0);
  @*/

#define CLIENT_READS CLIENT_OK && TIMES_OK && time_ok(now)
#define SURELY(n) told_surely((struct bftm_contend *)c, GOOD, now, n)

/*@ requires CLIENT_READS && u < cfg->n;
  @ assigns \nothing;
  @ ensures good: \result <==> c->server[u].k != 0 && c->server[u].value_told != 0 &&
  @   c->server[u].from_ns + GOOD >= now;
  @*/
static bool is_told(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u, u64 now);

/*@ assigns \nothing; */
static bool same(const struct bftm_answer *a, const struct bftm_answer *b);

/*@ requires CLIENT_READS && u < cfg->n;
  @ assigns \nothing;
  @ ensures surely: \result <= SURELY(cfg->n);
  @ ensures most: \result <= cfg->n;
  @*/
static u32 agreeing(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u, u64 now);

/*@ requires \valid_read(cfg) && 1 <= cfg->n <= 31 && 3 * cfg->b + 1 <= cfg->n;
  @ requires m_ok(cfg->n, cfg->b, cfg->m);
  @ assigns \nothing;
  @ ensures share: \result + win(cfg->n, cfg->b, cfg->m) - cfg->n == cfg->b + 1;
  @*/
static u32 agreement_needed(const struct bftm_client_cfg *cfg);

/*@ requires CLIENT_READS && \valid(most) && \separated(most, c, cfg);
  @ assigns *most;
  @ ensures there: \result <= cfg->n;
  @ ensures enough: \result < cfg->n ==>
  @   SURELY(cfg->n) + win(cfg->n, cfg->b, cfg->m) - cfg->n >= cfg->b + 1;
  @ ensures good: \result < cfg->n ==> c->server[\result].k != 0 && c->server[\result].value_told != 0 &&
  @   c->server[\result].value_doubt == 0 && c->server[\result].from_ns + GOOD >= now;
  @*/
static u32 valid_one(const struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		     u32 *most);

#endif
