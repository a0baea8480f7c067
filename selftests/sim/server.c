// SPDX-License-Identifier: GPL-2.0
/*
 * A server around the core, as kmod/server.c, kmod/locks.c and kmod/netns.c
 * have it: address, sequence number, epoch, the protocol's step.
 */
#include "../../kmod/core/admit.h"
#include "story.h"

/* As in kmod/locks.c: how long the tombs of an idle lock are kept. */
#define IDLE_NS (10 * BFTM_NS_PER_SEC)

static u32 lock_number(const struct bftm_msg *msg)
{
	return msg->name[0] | (u32)msg->name[1] << 8 | (u32)msg->name[2] << 16;
}

void server_setup(struct world *w, u32 u)
{
	struct server *s = &w->server[u];

	s->lies = u < w->plan->liars;
	s->clock = fault_clock(w, s->lies, false);
	s->cfg.cluster = 1;
	s->cfg.id = (u16)(u + 1);
	s->cfg.rho_ppm = w->plan->rho;
	s->lock = arena_array(&w->arena, struct bftm_lock, w->plan->locks);
	s->touched_ns = arena_array(&w->arena, u64, w->plan->locks);
	s->window = arena_array(&w->arena, struct bftm_window, w->plan->clients);
	s->first_gno = 1ull << 32;
	if (s->lies)
		liar_setup(w, u);
	server_up(w, u);
	/* All but a few have been up for long. */
	if (rng_next(&w->rng[RNG_SERVER]) & 7 || w->script)
		s->cfg.quarantine_until_ns = 0;
}

void server_crash(struct world *w, u32 u, u64 down)
{
	struct server *s = &w->server[u];
	u64 over;

	if (!s->up)
		return;
	s->up = false;
	/* As bftm_server_destroy(): when all that it granted is over. */
	over = bftm_quarantine(s->cfg.lease_max_ns, s->cfg.rho_ppm, clock_at(&s->clock, w->now));
	if (over > s->over_ns)
		s->over_ns = over;
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

/* Its memory is empty: as kmod/netns.c, bftm_netns_start() makes a server. */
void server_up(struct world *w, u32 u)
{
	struct server *s = &w->server[u];
	u64 now = clock_at(&s->clock, w->now);

	s->up = true;
	s->cfg.lease_max_ns = longest_lease(w);
	s->cfg.epoch = rng_next(&w->rng[RNG_SERVER]) | 1;
	memset(s->window, 0, sizeof(*s->window) * w->plan->clients);
	memset(s->touched_ns, 0, sizeof(*s->touched_ns) * w->plan->locks);
	memset(s->lock, 0, sizeof(*s->lock) * w->plan->locks);
	s->first_gno += 1ull << 32;
	s->cfg.quarantine_until_ns = bftm_quarantine(s->cfg.lease_max_ns, s->cfg.rho_ppm, now);
	/* A server with a shorter longest lease must outwait the one before. */
	if (s->over_ns > s->cfg.quarantine_until_ns)
		s->cfg.quarantine_until_ns = s->over_ns;
	if (s->lies && world_fault(w, FAULT_LIAR_AMNESIA))
		s->cfg.quarantine_until_ns = 0;
	if (s->stamp) {
		w->stats.fault[FAULT_RESTART]++;
		tell(w, NO_LOCK, "s%u is back with an empty memory%s", u + 1,
		     s->cfg.quarantine_until_ns ? ", in quarantine" : " and no quarantine");
		check_fact(w, &(struct fact){ .kind = FACT_RESTARTED, .server = u });
	}
}

/* The lock that a request names; what the timer of the kernel does, late or not. */
static struct bftm_lock *find_lock(struct world *w, struct server *s, const struct bftm_msg *req,
				   u64 now)
{
	u32 l = lock_number(req);
	struct bftm_lock *lock = &s->lock[l];

	if (s->touched_ns[l]) {
		/* The timer is not always on time. */
		if (rng_next(&w->rng[RNG_SERVER]) & 1)
			bftm_lock_expire(lock, now);
		if (!lock->attempt &&
		    (s->touched_ns[l] + IDLE_NS <= now ||
		     (world_fault(w, FAULT_RECLAIM) &&
		      rng_chance(&w->rng[RNG_SERVER], PPM / 8)))) {
			w->stats.fault[FAULT_RECLAIM] += s->touched_ns[l] + IDLE_NS > now;
			if (lock->gno > s->first_gno)
				s->first_gno = lock->gno;
			s->touched_ns[l] = 0;
		}
	}
	if (!s->touched_ns[l]) {
		if (req->type != BFTM_MSG_TRY)
			return NULL;
		bftm_lock_init(lock, s->first_gno);
	}
	s->touched_ns[l] = now;
	return lock;
}

static void tell_answer(struct world *w, u32 u, const struct bftm_msg *req,
			const struct bftm_msg *reply)
{
	u32 l = lock_number(req);

	if (req->type == BFTM_MSG_RELEASE)
		tell_more(w, l, "s%u hears that c%u is through with %s of %s", u + 1,
			  req->client + 1, story_attempt(w, req->attempt), story_lock(l));
	else
		tell_more(w, l, "s%u %s c%u: %s to send %u of %s for %s", u + 1,
			  w->server[u].lies ? "should tell" : "tells", req->client + 1,
			  reply->type ? bftm_msg_name(reply->type) : "nothing", req->k,
			  story_attempt(w, req->attempt), story_lock(l));
}

static void decide(struct world *w, u32 u, const struct bftm_msg *req, u64 now,
		   struct bftm_msg *reply)
{
	struct server *s = &w->server[u];
	struct bftm_lock *lock = find_lock(w, s, req, now), before;

	if (lock)
		before = *lock;
	w->protocol->step(&s->cfg, lock, req, now, reply);
	if (w->story)
		tell_answer(w, u, req, reply);
	if (lock && req->type == BFTM_MSG_RELEASE && !s->lies)
		check_fact(w, &(struct fact){
			.kind = FACT_RELEASED, .server = u, .client = req->client,
			.lock = lock_number(req), .attempt = req->attempt,
			.before = &before, .after = lock,
		});
}

/* It may crash at every step; best just after it has promised something. */
static void perhaps_crash(struct world *w, u32 u, const struct bftm_msg *reply)
{
	struct rng *r = &w->rng[RNG_FAULT];

	if (!world_fault(w, FAULT_RESTART) || reply->type != BFTM_MSG_FREE ||
	    !rng_chance(r, w->plan->crash_step))
		return;
	server_crash(w, u, rng_next(r) & 1 ? 0 : rng_scale(r, 1, 2 * w->plan->lease_max));
}

void server_receive(struct world *w, u32 u, const struct bftm_msg *req)
{
	struct server *s = &w->server[u];
	struct bftm_msg reply;
	u64 now;

	if (!s->up)
		return;
	now = clock_at(&s->clock, w->now);
	if (!bftm_admit_address(&s->cfg, req))
		return;
	if (!bftm_window_take(&s->window[req->client], req->seq)) {
		w->stats.replayed++;
		return;
	}
	if (bftm_admit(&s->cfg, req, now, &reply)) {
		check_fact(w, &(struct fact){
			.kind = FACT_TAKEN, .server = u, .client = req->client,
			.lock = lock_number(req), .receiver = u, .sender = req->client,
			.seq = req->seq,
		});
		decide(w, u, req, now, &reply);
	}
	reply.server_epoch = s->cfg.epoch;
	reply.flags = 0;
	world_mix(w, (u64)reply.type << 56 ^ reply.attempt ^ now);
	if (s->lies && !(w->healed && w->plan->honest_end)) {
		liar_answer(w, u, req, &reply, now);
		return;
	}
	if (reply.type == BFTM_MSG_NONE)
		return;
	network_send(w, TO_CLIENT, u, &reply, w->now);
	perhaps_crash(w, u, &reply);
}
