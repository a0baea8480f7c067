/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The parties of a lock that are granted a mode, and those that are asked to yield: next(),
 * inquire() and dead() of protocol.rst. A held mode is a fact and a wanted one is a bid: facts
 * never conflict, and go first.
 */
#ifndef BFTM_CORE_BACKOFF_GRANTS_H
#define BFTM_CORE_BACKOFF_GRANTS_H

#include "core/backoff/parties.h"

/**
 * bftm_grants_next() - the party that can be granted more now, and before all others
 * @lock: the lock
 * @most: clients that may hold it at once
 * @ret:  the mode that it gets
 * Return: NULL when there is none.
 */
struct bftm_party *bftm_grants_next(const struct bftm_lock *lock, u32 most, enum bftm_mode *ret);

/**
 * bftm_grants_beside() - can this newcomer be granted what it wants at once?
 * @lock: the lock
 * @most: clients that may hold it at once
 * @me:   no party of the lock
 * @last: it does not wait, so all that wait go before it
 */
bool bftm_grants_beside(const struct bftm_lock *lock, u32 most, const struct bftm_party *me,
			bool last);

/**
 * bftm_grants_share() - can this newcomer be granted what it wants beside others that want no more?
 * @look: at the lock, where each party is bftm_party_content()
 * @most: clients that may hold it at once
 * @me:   no party of the lock
 *
 * Return: as bftm_grants_beside(), without another look at all parties.
 */
bool bftm_grants_share(const struct bftm_look *look, u32 most, const struct bftm_party *me);

/**
 * bftm_grants_inquire() - mark the parties that are to be asked whether they yield to @me
 * @lock: the lock
 * @most: clients that may hold it at once
 * @me:   the party that wants more than it has
 * Return: is one marked, of this time or an earlier one?
 */
bool bftm_grants_inquire(struct bftm_lock *lock, u32 most, const struct bftm_party *me);

/**
 * bftm_grants_defer() - mark a party if a newcomer that waits goes before it
 * @lock: the lock
 * @most: clients that may hold it at once
 * @p:    a party that is granted a mode; it is asked for what it does not hold
 *
 * A party that is granted a mode goes before all newcomers then. Its priority may rise later.
 */
void bftm_grants_defer(struct bftm_lock *lock, u32 most, struct bftm_party *p);

/**
 * bftm_grants_probe() - mark the parties without a lease that are in the way of @me
 * @lock: at a server
 * @most: clients that may hold it at once
 * @me:   the party that asks
 * @all:  mark all of them; else one, another one for each attempt
 *
 * They hold the lock until they say that they do not, and what they said may have been lost.
 * Return: is one marked?
 */
bool bftm_grants_probe(struct bftm_lock *lock, u32 most, const struct bftm_party *me, bool all);

/**
 * bftm_grants_deadlock() - is there a better conversion that excludes this one, and is excluded
 * by it?
 * @lock: the lock
 * @me:   the party that wants more than it has
 */
bool bftm_grants_deadlock(const struct bftm_lock *lock, const struct bftm_party *me);

#endif /* BFTM_CORE_BACKOFF_GRANTS_H */
