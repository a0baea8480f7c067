/* SPDX-License-Identifier: GPL-2.0 */
/* The promises of admit.h: what a server decides before a protocol does, and tokens. */
#ifndef PROOF_ADMIT_CONTRACTS_H
#define PROOF_ADMIT_CONTRACTS_H

#include "lease_contracts.h"
#include "core/admit.h"

#define TOKENS_OK (t->floor == UNKNOWN || t->floor <= BFTM_TOKEN_FLOOR_MAX)

/*@ requires lease_ok(lease_max_ns) && rho_ok(rho_ppm) && time_ok(now);
  @ assigns \nothing;
  @ ensures \result == now + at_server(lease_max_ns, rho_ppm);
  @*/
u64 bftm_quarantine(u64 lease_max_ns, u32 rho_ppm, u64 now);

/*@ requires \valid_read(cfg) && \valid_read(req);
  @ assigns \nothing;
  @ ensures \result <==> req->cluster == cfg->cluster && req->server == cfg->id &&
  @   (req->type & BFTM_MSG_REPLY) == 0;
  @*/
bool bftm_admit_address(const struct bftm_server_cfg *cfg, const struct bftm_msg *req);

/*@ requires \valid_read(req) && \valid(reply) && \separated(req, reply);
  @ assigns *reply;
  @ ensures word: reply->type == type && reply->gno == req->gno && reply->seq == req->seq;
  @*/
static void repeat_word(const struct bftm_msg *req, struct bftm_msg *reply, u8 type);

/*@ requires \valid_read(req) && \valid(reply) && \separated(req, reply) && 0 <= reason <= 255;
  @ assigns *reply;
  @ ensures reply->type == BFTM_MSG_REFUSED && reply->arg == reason &&
  @   reply->token == 0;
  @*/
void bftm_refuse(const struct bftm_msg *req, struct bftm_msg *reply, enum bftm_refusal reason);

/*@ requires \valid_read(w) && \valid_read(req) && \valid(reply) && \separated(w, req, reply);
  @ requires req->seq <= w->top;
  @ assigns *reply;
  @ ensures hello: \result ==> req->type == BFTM_MSG_HELLO && req->server_epoch == 0 &&
  @   req->seq != 0 && req->seq / 64 + 16 <= w->top / 64;
  @ ensures told: \result ==> reply->type == BFTM_MSG_REFUSED &&
  @   reply->arg == BFTM_REFUSED_BEHIND && reply->gno == w->top;
  @ ensures silent: !\result ==> *reply == \old(*reply);
  @*/
bool bftm_refuse_behind(const struct bftm_window *w, const struct bftm_msg *req,
			struct bftm_msg *reply);

#define TO_BE_ADMITTED (req->server_epoch == cfg->epoch &&		\
	req->type != BFTM_MSG_HELLO && req->type != BFTM_MSG_RECOVER)

#define CHALLENGED reply->type == BFTM_MSG_CHALLENGE && reply->token == 0 && \
	reply->spared == cfg->spared && \
	reply->gno == (now <= cfg->quarantine_until_ns ? cfg->quarantine_until_ns - now + 1 : 0)

/*@ requires \valid_read(cfg) && \valid_read(req) && \valid(reply);
  @ requires \separated(cfg, req, reply) && time_ok(now) && time_ok(cfg->quarantine_until_ns);
  @ assigns *reply;
  @ ensures CHALLENGED;
  @*/
static void challenge(const struct bftm_server_cfg *cfg, const struct bftm_msg *req, u64 now,
		      struct bftm_msg *reply);

/*@ requires \valid_read(cfg) && \valid_read(req) && \valid(reply);
  @ requires \separated(cfg, req, reply) && time_ok(now) && time_ok(cfg->quarantine_until_ns);
  @ assigns *reply;
  @ ensures this_start: \result <==> TO_BE_ADMITTED;
  @ ensures silent: \result ==> *reply == \old(*reply);
  @ ensures challenge: !\result && (req->type == BFTM_MSG_HELLO || req->type == BFTM_MSG_RECOVER) ==>
  @   CHALLENGED;
  @ ensures stale: !\result && req->type != BFTM_MSG_HELLO && req->type != BFTM_MSG_RECOVER ==>
  @   reply->type == BFTM_MSG_STALE;
  @*/
bool bftm_admit(const struct bftm_server_cfg *cfg, const struct bftm_msg *req, u64 now,
		struct bftm_msg *reply);

/*@ requires \valid_read(t);
  @ assigns \nothing;
  @ ensures highest: \result == (t->floor > t->top ? t->floor : t->top);
  @*/
static inline u64 bftm_tokens_top(const struct bftm_tokens *t);

/*@ requires \valid_read(t) && TOKENS_OK && time_ok(up_ns);
  @ assigns \nothing;
  @ ensures \result <==> token <= wall_ns || (t->floor != UNKNOWN && token <= t->floor + up_ns);
  @*/
static inline bool bftm_tokens_may_be(const struct bftm_tokens *t, u64 token, u64 wall_ns,
				      u64 up_ns);

/*@ requires \valid(t);
  @ assigns t->top;
  @ ensures t->top == (token > \old(t->top) ? token : \old(t->top));
  @*/
static inline void bftm_tokens_stamped(struct bftm_tokens *t, u64 token);

/*@ requires \valid_read(t) && \valid_read(cfg) && \valid_read(req);
  @ assigns \nothing;
  @ ensures after: \result <==> req->type == BFTM_MSG_RECOVER && req->server_epoch == cfg->epoch &&
  @   t->floor == UNKNOWN && now > cfg->quarantine_until_ns;
  @*/
static bool may_learn(const struct bftm_tokens *t, const struct bftm_server_cfg *cfg,
		      const struct bftm_msg *req, u64 now);

/* A floor is believed once, from who was asked after the quarantine, and not above the clock. */
/*@ requires \valid(t) && TOKENS_OK && \valid_read(cfg) && \valid_read(req) && \valid(reply);
  @ requires \separated(t, cfg, req, reply);
  @ assigns t->floor, *reply;
  @ ensures TOKENS_OK;
  @ ensures learnt: t->floor != \old(t->floor) ==> \old(t->floor) == UNKNOWN &&
  @   req->type == BFTM_MSG_RECOVER && req->server_epoch == cfg->epoch &&
  @   now > cfg->quarantine_until_ns && t->floor == req->token && req->token <= wall_ns;
  @ ensures left: \old(reply->type) != BFTM_MSG_CHALLENGE ==> *reply == \old(*reply) &&
  @   t->floor == \old(t->floor);
  @ ensures told: reply->type == BFTM_MSG_CHALLENGE ==>
  @   reply->token == (t->floor > t->top ? t->floor : t->top);
  @ ensures refused: reply->type != \old(reply->type) ==> reply->type == BFTM_MSG_REFUSED &&
  @   reply->arg == BFTM_REFUSED_CLOCK && t->floor == \old(t->floor);
  @*/
void bftm_tokens_answer(struct bftm_tokens *t, const struct bftm_server_cfg *cfg,
			const struct bftm_msg *req, u64 now, u64 wall_ns, struct bftm_msg *reply);

#endif
