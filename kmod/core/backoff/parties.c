// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/backoff/parties.h"
#include "core/backoff/value.h"
#include "core/lease.h"

struct bftm_party *bftm_party_find(const struct bftm_lock *lock, u32 client, u64 attempt)
{
	u32 i;

	/* Both must match, or a stale message would act on a later grant. */
	for (i = 0; i < bftm_parties(lock); i++) {
		struct bftm_party *p = bftm_party(lock, i);

		if (p->attempt == attempt && p->client == client && attempt)
			return p;
	}
	return NULL;
}

static bool is_waiting(const struct bftm_party *p)
{
	return p->attempt && !bftm_party_granted(p);
}

static bool is_unheard(const struct bftm_party *p, u64 now)
{
	return is_waiting(p) && now - p->time_ns > bftm_poll_window(p->lease_ns);
}

void bftm_parties_look(const struct bftm_lock *lock, u32 client, u64 attempt, u64 now,
		       struct bftm_look *ret)
{
	const u32 parties = bftm_parties(lock);
	struct bftm_look look = { .content = true };
	u32 i;

	/* Most locks are free. */
	for (i = bftm_is_free(lock); i < parties; i++) {
		struct bftm_party *p = bftm_party(lock, i);

		look.granted[p->mode]++;
		if (bftm_party_granted(p)) {
			look.grants++;
			look.over |= now > p->time_ns;
		} else {
			look.unheard |= is_unheard(p, now);
		}
		look.content &= bftm_party_content(p);
		if (p->client != client)
			continue;
		if (!look.named && p->attempt == attempt)
			look.named = p;
		if (!look.plain && is_waiting(p) && !p->held)
			look.plain = p;
	}
	*ret = look;
}

struct bftm_party *bftm_party_plain(const struct bftm_lock *lock, u32 client)
{
	u32 i;

	for (i = 0; i < bftm_parties(lock); i++) {
		struct bftm_party *p = bftm_party(lock, i);

		if (p->client == client && is_waiting(p) && !p->held)
			return p;
	}
	return NULL;
}

struct bftm_party *bftm_party_last(const struct bftm_lock *lock)
{
	struct bftm_party *last = NULL;
	u32 i;

	for (i = 0; i < bftm_parties(lock); i++) {
		struct bftm_party *p = bftm_party(lock, i);

		if (is_waiting(p) && (!last || bftm_waits_before(last, p)))
			last = p;
	}
	return last;
}

u32 bftm_party_position(const struct bftm_lock *lock, const struct bftm_party *p)
{
	u32 i, position = 1;

	for (i = 0; i < bftm_parties(lock); i++) {
		const struct bftm_party *other = bftm_party(lock, i);

		position += is_waiting(other) && bftm_waits_before(other, p);
	}
	return position;
}

struct bftm_party *bftm_party_add(struct bftm_lock *lock, const struct bftm_party *me)
{
	struct bftm_queue *q = lock->queue;

	if (!lock->first.attempt) {
		lock->first = *me;
		return &lock->first;
	}
	if (!q || q->count >= q->room)
		return NULL;
	q->place[q->count].party = *me;
	return &q->place[q->count++].party;
}

void bftm_party_remove(struct bftm_lock *lock, struct bftm_party *p)
{
	if (p == &lock->first)
		memset(p, 0, sizeof(*p));
	else
		*(struct bftm_seat *)p = lock->queue->place[--lock->queue->count];
}

struct bftm_party *bftm_party_number(struct bftm_lock *lock, struct bftm_party *p)
{
	struct bftm_seat *place = (struct bftm_seat *)p;

	if (p != &lock->first) {
		const struct bftm_party newest = *p;

		if (lock->first.attempt)
			*place = (struct bftm_seat){ .party = lock->first, .gno = lock->gno };
		else
			*place = lock->queue->place[--lock->queue->count];
		lock->first = newest;
	}
	lock->gno++;
	return &lock->first;
}

void bftm_parties_ended(struct bftm_lock *lock, u64 now)
{
	struct bftm_queue *q = lock->queue;

	if (!q)
		return;
	q->end_ns[q->ends % BFTM_ENDS] = now;
	/* The count stays what it is modulo BFTM_ENDS, and above that. */
	q->ends = q->ends < 2 * BFTM_ENDS - 1 ? q->ends + 1 : BFTM_ENDS;
}

/* T_CS, ns. */
static u64 mean_interval(const struct bftm_queue *q, u64 lease_ns)
{
	u32 kept = q && q->ends > BFTM_ENDS ? BFTM_ENDS : q ? q->ends : 0;
	u64 span;

	if (kept < 2)
		return bftm_pace(lease_ns) / 2;
	span = q->end_ns[(q->ends - 1) % BFTM_ENDS] - q->end_ns[(q->ends - kept) % BFTM_ENDS];
	return div_u64(span, kept - 1);
}

u64 bftm_parties_wait(const struct bftm_lock *lock, u32 ahead, u64 lease_ns)
{
	u64 mean = mean_interval(lock->queue, lease_ns), wait;

	if (mean > BFTM_LEASE_MAX_NS)
		mean = BFTM_LEASE_MAX_NS;
	wait = mean * ahead + mean / 2;
	if (!wait)
		return 1;
	return wait < BFTM_LEASE_MAX_NS ? wait : BFTM_LEASE_MAX_NS;
}

void bftm_parties_forget(struct bftm_lock *lock, u64 now)
{
	u32 i = 0;

	while (i < bftm_parties(lock)) {
		struct bftm_party *p = bftm_party(lock, i);

		if (is_unheard(p, now))
			bftm_party_remove(lock, p);
		else
			i++;
	}
}

bool bftm_parties_expire(struct bftm_lock *lock, u64 now)
{
	bool any = false;
	u32 i = 0;

	while (i < bftm_parties(lock)) {
		struct bftm_party *p = bftm_party(lock, i);

		if (bftm_party_granted(p) && now > p->time_ns) {
			if (bftm_mode_writes(p->mode))
				bftm_value_doubt(lock);
			bftm_parties_ended(lock, now);
			bftm_party_remove(lock, p);
			any = true;
		} else {
			i++;
		}
	}
	return any;
}

struct bftm_queue *bftm_queue_move(const struct bftm_queue *q, void *block, u32 room)
{
	struct bftm_queue *moved = block;

	if (!moved)
		return NULL;
	moved->count = q ? q->count : 0;
	moved->valued = q ? q->valued : 0;
	moved->ends = q ? q->ends : 0;
	if (moved->ends)
		memcpy(moved->end_ns, q->end_ns, sizeof(moved->end_ns));
	moved->room = moved->valued ? room - BFTM_VALUE_PLACES : room;
	if (moved->count)
		memcpy(moved->place, q->place, moved->count * sizeof(*moved->place));
	if (moved->valued)
		memcpy(&moved->place[moved->room], &q->place[q->room],
		       sizeof(struct bftm_kept_value));
	return moved;
}
