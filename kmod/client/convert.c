// SPDX-License-Identifier: GPL-2.0
/*
 * Conversion: a held lock gets another mode.
 *
 * A mode that the present one covers is noted at once, before the helper hears of it: even if the
 * helper dies, no program has more than the servers know of. Any other mode is noted when the
 * helper reports it. A conversion that no program waits for any more is forgotten: its report finds
 * no conversion with that number, and the kernel tells the helper once more which mode is held.
 */
#include <linux/poll.h>
#include <linux/slab.h>

#include "client/handle.h"
#include "client/trace.h"
#include "netns.h"
#include "notify.h"
#include "time/clock.h"
#include "time/sleep.h"

static bool covers(u32 mode, u32 other)
{
	return bftm_mode_covers(bftm_mode_of(mode), bftm_mode_of(other));
}

static void set_mode(struct bftm_handle *h, u32 mode)
{
	if (mode != h->arg.mode)
		h->wanted = false;
	h->arg.mode = mode;
	h->request->arg.mode = mode;
}

/* Tell programs that watch the lock. */
static void tell_mode(struct bftm_handle *h)
{
	trace_bftm_converted(h);
	bftm_notify.event(h);
}

/* Until now poll() has shown neither that the lock is held nor that somebody waits. */
static void wake_after(struct bftm_handle *h)
{
	bftm_handle_wake(h, EPOLLIN | EPOLLRDNORM | EPOLLRDBAND);
}

static void conversion_decided(struct bftm_handle *h, int error)
{
	struct bftm_conversion_of *c = &h->conversion;

	c->progress = c->waits ? BFTM_PROGRESS_DECIDED : BFTM_PROGRESS_NONE;
	c->error = error;
	c->at_ns = 0;
	h->error = -error;
	wake_after(h);
}

void bftm_handle_convert_failed(struct bftm_handle *h, int error)
{
	lockdep_assert_held(&h->bn->upcall->lock);
	conversion_decided(h, error);
	/* If there is no helper, the next one learns which mode is held. */
	bftm_upcall_convert(h->bn, h->request);
}

/* Return: 0, and @ret_id is 0 if the conversion is done; or an error. */
static int conversion_begin(struct bftm_handle *h, struct bftm_convert *arg, bool waits,
			    struct bftm_held_value **value, u64 *ret_id)
{
	struct bftm_conversion_of *c = &h->conversion;
	bool replaces = bftm_handle_converts(h);
	bool at_once, changes, done;
	int err = bftm_handle_holding(h);

	if (err)
		return err;
	/* Only a conversion that no call waits for can be replaced. */
	if (c->id == h->id && c->progress != BFTM_PROGRESS_NONE && c->waits)
		return -EBUSY;
	err = bftm_upcall_convert(h->bn, h->request);
	if (err)
		return err;
	h->error = 0;
	at_once = covers(h->arg.mode, arg->mode);
	changes = at_once && h->arg.mode != arg->mode;
	if (*value && !h->request->value) {
		swap(h->request->value, *value);
		h->request->arg.flags |= BFTM_VALUE;
		h->arg.flags |= BFTM_VALUE;
	}
	if (changes) {
		bftm_held_value_give_up(h->request);
		set_mode(h, arg->mode);
	}
	done = at_once && !(arg->flags & BFTM_FENCE);
	*ret_id = done ? 0 : h->id;
	arg->deadline_ns = h->arg.deadline_ns;
	arg->token = h->arg.token;
	*c = (struct bftm_conversion_of){
		.id = h->id,
		.number = c->number + 1 ?: 1,
		.progress = done ? BFTM_PROGRESS_NONE : BFTM_PROGRESS_ASKED,
		.waits = waits,
		.flags = arg->flags,
		.mode = arg->mode,
		.at_ns = done ? 0 : bftm_handle_limit(arg->flags, arg->timeout_ns),
	};
	/* The conversion has its number now: else watchers would take it for an acquire. */
	if (changes)
		tell_mode(h);
	/* A program that polls for the replaced conversion may be done waiting. */
	if (replaces)
		wake_after(h);
	bftm_handle_arm(h);
	return 0;
}

int bftm_handle_convert(struct bftm_handle *h, struct bftm_convert *arg, bool waits, u64 *ret_id)
{
	struct bftm_held_value *value = bftm_held_value_new(arg->flags);
	int err;

	if (arg->flags & BFTM_VALUE && !value)
		return -ENOMEM;
	spin_lock_bh(&h->bn->upcall->lock);
	err = conversion_begin(h, arg, waits, &value, ret_id);
	spin_unlock_bh(&h->bn->upcall->lock);
	kfree(value);	/* if the lock had one already */
	return err;
}

/** struct awaited - a conversion that a call waits for */
struct awaited {
	struct bftm_handle *h;
	u64 id;
	struct bftm_convert *ret;
};

static int outcome_of(const struct awaited *w)
{
	struct bftm_handle *h = w->h;
	struct bftm_conversion_of *c = &h->conversion;

	bftm_handle_check(h);
	/* Another thread released the handle, and perhaps used it for another acquire. */
	if (h->id != w->id)
		return -ECANCELED;
	if (h->state == BFTM_STATE_LOST)
		return -EKEYEXPIRED;
	if (h->state != BFTM_STATE_HELD)
		return -ECANCELED;
	if (c->progress == BFTM_PROGRESS_ASKED)
		return -EINPROGRESS;
	c->progress = BFTM_PROGRESS_NONE;
	if (!c->error) {
		w->ret->deadline_ns = h->arg.deadline_ns;
		w->ret->token = h->arg.token;
	}
	return c->error;
}

static int conversion_outcome(void *arg)
{
	const struct awaited *w = arg;
	int err;

	spin_lock_bh(&w->h->bn->upcall->lock);
	err = outcome_of(w);
	spin_unlock_bh(&w->h->bn->upcall->lock);
	return err;
}

int bftm_handle_convert_wait(struct bftm_handle *h, u64 id, struct bftm_convert *ret)
{
	struct awaited w = { .h = h, .id = id, .ret = ret };
	/* The handle's alarm ends the conversion if the helper does not. */
	int err = bftm_sleep(bftm_handle_place(h), 0, conversion_outcome, &w);

	if (err != -EINTR)
		return err;
	spin_lock_bh(&h->bn->upcall->lock);
	err = outcome_of(&w);
	if (err == -EINPROGRESS) {
		bftm_handle_convert_failed(h, -EINTR);
		err = outcome_of(&w);
	}
	spin_unlock_bh(&h->bn->upcall->lock);
	return err;
}

int bftm_handle_converted(struct bftm_handle *h, const struct bftm_converted *result)
{
	struct bftm_conversion_of *c = &h->conversion;
	bool same = h->arg.mode == c->mode;
	u64 token = h->arg.token;

	lockdep_assert_held(&h->bn->upcall->lock);
	if (!bftm_handle_converts(h) || c->number != result->number)
		return -ECANCELED;
	if (result->error) {
		conversion_decided(h, result->error);
		return 0;
	}
	/* A program that has a lease has an end. */
	if (!bftm_handle_lasts(h) && result->deadline_ns == BFTM_LEASE_NONE)
		return -ERANGE;
	/* Only a lock whose new mode the mode before covers may keep its token. */
	if (!same && c->flags & BFTM_FENCE && !result->token)
		return -EINVAL;
	if (!same) {
		h->arg.token = 0;
		bftm_held_value_told(h->request, &result->value);
	}
	if (c->flags & BFTM_FENCE && result->token)
		h->arg.token = result->token;
	set_mode(h, c->mode);
	/* The lease may last as long already: then this changes nothing. */
	bftm_handle_renewed(h, result->deadline_ns, result->end_ns);
	/* The new mode is held, but a lock without a token does not do for BFTM_FENCE. */
	conversion_decided(h, c->flags & BFTM_FENCE && !h->arg.token ? -ENODATA : 0);
	if (!same || h->arg.token != token)
		tell_mode(h);
	return 0;
}
