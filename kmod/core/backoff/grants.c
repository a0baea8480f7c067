// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/backoff/grants.h"
#include "core/limits.h"

/**
 * struct survey - the parties of a lock by their modes
 * @granted: how many have this mode granted
 * @held:    … say that they hold this mode
 * @firm:    … have a grant of which they would not yield this mode
 * @moving:  … wait with a held mode, which is this, for one that it does not cover
 * @lacking: … say that they hold this mode, and a lesser one is granted to them
 * @first:   … hold a mode and want this one
 * @grants:  grants in all
 * @moves:   is there one that converts, or lacks what it holds?
 * @most:    grants that there may be
 * @bid:     best of those that hold nothing and want this mode
 * @conversion: best of those that hold a mode and want this one, and do not stand in each
 *           other's way
 */
struct survey {
	u32 granted[BFTM_MODES];
	u32 held[BFTM_MODES];
	u32 firm[BFTM_MODES];
	u32 moving[BFTM_MODES];
	u32 lacking[BFTM_MODES];
	u32 first[BFTM_MODES];
	u32 grants;
	bool moves;
	u32 most;
	struct bftm_party *bid[BFTM_MODES];
	struct bftm_party *conversion[BFTM_MODES];
};

/* The mode that a grantee has by other servers too, or would have if it did not want more. */
static enum bftm_mode firm(const struct bftm_party *p)
{
	if (!p->mode || !p->held)
		return BFTM_MODE_NL;
	return p->want || !bftm_mode_covers(p->held, p->mode) ? p->held : p->mode;
}

static enum bftm_mode moving(const struct bftm_party *p)
{
	return !p->mode && bftm_party_converts(p) ? p->held : BFTM_MODE_NL;
}

/* Is one of those counted in the way of @mode, but for the one that is counted as @own? */
static bool is_excluded(const u32 count[BFTM_MODES], enum bftm_mode mode, enum bftm_mode own)
{
	u32 other;

	for (other = BFTM_MODE_CR; other < BFTM_MODES; other++) {
		u32 mine = other == own;

		if (bftm_modes_conflict(mode, other) && count[other] > mine)
			return true;
	}
	return false;
}

/* Does a holder, or one that waits as a holder, keep this conversion from ending? */
static bool is_hard(const struct survey *s, const struct bftm_party *p)
{
	return is_excluded(s->firm, p->want, firm(p)) ||
	       is_excluded(s->moving, p->want, moving(p));
}

static u32 count_grants(const struct bftm_lock *lock)
{
	u32 i, grants = 0;

	for (i = 0; i < bftm_parties(lock); i++)
		grants += bftm_party_granted(bftm_party(lock, i));
	return grants;
}

static void take_better(struct bftm_party **best, struct bftm_party *p)
{
	if (!*best || bftm_goes_before(p, *best))
		*best = p;
}

static void look_at_all(const struct bftm_lock *lock, u32 most, struct survey *s)
{
	u32 i;

	memset(s, 0, sizeof(*s));
	s->most = most;
	for (i = 0; i < bftm_parties(lock); i++) {
		struct bftm_party *p = bftm_party(lock, i);

		/* Where many wait, most parties are such, and no other count is about them. */
		if (!p->mode && !p->held) {
			if (p->attempt)
				take_better(&s->bid[p->want], p);
			continue;
		}
		s->granted[p->mode]++;
		s->held[p->held]++;
		s->firm[firm(p)]++;
		s->moving[moving(p)]++;
		s->lacking[bftm_party_lacks(p) ? p->held : BFTM_MODE_NL]++;
		s->first[p->want]++;
		s->grants += bftm_party_granted(p);
		s->moves = s->moves || bftm_party_converts(p) || bftm_party_lacks(p);
	}
	for (i = 0; s->moves && i < bftm_parties(lock); i++) {
		struct bftm_party *p = bftm_party(lock, i);

		if (bftm_party_converts(p) && !is_hard(s, p))
			take_better(&s->conversion[p->want], p);
	}
}

static void look_at_grants(const struct bftm_lock *lock, u32 most, struct survey *s)
{
	memset(s, 0, sizeof(*s));
	s->most = most;
	s->grants = count_grants(lock);
}

/* Does one of these go before it that it excludes? */
static bool is_preceded(struct bftm_party *const best[BFTM_MODES], const struct bftm_party *p,
			bool last)
{
	u32 other;

	for (other = BFTM_MODE_CR; other < BFTM_MODES; other++)
		if (best[other] && best[other] != p && bftm_modes_conflict(p->want, other) &&
		    (last || bftm_goes_before(best[other], p)))
			return true;
	return false;
}

/* A mode held by other servers is granted here as soon as it fits beside the other grants. */
static bool may_have_held(const struct survey *s, const struct bftm_party *p)
{
	return bftm_party_lacks(p) && !is_excluded(s->granted, p->held, p->mode) &&
	       (bftm_party_granted(p) || s->grants < s->most);
}

static bool may_convert(const struct survey *s, const struct bftm_party *p)
{
	return p->mode && p->want && !is_excluded(s->granted, p->want, p->mode) &&
	       !is_excluded(s->held, p->want, p->held) && !is_preceded(s->conversion, p, false);
}

/* A newcomer waits for all that holders have or want, so that those do not starve. */
static bool may_begin(const struct survey *s, const struct bftm_party *p, bool last)
{
	return !is_excluded(s->granted, p->want, BFTM_MODE_NL) &&
	       !is_excluded(s->first, p->want, BFTM_MODE_NL) &&
	       !is_excluded(s->lacking, p->want, BFTM_MODE_NL) &&
	       !is_preceded(s->bid, p, last) && s->grants < s->most;
}

struct bftm_party *bftm_grants_next(const struct bftm_lock *lock, u32 most, enum bftm_mode *ret)
{
	struct bftm_party *holder = NULL, *conversion = NULL, *bid = NULL;
	struct survey s;
	u32 i;

	look_at_all(lock, most, &s);
	for (i = 0; s.moves && i < bftm_parties(lock); i++) {
		struct bftm_party *p = bftm_party(lock, i);

		if (may_have_held(&s, p))
			take_better(&holder, p);
		if (may_convert(&s, p))
			take_better(&conversion, p);
	}
	for (i = BFTM_MODE_CR; i < BFTM_MODES; i++)
		if (s.bid[i] && may_begin(&s, s.bid[i], false))
			take_better(&bid, s.bid[i]);
	if (holder) {
		*ret = holder->held;
		return holder;
	}
	if (!conversion)
		conversion = bid;
	if (conversion)
		*ret = conversion->want;
	return conversion;
}

bool bftm_grants_beside(const struct bftm_lock *lock, u32 most, const struct bftm_party *me,
			bool last)
{
	struct survey s;

	if (bftm_parties(lock) == 1 && !lock->first.attempt)
		return true;
	look_at_all(lock, most, &s);
	return me->held ? !is_excluded(s.granted, me->held, BFTM_MODE_NL) &&
			  s.grants < s.most : may_begin(&s, me, last);
}

bool bftm_grants_share(const struct bftm_look *look, u32 most, const struct bftm_party *me)
{
	const enum bftm_mode mode = me->held ? me->held : me->want;

	return !is_excluded(look->granted, mode, BFTM_MODE_NL) && look->grants < most;
}

/*
 * Servers may have seen another order. @p, which has a grant, yields what it does not hold to a
 * better bid, which all servers agree on; to one that holds the lock, which it cannot win before
 * that one is gone; and to a conversion that a holder delays anyhow. It would not yield what it
 * holds.
 */
static bool is_to_yield(const struct survey *s, const struct bftm_party *p,
			const struct bftm_party *me)
{
	if (bftm_mode_covers(p->held, p->mode))
		return false;
	if (bftm_party_lacks(me) && bftm_modes_conflict(p->mode, me->held))
		return true;
	if (!bftm_modes_conflict(p->mode, me->want) &&
	    (bftm_party_granted(me) || s->grants < s->most))
		return false;
	return (me->held && !p->held) || bftm_goes_before(me, p) ||
	       (bftm_party_converts(me) && p->want && is_hard(s, p));
}

bool bftm_grants_inquire(struct bftm_lock *lock, u32 most, const struct bftm_party *me)
{
	struct survey s;
	bool any = false;
	u32 i;

	/* Most that ask are newcomers: is_to_yield() compares those with grants alone. */
	if (bftm_party_converts(me))
		look_at_all(lock, most, &s);
	else
		look_at_grants(lock, most, &s);
	for (i = 0; i < bftm_parties(lock); i++) {
		struct bftm_party *p = bftm_party(lock, i);

		if (!bftm_party_granted(p))
			continue;
		if (p != me && is_to_yield(&s, p, me))
			p->inquire = 1;
		any = any || p->inquire;
	}
	return any;
}

void bftm_grants_defer(struct bftm_lock *lock, u32 most, struct bftm_party *p)
{
	struct survey s;
	u32 mode;

	look_at_all(lock, most, &s);
	for (mode = BFTM_MODE_CR; mode < BFTM_MODES; mode++)
		if (s.bid[mode] && is_to_yield(&s, p, s.bid[mode]))
			p->inquire = 1;
}

bool bftm_grants_probe(struct bftm_lock *lock, u32 most, const struct bftm_party *me, bool all)
{
	const u32 parties = bftm_parties(lock);
	const bool full = count_grants(lock) >= most;
	bool any = false;
	u32 i;

	for (i = 0; i < parties && (all || !any); i++) {
		struct bftm_party *p = bftm_party(lock, ((u32)me->attempt + i) % parties);

		if (p == me || !bftm_party_granted(p) || p->lease_ns != BFTM_LEASE_NONE ||
		    p->inquire || !(full || bftm_modes_conflict(p->mode, me->want)))
			continue;
		p->probe = 1;
		any = true;
	}
	return any;
}

bool bftm_grants_deadlock(const struct bftm_lock *lock, const struct bftm_party *me)
{
	u32 i;

	if (!bftm_party_converts(me))
		return false;
	for (i = 0; i < bftm_parties(lock); i++) {
		const struct bftm_party *p = bftm_party(lock, i);

		if (p != me && bftm_party_converts(p) &&
		    bftm_modes_conflict(me->want, p->held) &&
		    bftm_modes_conflict(p->want, me->held) && bftm_goes_before(p, me))
			return true;
	}
	return false;
}
