// SPDX-License-Identifier: GPL-2.0
/* The holder of the lock, which asks for a token: the shipped client of locks. */
#include <err.h>

#include "core/backoff/client.h"
#include "core/quorum.h"
#include "world.h"

#define OFFERS	64	/* a token that is not had after so many never is */

struct bftm_client_cfg holder_cfg;

static struct bftm_contend holder;
static struct bftm_out out;

static void hear(u32 u, struct bftm_msg msg)
{
	msg.attempt = ATTEMPT;
	bftm_contend_answer(&holder, &holder_cfg, u, &msg, NOW, 0, &out);
}

/* It has the lock, by all servers, of which the first say that @seen is their highest. */
static void begin(const u64 *seen)
{
	const struct bftm_want want = {
		.lease_ns = 10 * BFTM_NS_PER_SEC, .wait = BFTM_WAIT_QUEUE, .mode = BFTM_MODE_EX,
		.fence = true,
	};
	u32 u;

	memset(&holder, 0, sizeof(holder));
	bftm_contend_start(&holder, &holder_cfg, &want, ATTEMPT, NOW, &out);
	for (u = 0; u < holder_cfg.n && holder.base.phase == BFTM_PHASE_TRY; u++)
		hear(u, (struct bftm_msg){
			.type = BFTM_MSG_FREE, .mode = BFTM_MODE_EX, .k = 1, .gno = 1,
			.token = seen[u], .arg = bftm_mode_mask(BFTM_MODE_EX),
		});
	if (holder.base.phase != BFTM_PHASE_FENCE)
		errx(2, "a holder does not ask for a token");
}

static void begin_with(u8 offer)
{
	u64 seen[SERVERS_MAX];
	u32 u;

	for (u = 0; u < holder_cfg.n; u++)
		seen[u] = offer - 1u;
	begin(seen);
	if (holder.base.token != offer)
		errx(2, "a holder does not offer what comes after what it has seen");
}

u8 holder_offer(u8 before, u8 seen)
{
	static u8 cache[8][8];
	u8 *token = &cache[before][seen];
	u32 u;

	if (*token != 0)
		return *token;
	begin_with(before ? before : seen + 1);
	for (u = 0; u < holder_cfg.n && holder.base.token == before; u++)
		hear(u, (struct bftm_msg){ .type = BFTM_MSG_SNACK, .gno = before, .token = seen });
	*token = token_code(holder.base.token);
	return *token;
}

bool holder_wins(const struct world *w)
{
	/* By the servers that stamped. 0: not looked at yet; 1: no; 2: yes */
	static u8 cache[8][1u << SERVERS_MAX];
	bool won = false;
	u32 u, stamped = 0;

	for (u = 0; u < correct_servers(); u++)
		stamped |= (u32)w->server[u].stamped << u;
	if (cache[w->offered][stamped])
		return cache[w->offered][stamped] == 2;

	begin_with(w->offered);
	for (u = 0; u < holder_cfg.n && !won; u++) {
		if (u < correct_servers() && !(stamped >> u & 1))
			continue;
		hear(u, (struct bftm_msg){ .type = BFTM_MSG_SACK, .gno = w->offered,
					   .token = w->offered });
		won = out.verdict == BFTM_WON;
	}
	cache[w->offered][stamped] = won ? 2 : 1;
	return won;
}

/* One that does not lie answers an offer. Return: has the holder its token? */
static bool is_stamped(struct running *r, u32 u)
{
	hear(u, server_step(r, &(struct bftm_msg){
		.type = BFTM_MSG_STAMP, .client = 1, .attempt = ATTEMPT, .server_epoch = EPOCH,
		.mode = BFTM_MODE_EX, .token = holder.base.token,
	}));
	return out.verdict == BFTM_WON;
}

bool holder_live(const struct world *w)
{
	struct running server[SERVERS_MAX];
	u64 seen[SERVERS_MAX] = { 0 }, token;
	u32 u, i;

	for (u = 0; u < correct_servers(); u++) {
		server_load(&server[u], &w->server[u], u, false);
		if (known(&w->server[u]) != NOTHING)
			seen[u] = token_number(known(&w->server[u]));
	}
	begin(seen);
	for (i = 0; i < OFFERS && holder.base.phase == BFTM_PHASE_FENCE; i++) {
		token = holder.base.token;
		for (u = 0; u < correct_servers() && holder.base.token == token; u++)
			if (is_stamped(&server[u], u))
				return true;
		if (holder.base.token == token)
			bftm_contend_wake(&holder, &holder_cfg, holder.base.wake_ns, ATTEMPT + 1, 0,
					  &out);
	}
	return false;
}
