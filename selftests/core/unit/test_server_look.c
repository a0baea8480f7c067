// SPDX-License-Identifier: GPL-2.0
/*
 * One look at all parties of a lock shows the same as functions that each look for one thing. And
 * the look at modes and bids lets the same newcomers in.
 */
#include <string.h>

#include "core/backoff/grants.h"
#include "core/lease.h"
#include "unit.h"

#define PARTIES	3
#define CLIENT	3
#define ATTEMPT	7
#define L	(1000 * BFTM_NS_PER_MS)
#define T0	(1ull << 40)

static union {
	struct bftm_queue queue;
	u8 bytes[sizeof(struct bftm_queue) + PARTIES * sizeof(struct bftm_seat)];
} block, kept;
static struct bftm_lock lock;

static int fresh(void **state)
{
	(void)state;
	bftm_lock_init(&lock, 0, 0);
	memset(&block, 0, sizeof(block));
	block.queue.room = PARTIES - 1;
	lock.queue = &block.queue;
	return 0;
}

static struct bftm_party party(u32 client, u64 attempt, u32 mode, u32 want, u32 held)
{
	return (struct bftm_party){
		.client = client, .attempt = attempt, .prio = client, .lease_ns = L,
		.time_ns = T0, .k = 1, .mode = mode, .want = want, .held = held,
	};
}

static void put(u32 place, struct bftm_party p)
{
	*bftm_party(&lock, place) = p;
}

/* Does an action change the lock? It is as before then. */
static bool changes(void (*action)(struct bftm_lock *, u64), u64 now)
{
	struct bftm_lock copy = lock;
	bool changed;

	memcpy(&kept, &block, sizeof(block));
	copy.queue = &kept.queue;
	action(&copy, now);
	changed = copy.first.attempt != lock.first.attempt || kept.queue.count != block.queue.count;
	return changed;
}

static void expire(struct bftm_lock *l, u64 now)
{
	bftm_parties_expire(l, now);
}

static u32 look_agrees(u64 now)
{
	u32 i, grants = 0, granted[BFTM_MODES] = {};
	bool content = true;
	struct bftm_look look;

	bftm_parties_look(&lock, CLIENT, ATTEMPT, now, &look);
	for (i = 0; i < bftm_parties(&lock); i++) {
		const struct bftm_party *p = bftm_party(&lock, i);

		grants += p->mode != BFTM_MODE_NL;
		granted[p->mode]++;
		content = content && !p->want && !p->inquire && !p->probe && !bftm_party_lacks(p);
	}
	assert_ptr_equal(look.named, bftm_party_find(&lock, CLIENT, ATTEMPT));
	assert_ptr_equal(look.plain, bftm_party_plain(&lock, CLIENT));
	assert_int_equal(look.grants, grants);
	for (i = BFTM_MODE_CR; i < BFTM_MODES; i++)
		assert_int_equal(look.granted[i], granted[i]);
	assert_int_equal(look.over, changes(expire, now));
	assert_int_equal(look.unheard, changes(bftm_parties_forget, now));
	assert_int_equal(look.content, content);
	return 1;
}

/* Each party there is, first or behind another: of this client or not, marked or not. */
static void a_look_shows_what_is_there(void **state)
{
	static const u64 instants[] = { T0, T0 + 1, T0 + L, T0 + L + 1 };
	u32 bits, mode, want, held, i, place, checked = 0;

	(void)state;
	assert_int_equal(bftm_poll_window(L), L);
	block.queue.count = 1;
	for (mode = 0; mode < BFTM_MODES; mode++)
		for (want = 0; want < BFTM_MODES; want++)
			for (held = 0; held < BFTM_MODES; held++)
				for (bits = 0; bits < 64; bits++) {
					struct bftm_party p = party(bits & 1 ? CLIENT : 2,
								    bits & 2 ? ATTEMPT : 6, mode,
								    want, held);

					p.inquire = bits >> 2 & 1;
					p.probe = bits >> 3 & 1;
					place = bits >> 4 & 1;
					put(!place, party(CLIENT, 5, bits & 1, bits >> 5, 0));
					put(place, p);
					for (i = 0; i < ARRAY_SIZE(instants); i++)
						checked += look_agrees(instants[i]);
				}
	assert_int_equal(checked, 6 * 6 * 6 * 64 * 4);
}

static void nobody_is_there(void **state)
{
	struct bftm_look look;

	(void)state;
	bftm_parties_look(&lock, CLIENT, ATTEMPT, T0, &look);
	assert_true(look.content && !look.over && !look.unheard);
	assert_true(!look.named && !look.plain && !look.grants);
	assert_int_equal(look_agrees(T0), 1);
}

/* All parties that want no more than they have, by their number; the last one is nobody. */
static bool content_party(u32 number, u32 client, struct bftm_party *ret)
{
	*ret = party(client, 1, number % BFTM_MODES, 0, number / BFTM_MODES);
	if (number == BFTM_MODES * BFTM_MODES)
		memset(ret, 0, sizeof(*ret));
	return !ret->attempt || (ret->mode && bftm_mode_covers(ret->mode, ret->held));
}

/* Each newcomer beside those that are there. */
static u32 newcomers_agree(void)
{
	u32 want, held, most, checked = 0;
	struct bftm_look look;

	bftm_parties_look(&lock, CLIENT, ATTEMPT, T0, &look);
	assert_true(look.content);
	for (want = BFTM_MODE_CR; want < BFTM_MODES; want++)
		for (held = 0; held < BFTM_MODES; held++)
			for (most = 1; most <= PARTIES + 1; most++) {
				struct bftm_party me = party(CLIENT, ATTEMPT, 0, want, held);
				bool share = bftm_grants_share(&look, most, &me);

				/* A lock that nobody has is free whatever the limit is. */
				if (bftm_is_free(&lock))
					continue;
				assert_int_equal(share, bftm_grants_beside(&lock, most, &me, false));
				assert_int_equal(share, bftm_grants_beside(&lock, most, &me, true));
				checked++;
			}
	return checked;
}

static void who_shares_is_let_in(void **state)
{
	const u32 all = BFTM_MODES * BFTM_MODES + 1;
	struct bftm_party p;
	u32 a, b, c, checked = 0;

	(void)state;
	block.queue.count = 2;
	for (a = 0; a < all; a++) {
		if (!content_party(a, 11, &p))
			continue;
		put(0, p);
		/* Only the place inside the lock can be empty. */
		for (b = 0; b < all - 1; b++) {
			if (!content_party(b, 12, &p))
				continue;
			put(1, p);
			for (c = 0; c < all - 1; c++) {
				if (!content_party(c, 13, &p))
					continue;
				put(2, p);
				checked += newcomers_agree();
			}
		}
	}
	print_message("# %u newcomers\n", checked);
	assert_true(checked > 500000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_look_shows_what_is_there, fresh),
		cmocka_unit_test_setup(nobody_is_there, fresh),
		cmocka_unit_test_setup(who_shares_is_let_in, fresh),
	};

	return cmocka_run_group_tests_name("server look", tests, NULL, NULL);
}
