/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The members of a server: clients that may hold locks without a lease. Such a lock is held until
 * it is released, or until its client was cut off and evicted. So a server that restarts makes no
 * grants of those locks before each member has told what it holds (REASSERT, then SYNC), or was
 * evicted. No clock tells that a client is cut off: an administrator has to say so.
 */
#ifndef BFTM_CORE_MEMBERS_H
#define BFTM_CORE_MEMBERS_H

#include "core/wire.h"

/**
 * struct bftm_member - a client that may hold locks without a lease
 * @client:  its number
 * @evicted: its incarnations up to this one are evicted; 0: none is
 * @noted:   the roll has its incarnations up to this one; 0: none. BFTM_NOTED_UNKNOWN, before
 *           bftm_members_roll() alone: the roll says that it may hold anything
 * @awaited: it has not told yet what it held before this start of the server
 */
struct bftm_member {
	u32 client;
	u32 evicted;
	u32 noted;
	bool awaited;
};

#define BFTM_NOTED_UNKNOWN	(~0u)

/**
 * struct bftm_members - all of them
 * @member:  ordered by their numbers; the caller's
 * @count:   of these, up to BFTM_MEMBERS_MAX
 * @awaited: how many are; the server is recovering while there is one
 * @roll:    the server has a roll
 */
struct bftm_members {
	struct bftm_member *member;
	u32 count;
	u32 awaited;
	bool roll;
};

/** bftm_members_find() - the one with this number, or NULL. */
struct bftm_member *bftm_members_find(const struct bftm_members *m, u32 client);

/**
 * bftm_members_start() - the server has forgotten what it granted
 * @m: of the server
 *
 * All are awaited.
 */
void bftm_members_start(struct bftm_members *m);

/**
 * bftm_members_roll() - after bftm_members_start(), of a server with a roll
 * @m: of the server; @noted is what the roll names
 *
 * Members of whom it names no incarnation that is not evicted are not awaited.
 */
void bftm_members_roll(struct bftm_members *m);

/**
 * bftm_members_note() - the roll names these incarnations, and a loss of power does not change that
 * @m:           of the server
 * @client:      whose incarnations they are
 * @incarnation: this one and all before; not 0
 * Return: false if the client is no member.
 */
bool bftm_members_note(struct bftm_members *m, u32 client, u32 incarnation);

/**
 * bftm_members_unnoted() - must this request wait until the roll names its incarnation?
 * @m:   of the server
 * @req: any request about a lock
 *
 * It is refused then, by BFTM_REFUSED_UNNOTED, and comes again. The roll does not matter to
 * requests with a lease.
 *
 * REASSERT of a member that is awaited, and of which nothing is noted, does not wait: the roll says
 * that this member may hold anything, so the next start awaits it again. Otherwise a server without
 * a process that keeps the roll would be recovering for ever.
 */
bool bftm_members_unnoted(const struct bftm_members *m, const struct bftm_msg *req);

/** bftm_members_heard() - the member has told all, or need not any more. */
void bftm_members_heard(struct bftm_members *m, struct bftm_member *member);

/**
 * bftm_members_evict() - an administrator says that these incarnations are cut off
 * @m:           of the server
 * @client:      whose incarnations they are
 * @incarnation: this one and all before; not 0
 * @back:        the server has heard of a later one, which tells by itself what it holds
 *
 * Without @back the client is off, and is not awaited any more. The caller then drops what these
 * incarnations had, see bftm_lock_drop(); their later requests are refused. At a start of the
 * server, earlier evictions are put into @evicted before bftm_members_start(), which awaits all.
 * Return: false if the client is no member.
 */
bool bftm_members_evict(struct bftm_members *m, u32 client, u32 incarnation, bool back);

/**
 * bftm_members_lease() - what the quarantine of a server with these members is made of
 * @m:            of the server
 * @lease_max_ns: Δmax
 *
 * Clients without a lease count for BFTM_PACE_NS that a server has accepted their token.
 */
static inline u64 bftm_members_lease(const struct bftm_members *m, u64 lease_max_ns)
{
	return m->count && lease_max_ns < BFTM_PACE_NS ? BFTM_PACE_NS : lease_max_ns;
}

/** bftm_members_refuse() - is this request of an incarnation that is evicted? */
bool bftm_members_refuse(const struct bftm_members *m, const struct bftm_msg *req);

#endif /* BFTM_CORE_MEMBERS_H */
