/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The contracts of the functions of grants.c with each other; included there, where struct survey
 * is known.
 */

#define MAY_BE_PARTIES(best)						\
	\valid_read(best + (0 .. 5)) && (\forall integer o; 0 <= o <= 5 && best[o] != \null ==> \
	\valid_read(best[o]))
#define PARTY \valid_read(p) && party_ok((struct bftm_party *)p)

/*@ requires PARTY;
  @ assigns \nothing;
  @ ensures mode_ok(\result);
  @*/
static enum bftm_mode firm(const struct bftm_party *p);

/*@ requires PARTY;
  @ assigns \nothing;
  @ ensures mode_ok(\result);
  @*/
static enum bftm_mode moving(const struct bftm_party *p);

/* Of those counted there is but own, at most, that excludes mode. */
#define LEFT(count, mode, own)						\
	\forall integer o; 1 <= o <= 5 && conflict(mode, o) ==> (count)[o] <= (o == own ? 1 : 0)

/*@ requires \valid_read(count + (0 .. 5)) && mode_ok(mode) && mode_ok(own);
  @ assigns \nothing;
  @ ensures none: !\result ==> LEFT(count, mode, own);
  @ ensures one: \result ==> \exists integer o; 1 <= o <= 5 && conflict(mode, o) &&
  @   count[o] > (o == own ? 1 : 0);
  @*/
static bool is_excluded(const u32 count[BFTM_MODES], enum bftm_mode mode, enum bftm_mode own);

/*@ requires PARTY && \valid_read(s);
  @ assigns \nothing;
  @*/
static bool is_hard(const struct survey *s, const struct bftm_party *p);

/*@ requires \valid(best) && \valid_read(p) && (*best == \null || \valid_read(*best));
  @ assigns *best;
  @ ensures one: *best == p || (*best == \old(*best) && *best != \null);
  @*/
static void take_better(struct bftm_party **best, struct bftm_party *p);

#define A_BID(m, n)							\
	(s->bid[m] == \null || \exists integer k; 0 <= k < n && s->bid[m] == party(the_lock, k) && \
	 party(the_lock, k)->want == m && party(the_lock, k)->mode == 0 && \
	 party(the_lock, k)->held == 0 && party(the_lock, k)->attempt != 0)
#define A_CONVERSION(m, n)						\
	(s->conversion[m] == \null || \exists integer k; 0 <= k < n && \
	 s->conversion[m] == party(the_lock, k))
#define COUNTED(n)							\
	\forall integer j; 0 <= j < n && party(the_lock, j)->mode != 0 ==>	\
	s->granted[party(the_lock, j)->mode] >= 1
#define COUNTED_TWICE(n)						\
	\forall integer j, k; 0 <= j < k < n && party(the_lock, j)->mode != 0 && \
	party(the_lock, j)->mode == party(the_lock, k)->mode ==>	\
	s->granted[party(the_lock, j)->mode] >= 2

/* Zeros: see annotations. */
/*@ requires \valid(s);
  @ assigns *s;
  @ ensures zero: s->grants == 0 && \forall integer m; 0 <= m <= 5 ==> s->granted[m] == 0 &&
  @   s->held[m] == 0 && s->firm[m] == 0 && s->moving[m] == 0 && s->lacking[m] == 0 &&
  @   s->first[m] == 0 && s->bid[m] == \null && s->conversion[m] == \null;
  @*/
static void count_nobody(struct survey *s);

/*@ requires lock_ok(the_lock);
  @ assigns \nothing;
  @ ensures \result <= parties(the_lock);
  @*/
static u32 count_grants(const struct bftm_lock *lock);

/*@ requires lock_ok(the_lock) && \valid(s) && \separated(s, lock, lock->queue);
  @ assigns *s;
  @ ensures counted: COUNTED(parties(the_lock));
  @ ensures twice: COUNTED_TWICE(parties(the_lock));
  @ ensures bids: \forall integer m; 0 <= m <= 5 ==> A_BID(m, parties(the_lock));
  @ ensures conversions: \forall integer m; 0 <= m <= 5 ==> A_CONVERSION(m, parties(the_lock));
  @*/
static void look_at_all(const struct bftm_lock *lock, u32 most, struct survey *s);

/*@ requires lock_ok(the_lock) && \valid(s) && \separated(s, lock, lock->queue);
  @ assigns *s;
  @ ensures \forall integer m; 0 <= m <= 5 ==> s->bid[m] == \null && s->conversion[m] == \null;
  @*/
static void look_at_grants(const struct bftm_lock *lock, u32 most, struct survey *s);

/*@ requires PARTY && MAY_BE_PARTIES(best);
  @ assigns \nothing;
  @*/
static bool is_preceded(struct bftm_party *const best[BFTM_MODES], const struct bftm_party *p,
			bool last);

#define SURVEY PARTY && \valid_read(s) && MAY_BE_PARTIES(s->bid) && MAY_BE_PARTIES(s->conversion)

/*@ requires SURVEY;
  @ assigns \nothing;
  @ ensures lacks: \result ==> !covers(p->mode, p->held);
  @ ensures fits: \result ==> LEFT(s->granted, p->held, p->mode);
  @*/
static bool may_have_held(const struct survey *s, const struct bftm_party *p);

/*@ requires SURVEY;
  @ assigns \nothing;
  @ ensures wants: \result ==> p->mode != 0 && p->want != 0;
  @ ensures fits: \result ==> LEFT(s->granted, p->want, p->mode);
  @*/
static bool may_convert(const struct survey *s, const struct bftm_party *p);

/*@ requires SURVEY;
  @ assigns \nothing;
  @ ensures fits: \result ==> LEFT(s->granted, p->want, 0);
  @*/
static bool may_begin(const struct survey *s, const struct bftm_party *p, bool last);

/*@ requires SURVEY && \valid_read(me) && party_ok((struct bftm_party *)me);
  @ assigns \nothing;
  @*/
static bool is_to_yield(const struct survey *s, const struct bftm_party *p,
			const struct bftm_party *me);
