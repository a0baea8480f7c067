// SPDX-License-Identifier: GPL-2.0
/* The actions of an algorithm, peer.h, and the rules that are judged as it acts. */
#include "world.h"

static struct peer_host *host_of(const struct peer *p)
{
	return &p->world->host[p->id];
}

static bool is_gone(const struct peer *p)
{
	return host_of(p)->is_dead || host_of(p)->is_cut;
}

void peer_tell(struct peer *p, u32 to, const struct peer_note *note)
{
	struct peer_world *w = p->world;
	struct peer_host *h = host_of(p);
	struct peer_note sent = *note;

	if (h->is_dead)
		return;
	if (!w->step_sends++)
		h->steps++;
	if (h->crash_step && h->steps == h->crash_step && !(h->crash_set >> to & 1)) {
		h->is_cut = true;
		return;
	}
	sent.clock = ++p->clock;
	if (h->lies) {
		sent.value = h->lie & 1;
		h->lie >>= 1;
	}
	peer_story(w, "%u sends %s to %u: who %u, number %u, grant %u, stamp %u, value %u", p->id,
		   w->plan->algorithm->kinds[sent.kind], to, sent.who, sent.number, sent.grant,
		   sent.stamp, sent.value);
	network_send(w, p->id, to, &sent, false);
}

void peer_wake_after(struct peer *p, u64 ticks)
{
	if (is_gone(p))
		return;
	host_of(p)->wake_at = p->world->now + ticks;
	peer_push(p->world, host_of(p)->wake_at, PEER_WAKE, p->id, 0);
}

/* Requests that happened before that of process @id and still wait. */
static void judge_me3(struct peer_world *w, u32 id)
{
	const struct peer_host *h = w->host;
	u32 other;

	for (other = 0; other < w->plan->n; other++)
		if (other != id && h[other].state == WANTED && !h[other].is_dead &&
		    h[other].request[other] <= h[id].request[other])
			peer_break(w, RULE_ME3, "a request is overtaken that happened before");
}

void peer_enter(struct peer *p)
{
	struct peer_world *w = p->world;
	struct peer_host *h = host_of(p);

	/* A doubled message may say so to a process that does not wait. */
	if (is_gone(p) || h->state != WANTED)
		return;
	peer_story(w, "%u enters", p->id);
	h->state = HELD;
	h->entered++;
	w->writers += !p->reads;
	if (++w->holders > 1 && w->writers)
		peer_break(w, RULE_ME1, "two processes are in the critical section");
	judge_me3(w, p->id);
	w->counts.entries++;
	w->counts.client_delay += w->now - w->wanted_at[p->id];
	if (w->is_contended) {
		w->counts.handovers++;
		w->counts.handover_delay += w->now - w->left_at;
		w->is_contended = false;
	}
	if (w->now - w->counts.entered_at > w->counts.pause)
		w->counts.pause = w->now - w->counts.entered_at;
	w->counts.entered_at = w->now;
	if (w->plan->failure == FAIL_HOLDER && !w->is_failed && w->now >= w->plan->fails_at) {
		w->is_failed = true;
		peer_push(w, w->now, PEER_CRASH, p->id, 0);
		return;
	}
	peer_push(w, w->now + (w->plan->exact ? p->hold : rng_below(&w->app, p->hold)),
		  PEER_ACT, p->id, h->entered);
}

u64 peer_now(const struct peer *p)
{
	return p->world->now;
}

u64 peer_random(struct peer *p, u64 below)
{
	return rng_below(&p->world->choice, below);
}

void peer_read(struct peer *p, u32 value)
{
	if (!is_gone(p) && host_of(p)->state == WANTED && value != p->world->written)
		peer_break(p->world, RULE_VALUE, "a value is read that the last writer did not leave");
}

void peer_elected(struct peer *p, u32 rank)
{
	struct peer_world *w = p->world;
	u32 id;

	if (is_gone(p))
		return;
	peer_story(w, "%u takes %d for elected", p->id, (int)rank);
	host_of(p)->elected = rank;
	w->counts.ended = w->now;
	for (id = 0; id < p->n; id++)
		if (w->host[id].is_dead && w->host[id].peer.rank == rank)
			peer_push(w, w->now + 2 * PEER_TRANSIT, PEER_NOTICE, p->id, rank);
}

void peer_deliver(struct peer *p, u32 value)
{
	struct peer_world *w = p->world;
	struct peer_host *h = host_of(p);

	if (is_gone(p))
		return;
	peer_story(w, "%u delivers %u", p->id, value);
	if (value >= CASTS_MAX || h->set >> value & 1 ||
	    !(w->host[value / w->plan->casts].cast >> value & 1)) {
		peer_break(w, RULE_INTEGRITY, "a message is delivered twice, or was never sent");
		return;
	}
	h->before[value] = h->set;
	h->set |= 1ull << value;
	h->known |= 1ull << value | w->depends[value];
	w->counts.ended = w->now;
}

void peer_decide(struct peer *p, u32 value)
{
	struct peer_host *h = host_of(p);

	if (is_gone(p) || h->is_decided)
		return;
	peer_story(p->world, "%u decides %u", p->id, value);
	h->is_decided = true;
	h->decision = value;
}

void peer_record(struct peer *p, u32 value)
{
	struct peer_host *h = host_of(p);

	peer_story(p->world, "%u records its state: %u", p->id, value);
	h->is_recorded = true;
	h->recorded = value;
}

void peer_record_channel(struct peer *p, u32 from, u32 value)
{
	struct peer_host *h = host_of(p);

	peer_story(p->world, "%u records the channel from %u: %u", p->id, from, value);
	h->recorded_channels++;
	h->recorded += value;
}
