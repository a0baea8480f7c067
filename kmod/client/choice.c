// SPDX-License-Identifier: GPL-2.0
#include "client/choice.h"
#include "client/handle.h"
#include "client/request.h"
#include "client/session.h"
#include "netns.h"

/*
 * After a watch of the helper, the kernel takes so many times as many acquires before the next one.
 */
#define WATCH_PAUSE	16
/*
 * After an acquire that too few servers answered, the helper takes 16 acquires, then twice as many,
 * up to 1,024: perhaps no datagram of the kernel ever passes.
 */
#define VAIN_BITS	6

static u64 lease_of(const struct bftm_session *s, const struct bftm_acquire *arg)
{
	return arg->lease_ns ?: s->lease_ns;
}

bool bftm_choice_may(struct bftm_net *bn, const struct bftm_request *request)
{
	const struct bftm_acquire *arg = &request->arg;
	const struct bftm_session *s = bftm_session_find(bn, arg->cluster);

	lockdep_assert_held(&bn->upcall->lock);
	/*
	 * Only the helper knows values, and tells restarted servers of all locks without a lease.
	 */
	if (!s || !bftm_session_serves(s) || request->submission || request->value ||
	    arg->flags & BFTM_NO_LEASE)
		return false;
	/* The helper takes locks of such names for itself, when it orders requests to objects. */
	if (!arg->name[arg->name_len - 1])
		return false;
	return lease_of(s, arg) <= s->lease_max_ns;
}

bool bftm_choice_takes(struct bftm_session *s)
{
	if (s->count >= BFTM_REQUESTS_MAX)
		return false;
	/* Without a helper the kernel serves all that it can. */
	if (s->watch && s->bn->upcall->portid) {
		s->watch--;
		return false;
	}
	s->watch_again -= !!s->watch_again;
	return true;
}

static enum bftm_wait wait_of(const struct bftm_session *s, const struct bftm_acquire *arg)
{
	bool queues = arg->way == BFTM_WAY_QUEUE || (arg->way == BFTM_WAY_DEFAULT && s->queues);

	/* Only the helper sleeps between rounds (Figure 1): the kernel has the first round. */
	return queues && !(arg->flags & BFTM_TRY) ? BFTM_WAIT_QUEUE : BFTM_WAIT_NOT;
}

void bftm_choice_want(const struct bftm_session *s, const struct bftm_request *request,
		      struct bftm_want *want)
{
	const struct bftm_acquire *arg = &request->arg;

	*want = (struct bftm_want){
		.lease_ns = lease_of(s, arg),
		.wait = wait_of(s, arg),
		.mode = bftm_mode_of(arg->mode),
		.fence = arg->flags & BFTM_FENCE,
		.renew = arg->flags & BFTM_RENEW,
		.lock = s->cfg.ask ? bftm_ask_lock(arg->name, arg->name_len) : 0,
	};
}

void bftm_choice_in_vain(struct bftm_session *s, u64 begun_ns)
{
	if (s->heard_ns > begun_ns)
		return;
	s->watch = BFTM_CHOICE_WATCH << s->vain;
	s->vain = min(s->vain + 1, VAIN_BITS);
}

void bftm_choice_heard(struct bftm_session *s, u64 now)
{
	s->vain = 0;
	s->heard_ns = now;
}

void bftm_choice_disputed(struct bftm_session *s, u32 acquires)
{
	if (s->watch_again > acquires)
		return;
	s->watch = max(s->watch, acquires);
	s->watch_again = WATCH_PAUSE * acquires;
}
