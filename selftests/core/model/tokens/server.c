// SPDX-License-Identifier: GPL-2.0
/* A server: the shipped core between one event and the next. */
#include "core/access.h"
#include "core/serve.h"
#include "world.h"

#define EPOCH_BEFORE	2

/* Client PREFIX_ONLY may have "jobs/…", others everything. */
static const struct bftm_rule rules[] = {
	{ .client_first = PREFIX_ONLY, .client_last = PREFIX_ONLY, .prefix_len = 5, .prefix = "jobs/" },
	{ .client_first = PREFIX_ONLY, .client_last = PREFIX_ONLY, .deny = true },
	{ .client_first = 1, .client_last = BFTM_CLIENT_ID_MAX },
};

static bool shell_permit(void *arg, const struct bftm_msg *req, struct bftm_server_cfg *cfg,
			 struct bftm_msg *reply)
{
	(void)arg;
	return bftm_access_admit(rules, ARRAY_SIZE(rules), req, cfg, reply);
}

static void shell_tokens(void *arg, const struct bftm_msg *req, u64 now, struct bftm_msg *reply)
{
	struct running *r = arg;

	bftm_tokens_answer(&r->tokens, &r->cfg, req, now, WALL_NS, reply);
}

static bool shell_may_be_stamped(void *arg, const struct bftm_msg *req, u64 now)
{
	struct running *r = arg;

	(void)now;
	return bftm_tokens_may_be(&r->tokens, req->token, WALL_NS, 0);
}

static bool shell_enter(void *arg, const struct bftm_protocol *protocol,
			const struct bftm_msg *req, bool make, u64 *now, void **ret)
{
	struct running *r = arg;

	(void)protocol, (void)req, (void)now;
	if (!r->has_lock && make)
		bftm_lock_init(&r->lock, 0, bftm_tokens_top(&r->tokens));
	else if (r->has_lock)
		bftm_lock_learn(&r->lock, bftm_tokens_top(&r->tokens));
	r->has_lock |= make;
	*ret = r->has_lock ? &r->lock : NULL;
	return true;
}

static void shell_leave(void *arg, const struct bftm_protocol *protocol, void *lock,
			const struct bftm_msg *req, u64 now, const struct bftm_sends *sends)
{
	struct running *r = arg;

	(void)protocol, (void)lock, (void)req, (void)now;
	if (sends->reply.type == BFTM_MSG_SACK)
		bftm_tokens_stamped(&r->tokens, sends->reply.gno);
}

static const struct bftm_shell shell = {
	.permit = shell_permit, .tokens = shell_tokens, .may_be_stamped = shell_may_be_stamped,
	.enter = shell_enter, .leave = shell_leave,
};

u64 token_number(u8 code)
{
	return code == NOTHING ? BFTM_TOKEN_UNKNOWN : code == MUCH ? BFTM_TOKEN_FLOOR_MAX : code;
}

u8 token_code(u64 token)
{
	if (token == BFTM_TOKEN_UNKNOWN)
		return NOTHING;
	return token > plan.tokens ? MUCH : (u8)token;
}

/* The owner of a stamp, or of an offer: the holder's or another's. */
static u32 client_of(bool mine, bool namesake)
{
	return mine || !namesake ? 1 : 2;
}

static u64 attempt_of(bool mine, bool namesake)
{
	return mine || namesake ? ATTEMPT : ATTEMPT - 1;
}

void server_load(struct running *r, const struct m_server *s, u32 u, bool namesake)
{
	memset(r, 0, sizeof(*r));
	r->cfg = (struct bftm_server_cfg){
		.cluster = 1, .id = (u16)(u + 1), .rho_ppm = 2000, .epoch = EPOCH,
		.lease_max_ns = 10 * BFTM_NS_PER_SEC, .waiters_max = 1,
		.quarantine_until_ns = s->quarantine ? NOW : NOW - 1,
	};
	r->tokens.floor = token_number(s->floor);
	r->tokens.top = s->hi == NOTHING ? 0 : token_number(s->hi);
	r->has_lock = s->hi != NOTHING;
	if (!r->has_lock)
		return;
	bftm_lock_init(&r->lock, 0, token_number(s->hi));
	r->lock.hi_client = client_of(s->mine, namesake);
	r->lock.hi_attempt = attempt_of(s->mine, namesake);
}

struct bftm_msg server_step(struct running *r, const struct bftm_msg *req)
{
	struct bftm_msg m = *req;
	struct bftm_sends sends;

	m.proto = BFTM_PROTO_BACKOFF;
	m.cluster = r->cfg.cluster;
	m.server = r->cfg.id;
	bftm_serve(&shell, r, &r->cfg, &m, NOW, &sends);
	return sends.reply;
}

static void store(const struct running *r, struct m_server *s)
{
	u8 hi = r->has_lock ? token_code(r->lock.hi) : NOTHING;

	s->mine = hi != NOTHING && r->lock.hi_client == 1 && r->lock.hi_attempt == ATTEMPT;
	s->floor = token_code(r->tokens.floor);
	s->hi = hi;
}

struct bftm_msg serve(struct world *w, u32 u, const struct bftm_msg *req)
{
	struct bftm_msg reply;
	struct running r;

	server_load(&r, &w->server[u], u, w->namesake);
	reply = server_step(&r, req);
	store(&r, &w->server[u]);
	return reply;
}

bool serve_stamp(struct world *w, u32 u, u8 token, bool mine)
{
	return serve(w, u, &(struct bftm_msg){
		.type = BFTM_MSG_STAMP, .client = client_of(mine, w->namesake),
		.attempt = attempt_of(mine, w->namesake), .server_epoch = EPOCH,
		.mode = BFTM_MODE_EX, .token = token,
	}).type == BFTM_MSG_SACK;
}

bool serve_recover(struct world *w, u32 u, u32 client, u8 token, bool before)
{
	u8 floor = w->server[u].floor;

	serve(w, u, &(struct bftm_msg){
		.type = BFTM_MSG_RECOVER, .client = client,
		.server_epoch = before ? EPOCH_BEFORE : EPOCH, .token = token_number(token),
	});
	return w->server[u].floor != floor;
}
