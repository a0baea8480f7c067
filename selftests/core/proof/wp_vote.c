// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_vote_begin: nobody has said anything
// prove: wp bftm_vote_refused: refused for a reason that more than b servers gave
// prove: wp vote_same: looks only
// prove: wp bftm_vote_count: the server that just answered, or none; what is kept of an answer fits its place
#include "core/ordering/client.h"
#include "quorum_contracts.h"

/*@ predicate vote_ok{L}(struct bftm_vote *v) =
  @   \forall integer u; 0 <= u < 31 ==> v->said[u].data_len <= BFTM_ORDER_SAID_MAX;
  @ axiomatic Reasons {
  @   // How many of the first n servers refused for that reason.
  @   logic integer refused_for{L}(u32 *refusal, integer reason, integer n)
  @     reads refusal[0 .. n - 1];
  @   axiom none{L}: \forall u32 *refusal, integer reason, n;
  @     n <= 0 ==> refused_for(refusal, reason, n) == 0;
  @   axiom next{L}: \forall u32 *refusal, integer reason, n; n >= 0 ==>
  @     refused_for(refusal, reason, n + 1) == refused_for(refusal, reason, n) +
  @     (refusal[n] == reason ? 1 : 0);
  @ }
  @*/

/*@ requires \valid(v) && vote_ok(v);
  @ assigns v->op, v->offset, v->heard, v->refusal[0 .. 30];
  @ ensures v->heard == 0 && v->op == op && v->offset == offset;
  @ ensures \forall integer u; 0 <= u < 31 ==> v->refusal[u] == 0;
  @ ensures vote_ok(v);
  @*/
void bftm_vote_begin(struct bftm_vote *v, u64 op, u32 offset);

/*@ requires \valid(refusal + (0 .. 30)) && \valid_read(cfg) && u < cfg->n <= 31;
  @ requires \separated(refusal + (0 .. 30), cfg);
  @ assigns refusal[u];
  @ ensures noted: refusal[u] == reason;
  @ ensures most: \result <==> reason != 0 && refused_for(refusal, reason, cfg->n) > cfg->b;
  @*/
bool bftm_vote_refused(u32 refusal[BFTM_SERVERS_MAX], const struct bftm_order_cfg *cfg, u32 u,
		       u32 reason);

/*@ requires \valid_read(v) && vote_ok(v) && a < 31 && b < 31;
  @ assigns \nothing;
  @*/
static bool vote_same(const struct bftm_vote *v, u32 a, u32 b);

/*@ requires \valid(v) && vote_ok(v) && \valid_read(cfg) && u < cfg->n <= 31 && \valid_read(msg);
  @ requires \valid_read(msg->data + (0 .. msg->data_len - 1));
  @ requires \separated(v, cfg, msg, msg->data + (0 .. msg->data_len - 1));
  @ assigns v->said[u], v->heard;
  @ ensures ok: vote_ok(v);
  @ ensures that_one: \result == -1 || \result == u;
  @*/
int bftm_vote_count(struct bftm_vote *v, const struct bftm_order_cfg *cfg, u32 u,
		    const struct bftm_order_msg *msg);

#include "core/ordering/vote.c"
