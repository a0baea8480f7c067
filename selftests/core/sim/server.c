// SPDX-License-Identifier: GPL-2.0
/*
 * A server around the core, as kmod/server/server.c and kmod/life.c have it: address,
 * sequence number, epoch, tokens, the protocol's step, and what it pushes.
 */
#include "core/access.h"
#include "core/serve.h"
#include "order.h"
#include "record.h"
#include "story.h"

/* They and their evictions are in its configuration, and in its roll: these outlast a restart. */
static void setup_members(struct world *w, struct server *s)
{
	u32 x;

	if (!w->plan->leaseless)
		return;
	s->members.count = w->plan->clients;
	s->members.roll = w->plan->roll;
	s->members.member = arena_array(&w->arena, struct bftm_member, w->plan->clients);
	for (x = 0; x < w->plan->clients; x++)
		s->members.member[x].client = x;
}

void server_setup(struct world *w, u32 u)
{
	struct server *s = &w->server[u];
	u32 i;

	s->lies = u < w->plan->liars;
	s->clock = fault_clock(w, s->lies, false);
	s->cfg.cluster = 1;
	s->cfg.id = (u16)(u + 1);
	s->cfg.rho_ppm = w->plan->rho;
	s->cfg.waiters_max = w->plan->waiters_max ?: BFTM_WAITERS_DEFAULT;
	s->locks = arena_take(&w->arena, w->plan->locks * w->protocol->core->server->lock_size);
	s->touched_ns = arena_array(&w->arena, u64, w->plan->locks);
	s->expire_at = arena_array(&w->arena, u64, w->plan->locks);
	s->room = arena_array(&w->arena, struct room, w->plan->locks);
	s->window = arena_array(&w->arena, struct bftm_window, w->plan->clients);
	s->first_gno = 1ull << 32;
	setup_members(w, s);
	if (w->order)
		order_server_setup(w, u);
	else if (s->lies)
		liar_setup(w, u);
	server_up(w, u);
	/* All but a few have been up for long. */
	if (rng_next(&w->rng[RNG_SERVER]) & 7 || w->script) {
		s->cfg.quarantine_until_ns = 0;
		for (i = 0; i < s->members.count; i++)
			bftm_members_heard(&s->members, &s->members.member[i]);
	}
}

/* Is another one without its knowledge of tokens? Then this one is to wait. */
static bool others_recover(const struct world *w, u32 u)
{
	u32 i;

	for (i = w->plan->liars; i < w->plan->n; i++)
		if (i != u && (!w->server[i].up || !server_knows(&w->server[i])))
			return true;
	return false;
}

/* Leases, and offers of tokens, on which clients count are over after so long. */
static u64 longest(const struct server *s)
{
	return bftm_members_lease(&s->members, s->cfg.lease_max_ns);
}

void server_crash(struct world *w, u32 u, u64 down)
{
	struct server *s = &w->server[u];
	u64 over;

	if (!s->up || (w->plan->spaced && !s->lies && others_recover(w, u)) ||
	    (w->order && !order_may_crash(w, u)))
		return;
	s->up = false;
	/* As bftm_server_destroy(): when all that it granted is over. */
	over = bftm_quarantine(longest(s), s->cfg.rho_ppm, clock_at(&s->clock, w->now));
	if (over > s->over_ns)
		s->over_ns = over;
	s->down_at = w->now;
	tell(w, NO_LOCK, "s%u goes down", u + 1);
	queue_push(&w->queue, w->now + down, EVENT_START, w->plan->clients + u)->stamp = ++s->stamp;
}

static u64 longest_lease(struct world *w)
{
	const struct plan *p = w->plan;

	if (!plan_has(p, FAULT_RECONF) || rng_next(&w->rng[RNG_SERVER]) & 1)
		return p->lease_max;
	return rng_between(&w->rng[RNG_SERVER], p->lease_max / 2, p->lease_max);
}

/* Only the first start of all may know without being told, or being kept. */
static void forget_tokens(struct world *w, struct server *s)
{
	u64 floor = s->stamp ? BFTM_TOKEN_UNKNOWN : 0;

	if (s->stamp && w->plan->keep_tokens && server_knows(s))
		floor = bftm_tokens_top(&s->tokens);
	s->tokens = (struct bftm_tokens){ .floor = floor };
	s->hi = 0;
}

/*
 * May it grant at once what it has forgotten? Not if so many others have done that while its last
 * grants were good.
 */
static bool may_forget(const struct world *w, u32 u)
{
	const struct plan *p = w->plan;
	const struct server *s = &w->server[u];
	u64 window = p->lease_max + p->lease_max / 4;
	u32 i, others = 0;

	if (s->lies || !s->stamp)
		return true;
	for (i = p->liars; i < p->n; i++)
		others += i != u && w->server[i].forgot_at &&
			  w->server[i].forgot_at + window > s->down_at;
	return others < p->forget;
}

/* Return: false when it stays down for now, since too many others have just forgotten. */
static bool spare_quarantine(struct world *w, u32 u)
{
	struct server *s = &w->server[u];

	s->cfg.spared = (u8)w->plan->spared;
	if (!w->plan->forget)
		return true;
	if (may_forget(w, u)) {
		if (s->stamp)
			s->forgot_at = s->down_at + 1;
		return true;
	}
	s->cfg.spared = 0;
	if (w->healed)
		return true;
	queue_push(&w->queue, w->now + w->plan->lease_max, EVENT_START,
		   w->plan->clients + u)->stamp = s->stamp;
	return false;
}

/* Has this server forgotten without a word, where no number of grants leaves room for that? */
static bool forgets_silently(const struct world *w, const struct server *s)
{
	return w->plan->forget && !w->plan->spared && s->forgot_at == s->down_at + 1;
}

/* Its memory is empty: as kmod/life.c, bftm_netns_start() makes a server. */
void server_up(struct world *w, u32 u)
{
	struct server *s = &w->server[u];
	u64 now = clock_at(&s->clock, w->now);

	if (!spare_quarantine(w, u))
		return;
	s->up = true;
	s->cfg.lease_max_ns = longest_lease(w);
	s->cfg.epoch = rng_next(&w->rng[RNG_SERVER]) | 1;
	memset(s->window, 0, sizeof(*s->window) * w->plan->clients);
	server_forget_locks(w, u);
	forget_tokens(w, s);
	if (w->order)
		order_server_up(w, u);
	s->first_gno += 1ull << 32;
	s->cfg.quarantine_until_ns = bftm_quarantine(longest(s), s->cfg.rho_ppm, now);
	bftm_members_start(&s->members);
	if (s->members.roll)
		bftm_members_roll(&s->members);
	/* A server with a shorter longest lease must outwait the one before. */
	if (s->over_ns > s->cfg.quarantine_until_ns)
		s->cfg.quarantine_until_ns = s->over_ns;
	if (w->order && s->stamp)
		order_fault_old(w, u);
	if ((s->lies && world_fault(w, FAULT_LIAR_AMNESIA)) || world_fault(w, FAULT_FORGET) ||
	    forgets_silently(w, s))
		s->cfg.quarantine_until_ns = 0;
	record_restart(w, u);
	if (s->stamp) {
		w->stats.fault[FAULT_RESTART]++;
		tell(w, NO_LOCK, "s%u is back with an empty memory%s", u + 1,
		     s->cfg.quarantine_until_ns && !s->cfg.spared ? ", in quarantine" :
								   " and no quarantine");
		check_fact(w, &(struct fact){ .kind = FACT_RESTARTED, .server = u });
		intruder_start(w, u);
	}
}

u64 server_wall(const struct world *w)
{
	return 1800000000 * BFTM_NS_PER_SEC + w->now;
}

void server_evict(struct world *w, u32 u, u32 x, u32 incarnation)
{
	struct server *s = &w->server[u];

	/* A client that is back has told all by itself, or will do so. */
	if (w->client[x].host_up && w->client[x].incarnation > incarnation)
		return;
	if (!bftm_members_evict(&s->members, x, incarnation,
				s->window[x].top >> 32 > incarnation))
		return;
	w->stats.fault[FAULT_EVICT]++;
	tell(w, NO_LOCK, "s%u evicts c%u up to its %u. start", u + 1, x + 1, incarnation);
	if (s->up)
		server_drop(w, u, x, incarnation, false);
}

static const struct bftm_members *shell_members(void *arg)
{
	const struct served *served = arg;

	return &served->w->server[served->u].members;
}

static bool shell_synced(void *arg, u32 client, u32 incarnation)
{
	const struct served *served = arg;
	struct bftm_members *members = &served->w->server[served->u].members;

	tell_more(served->w, NO_LOCK, "s%u knows all that c%u holds without a lease",
		  served->u + 1, client + 1);
	if (!served->w->server[served->u].lies)
		check_fact(served->w, &(struct fact){
			.kind = FACT_SYNCED, .server = served->u, .client = client,
		});
	server_drop(served->w, served->u, client, incarnation, true);
	bftm_members_heard(members, bftm_members_find(members, client));
	return true;
}

static bool shell_take(void *arg, const struct bftm_msg *req)
{
	const struct served *served = arg;
	struct world *w = served->w;

	struct server *s = &w->server[served->u];

	if (bftm_window_take(&s->window[req->client], req->seq)) {
		/* The program that keeps the roll looks now and then who was heard of: no pattern. */
		if (s->members.roll && req->seq * 0x9e3779b97f4a7c15ull >> 62 == 0)
			bftm_members_note(&s->members, req->client, (u32)(req->seq >> 32));
		return true;
	}
	w->stats.replayed++;
	return false;
}

static bool shell_permit(void *arg, const struct bftm_msg *req, struct bftm_server_cfg *cfg,
			 struct bftm_msg *reply)
{
	const struct served *served = arg;

	return bftm_access_admit(served->w->rule, WORLD_RULES, req, cfg, reply);
}

static void shell_tokens(void *arg, const struct bftm_msg *req, u64 now, struct bftm_msg *reply)
{
	const struct served *served = arg;
	struct world *w = served->w;
	struct server *s = &w->server[served->u];
	bool knew = server_knows(s);

	bftm_tokens_answer(&s->tokens, &s->cfg, req, now, server_wall(w), reply);
	if (knew || !server_knows(s))
		return;
	tell(w, NO_LOCK, "s%u hears from c%u that no token above %llu was stamped",
	     served->u + 1, req->client + 1, (unsigned long long)s->tokens.floor);
	check_fact(w, &(struct fact){
		.kind = FACT_LEARNED, .server = served->u, .client = req->client,
		.token = s->tokens.floor, .now_ns = now,
	});
}

void server_recover(struct world *w, u32 u, const struct bftm_msg *req, u64 now)
{
	struct served served = { .w = w, .u = u };
	struct server *s = &w->server[u];
	struct bftm_server_cfg cfg = s->cfg;
	struct bftm_msg reply;

	if (shell_permit(&served, req, &cfg, &reply) && !bftm_admit(&s->cfg, req, now, &reply))
		shell_tokens(&served, req, now, &reply);
}

static void tell_answer(struct world *w, u32 u, const struct bftm_msg *req,
			const struct bftm_msg *reply)
{
	u32 l = lock_number(req);

	if (req->type == BFTM_MSG_STAMP || req->type == BFTM_MSG_YIELD)
		tell_more(w, l, "s%u hears from c%u: %s %llu of %s for %s%s%s", u + 1,
			  req->client + 1, bftm_msg_name(req->type),
			  (unsigned long long)(req->type == BFTM_MSG_STAMP ? req->token :
					       req->gno & 0xffffffff),
			  story_attempt(w, req->attempt), story_lock(l),
			  reply->type ? "; says " : "",
			  reply->type ? bftm_msg_name(reply->type) : "");
	else if (req->type == BFTM_MSG_RELEASE)
		tell_more(w, l, "s%u hears that c%u is through with %s of %s", u + 1,
			  req->client + 1, story_attempt(w, req->attempt), story_lock(l));
	else
		tell_more(w, l, "s%u %s c%u: %s to send %u of %s for %s", u + 1,
			  w->server[u].lies ? "should tell" : "tells", req->client + 1,
			  reply->type ? bftm_msg_name(reply->type) : "nothing", req->k,
			  story_attempt(w, req->attempt), story_lock(l));
}

void server_push(struct world *w, u32 u, u32 l, struct bftm_msg *push)
{
	struct server *s = &w->server[u];

	if (push->type == BFTM_MSG_NONE)
		return;
	name_lock(push, l);
	w->stats.pushed++;
	push->server_epoch = s->cfg.epoch;
	if (w->story)
		tell_more(w, l, "s%u %s c%u: %s of grant %u, to send %u of %s for %s", u + 1,
			  s->lies ? "should push to" : "pushes to", push->client + 1,
			  bftm_msg_name(push->type), (u32)push->gno, push->k,
			  story_attempt(w, push->attempt), story_lock(l));
	if (s->lies && !(w->healed && w->plan->honest_end))
		liar_pushes(w, u, push, clock_at(&s->clock, w->now));
	else
		network_send(w, TO_CLIENT, u, push, w->now);
}

static const struct bftm_protocol *shell_protocol(void *arg, u8 number)
{
	const struct served *served = arg;
	const struct bftm_protocol *core = served->w->protocol->core;

	return core->number == number ? core : NULL;
}

static bool shell_enter(void *arg, const struct bftm_protocol *protocol,
			const struct bftm_msg *req, bool make, u64 *now, void **ret)
{
	struct served *served = arg;
	struct world *w = served->w;

	check_fact(w, &(struct fact){
		.kind = FACT_TAKEN, .server = served->u, .client = req->client,
		.lock = lock_number(req), .receiver = served->u, .sender = req->client,
		.seq = req->seq,
	});
	*ret = server_lock(w, served->u, req, make, *now);
	if (*ret)
		protocol->server->describe(*ret, &served->before);
	return true;
}

static void shell_enlarge(void *arg, const struct bftm_protocol *protocol, void *lock,
			  u32 waiters)
{
	struct served *served = arg;
	struct world *w = served->w;
	size_t at = (size_t)((u8 *)lock - w->server[served->u].locks);

	server_enlarge(w, served->u, (u32)(at / protocol->server->lock_size), waiters);
}

static void shell_leave(void *arg, const struct bftm_protocol *protocol, void *lock,
			const struct bftm_msg *req, u64 now, const struct bftm_sends *sends)
{
	const struct served *served = arg;
	struct world *w = served->w;
	struct server *s = &w->server[served->u];
	struct bftm_lock_view after, view;

	(void)now;
	if (sends->reply.type == BFTM_MSG_SACK)
		bftm_tokens_stamped(&s->tokens, sends->reply.gno);
	if (w->story)
		tell_answer(w, served->u, req, &sends->reply);
	if (!lock)
		return;
	protocol->server->describe(lock, &after);
	if (req->type == BFTM_MSG_RELEASE && !s->lies)
		check_fact(w, &(struct fact){
			.kind = FACT_RELEASED, .server = served->u, .client = req->client,
			.lock = lock_number(req), .attempt = req->attempt,
			.before = &served->before, .after = &after,
			.waits = protocol->server->waits(lock, req->client, req->attempt),
			.granted = protocol->server->granted(lock, req->client, req->attempt, &view),
		});
	server_arm(w, served->u, lock_number(req));
}

const struct bftm_shell server_shell = {
	.take = shell_take,
	.permit = shell_permit,
	.tokens = shell_tokens,
	.members = shell_members,
	.synced = shell_synced,
	.protocol = shell_protocol,
	.enter = shell_enter,
	.enlarge = shell_enlarge,
	.leave = shell_leave,
};

/* It may crash at every step; best just after it has promised something. */
static void perhaps_crash(struct world *w, u32 u, const struct bftm_msg *reply)
{
	struct rng *r = &w->rng[RNG_FAULT];

	if (!world_fault(w, FAULT_RESTART) ||
	    (reply->type != BFTM_MSG_FREE && reply->type != BFTM_MSG_SACK) ||
	    !rng_chance(r, w->plan->crash_step << 2 * (reply->type == BFTM_MSG_SACK)))
		return;
	server_crash(w, u, rng_next(r) & 1 ? 0 : rng_scale(r, 1, 2 * w->plan->lease_max));
}

static void answer(struct world *w, u32 u, const struct bftm_msg *req, struct bftm_msg *reply,
		   u64 now)
{
	struct server *s = &w->server[u];

	world_mix(w, (u64)reply->type << 56 ^ reply->attempt ^ now);
	if (s->lies && !(w->healed && w->plan->honest_end))
		liar_answer(w, u, req, reply, now);
	else if (reply->type != BFTM_MSG_NONE)
		network_send(w, TO_CLIENT, u, reply, w->now);
}

void server_receive(struct world *w, u32 u, const struct bftm_msg *req)
{
	struct served served = { .w = w, .u = u };
	struct server *s = &w->server[u];
	struct bftm_sends sends = {};	/* liars and digest read an answer that is silence, too */
	u64 now;

	if (!s->up)
		return;
	record_message(w, false, true, u, req, w->now);
	now = clock_at(&s->clock, w->now);
	if (bftm_serve(&server_shell, &served, &s->cfg, req, now, &sends) != BFTM_SERVED)
		return;
	answer(w, u, req, &sends.reply, now);
	server_push(w, u, lock_number(req), &sends.push);
	perhaps_crash(w, u, &sends.reply);
}
