/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions that move parties, and choose whom to grant to, may leave any lock behind here, so
 * that Eva follows a step of a server. all_parties() and all_grants() of eva_lock.c are about them.
 */
#ifndef PROOF_ANY_MOVES_H
#define PROOF_ANY_MOVES_H

#include "any_lock.h"
#include "core/backoff/grants.h"

#define bftm_party_add proved_add
#define bftm_party_remove proved_remove
#define bftm_party_number proved_number
#define bftm_parties_forget proved_forget
#define bftm_parties_expire proved_expire
#include "core/backoff/parties.c"
#undef bftm_party_add
#undef bftm_party_remove
#undef bftm_party_number
#undef bftm_parties_forget
#undef bftm_parties_expire

/* all_parties() shows that no more places are in use than there are. */
static void any_move(struct bftm_lock *lock)
{
	struct bftm_queue *q = lock->queue;
	u32 i;

	lock->first = any_party();
	if (!q)
		return;
	q->count = (u32)any_from(0, q->room);
	for (i = 0; i < q->room; i++)
		q->place[i].party = any_party();
}

/* One of the lock; that it is there says how many there are at least. */
static struct bftm_party *any_there(const struct bftm_lock *lock)
{
	u32 i;

	for (i = 0; lock->queue && i < ROOM && i < lock->queue->count; i++)
		if (any_bool())
			return &lock->queue->place[i].party;
	return (struct bftm_party *)&lock->first;
}

struct bftm_party *bftm_party_add(struct bftm_lock *lock, const struct bftm_party *me)
{
	if (!lock->first.attempt) {
		lock->first = *me;
		return &lock->first;
	}
	any_move(lock);
	return any_bool() ? any_there(lock) : NULL;
}

void bftm_party_remove(struct bftm_lock *lock, struct bftm_party *p)
{
	any_move(lock);
}

struct bftm_party *bftm_party_number(struct bftm_lock *lock, struct bftm_party *p)
{
	any_move(lock);
	lock->gno++;
	return &lock->first;
}

void bftm_parties_forget(struct bftm_lock *lock, u64 now)
{
	any_move(lock);
}

bool bftm_parties_expire(struct bftm_lock *lock, u64 now)
{
	any_move(lock);
	return any_bool();
}

struct bftm_party *bftm_grants_next(const struct bftm_lock *lock, u32 most, enum bftm_mode *ret)
{
	*ret = any_mode();
	return any_bool() ? any_there(lock) : NULL;
}

bool bftm_grants_beside(const struct bftm_lock *lock, u32 most, const struct bftm_party *me,
			bool last)
{
	return any_bool();
}

bool bftm_grants_inquire(struct bftm_lock *lock, u32 most, const struct bftm_party *me)
{
	any_there(lock)->inquire = any_bool();
	return any_bool();
}

void bftm_grants_defer(struct bftm_lock *lock, u32 most, struct bftm_party *p)
{
	p->inquire = any_bool();
}

bool bftm_grants_deadlock(const struct bftm_lock *lock, const struct bftm_party *me)
{
	return any_bool();
}

#endif
