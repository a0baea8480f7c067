// SPDX-License-Identifier: GPL-2.0
/* Answers of servers to ASK, of which b are lies: the owner that they prove. */
#include "unit.h"

#include <string.h>

#include "core/lease.h"
#include "core/quorum.h"
#include "core/who.h"
#include "core/wire.h"

#define N 5
#define B 1

/* A server that has granted the lock to an attempt of a client, 0 for nobody. */
static struct bftm_owner_said says(u32 client, u64 rest_ns)
{
	return (struct bftm_owner_said){
		.told = true, .attempt = client ? 10 + client : 0, .client = client,
		.mode = client ? BFTM_MODE_EX : BFTM_MODE_NL, .rest_ns = rest_ns, .token = 7,
		.holders = client ? 1 : 0, .waiters = 2,
	};
}

static struct bftm_owner judged(const u32 client[N])
{
	struct bftm_owner_said said[N] = {};
	struct bftm_owner ret;
	u32 u;

	for (u = 0; u < N; u++)
		if (client[u] != UINT32_MAX)
			said[u] = says(client[u], 100 + u);
	bftm_who_judge(said, N, B, bftm_free_needed(N, B), &ret);
	return ret;
}

#define SILENT UINT32_MAX

static void who_is_believed(void **state)
{
	static const struct {
		u32 said[N];
		enum bftm_who who;
		u32 client, told;
	} cases[] = {
		{ { SILENT, SILENT, SILENT, SILENT, SILENT }, BFTM_WHO_UNSURE, 0, 0 },
		{ { 3, 3, 3, 3, 3 }, BFTM_WHO_HELD, 3, 5 },
		{ { 3, 3, 3, 3, 4 }, BFTM_WHO_HELD, 3, 5 },
		{ { 3, 3, 3, 3, SILENT }, BFTM_WHO_HELD, 3, 4 },
		{ { 3, 3, 3, 0, 0 }, BFTM_WHO_GRANTED, 3, 5 },
		{ { 3, 3, 0, 0, 0 }, BFTM_WHO_GRANTED, 3, 5 },
		/* One may lie. */
		{ { 3, 0, 0, 0, 0 }, BFTM_WHO_NOBODY, 0, 5 },
		{ { 3, 0, 0, 0, SILENT }, BFTM_WHO_UNSURE, 0, 4 },
		{ { 3, 4, 2, 0, 0 }, BFTM_WHO_UNSURE, 0, 5 },
		{ { 3, SILENT, SILENT, SILENT, SILENT }, BFTM_WHO_UNSURE, 0, 1 },
		{ { 0, 0, 0, 0, SILENT }, BFTM_WHO_NOBODY, 0, 4 },
		{ { 0, 0, 0, SILENT, SILENT }, BFTM_WHO_UNSURE, 0, 3 },
		{ { 3, 3, 4, 4, 4 }, BFTM_WHO_GRANTED, 4, 5 },
	};
	size_t i;

	(void)state;
	assert_int_equal(bftm_free_needed(N, B), 4);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bftm_owner owner = judged(cases[i].said);

		if (owner.who != cases[i].who || owner.said.client != cases[i].client ||
		    owner.told != cases[i].told)
			fail_msg("case %zu: %d, client %u, told %u", i, owner.who, owner.said.client,
				 owner.told);
		if (!owner.who)
			assert_false(owner.said.told || owner.counted || owner.said.token);
	}
}

/* Sigma: n = 4, b = 0 and m = 4, where F is 3. Three servers, which are F, are not enough. */
static void m_servers_decide(void **state)
{
	static const struct {
		u32 said[4];
		enum bftm_who who;
	} cases[] = {
		{ { 3, 3, 3, 3 }, BFTM_WHO_HELD },
		{ { 3, 3, 3, 0 }, BFTM_WHO_GRANTED },
		{ { 0, 0, 0, 0 }, BFTM_WHO_NOBODY },
		{ { 0, 0, 0, SILENT }, BFTM_WHO_UNSURE },
	};
	struct bftm_owner owner;
	size_t i;
	u32 u;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bftm_owner_said said[4] = {};

		for (u = 0; u < 4; u++)
			if (cases[i].said[u] != SILENT)
				said[u] = says(cases[i].said[u], 100);
		bftm_who_judge(said, 4, 0, bftm_grants_needed(4, 0, 4), &owner);
		if (owner.who != cases[i].who)
			fail_msg("case %zu: %d", i, owner.who);
	}
}

/* Another attempt of the client, or another mode, is another answer. */
static void all_of_an_answer_counts(void **state)
{
	struct bftm_owner_said said[N] = {
		says(3, 1), says(3, 1), says(3, 1), says(3, 1), says(3, 1),
	};
	struct bftm_owner owner;

	(void)state;
	said[3].attempt++;
	said[4].mode = BFTM_MODE_PR;
	bftm_who_judge(said, N, B, bftm_free_needed(N, B), &owner);
	assert_int_equal(owner.who, BFTM_WHO_GRANTED);
	assert_int_equal(owner.said.attempt, 13);
	assert_int_equal(owner.said.mode, BFTM_MODE_EX);
}

/* Numbers lie between those of correct servers, and a token was said by one of them. */
static void a_liar_moves_no_number(void **state)
{
	static const u64 lies[] = { 0, 1, 99, 150, 1000, BFTM_LEASE_NONE };
	struct bftm_owner_said said[N];
	struct bftm_owner owner;
	u32 u, liar;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lies); i++)
		for (liar = 0; liar < N; liar++) {
			for (u = 0; u < N; u++)
				said[u] = says(3, 100 + 10 * u);
			said[liar].rest_ns = lies[i];
			said[liar].waiters = (u32)lies[i];
			said[liar].holders = (u32)lies[i];
			said[liar].token = lies[i];
			bftm_who_judge(said, N, B, bftm_free_needed(N, B), &owner);
			assert_int_equal(owner.who, BFTM_WHO_HELD);
			assert_true(owner.counted);
			assert_in_range(owner.said.rest_ns, 100, 140);
			assert_int_equal(owner.said.waiters, 2);
			assert_int_equal(owner.said.holders, 1);
			assert_int_equal(owner.said.token, 7);
		}
	/* Two agree, of which one may lie. */
	for (u = 0; u < N; u++)
		said[u] = says(u < 2 ? 3 : 0, 100);
	said[1].token = 8;
	bftm_who_judge(said, N, B, bftm_free_needed(N, B), &owner);
	assert_int_equal(owner.who, BFTM_WHO_GRANTED);
	assert_false(owner.counted);
	assert_true(owner.said.token == BFTM_TOKEN_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_believed),
		cmocka_unit_test(m_servers_decide),
		cmocka_unit_test(all_of_an_answer_counts),
		cmocka_unit_test(a_liar_moves_no_number),
	};

	return cmocka_run_group_tests_name("who", tests, NULL, NULL);
}
