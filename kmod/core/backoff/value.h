/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The value of a lock at a server: up to 64 bytes that a holder in PW or EX leaves for the next
 * holders. It lies in the block of the queue, behind the places. Without it the value is in doubt.
 */
#ifndef BFTM_CORE_BACKOFF_VALUE_H
#define BFTM_CORE_BACKOFF_VALUE_H

#include "core/backoff/server.h"

/**
 * struct bftm_kept_value - a value at a server
 * @len:   bytes of it
 * @doubt: a later one may have been written, or was to be: the server does not know
 * @bytes: the value, @len of them count
 */
struct bftm_kept_value {
	u8 len;
	u8 doubt;
	u8 bytes[BFTM_VALUE_LEN_MAX];
};

#define BFTM_VALUE_PLACES 2	/* of a queue's block, which a value takes */

/** bftm_value_of() - the lock's, or NULL: nothing is known. */
static inline struct bftm_kept_value *bftm_value_of(const struct bftm_lock *lock)
{
	struct bftm_queue *q = lock->queue;

	return q && q->valued ? (struct bftm_kept_value *)&q->place[q->room] : NULL;
}

/** bftm_value_certain() - has it the value that was written last, as far as it knows? */
static inline bool bftm_value_certain(const struct bftm_lock *lock)
{
	const struct bftm_kept_value *v = bftm_value_of(lock);

	return v && !v->doubt;
}

/** bftm_value_wanted() - may this request lead to a value that needs room? */
static inline bool bftm_value_wanted(const struct bftm_lock *lock, const struct bftm_msg *req)
{
	return req->type == BFTM_MSG_TRY && req->flags & BFTM_FLAG_VALUE &&
	       bftm_mode_writes(req->mode) && !bftm_value_of(lock);
}

/** bftm_value_doubt() - a holder that could write is gone, and how it ended is not known. */
static inline void bftm_value_doubt(struct bftm_lock *lock)
{
	struct bftm_kept_value *v = bftm_value_of(lock);

	if (v)
		v->doubt = 1;
}

/** bftm_value_room() - what a party's TRY leaves for the value, in words and 1; 0: no value */
static inline u8 bftm_value_room(const struct bftm_msg *req)
{
	return req->flags & BFTM_FLAG_VALUE ? 1 + req->value_room / 8 : 0;
}

/** bftm_value_make() - take room for a value, if one is wanted; it is in doubt as yet. */
void bftm_value_make(struct bftm_lock *lock, const struct bftm_msg *req);

/**
 * bftm_value_take() - store what this TRY or RELEASE has written, or doubt
 * @lock: the lock
 * @p:    the party that asks, as it is granted so far
 * @req:  TRY or RELEASE of that party
 *
 * Only a party that can write by its grant has a say. Its request names that grant: a late one
 * names another, and may have been overtaken by what others wrote.
 */
void bftm_value_take(struct bftm_lock *lock, const struct bftm_party *p,
		     const struct bftm_msg *req);

/** bftm_value_tell() - put it in a FREE; @room: bftm_value_room() of the TRY that asked for it */
void bftm_value_tell(const struct bftm_lock *lock, u8 room, struct bftm_msg *msg);

#endif /* BFTM_CORE_BACKOFF_VALUE_H */
