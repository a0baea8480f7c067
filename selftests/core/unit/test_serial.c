// SPDX-License-Identifier: GPL-2.0
/* bftmutex-lin --serial against every order of the transactions, and the ends they may have. */
#include "unit.h"

#include <string.h>

#include "selftests/core/lin/serial.h"

#define WHO_MAX 4
#define STEPS_MAX 9

struct drawn {
	struct {
		u32 who, object;
		enum serial_does does;
	} step[STEPS_MAX];
	u32 steps;
};

static const char *const who[] = { "T", "U", "V", "W" };
static const char *const object[] = { "a", "b" };

static u32 judge(const struct drawn *d, FILE *to)
{
	struct serial *s = serial_new();
	u32 i, ret;

	for (i = 0; i < d->steps; i++)
		assert_true(serial_add(s, who[d->step[i].who], d->step[i].does,
				       object[d->step[i].object], i + 1));
	ret = serial_check(s, to);
	serial_free(s);
	return ret;
}

static bool is_aborted(const struct drawn *d, u32 transaction)
{
	u32 i;

	for (i = 0; i < d->steps; i++)
		if (d->step[i].who == transaction && d->step[i].does == SERIAL_ABORT)
			return true;
	return false;
}

/* Do all conflicting pairs have this order? @rank: of each transaction */
static bool fits(const struct drawn *d, const u32 rank[WHO_MAX])
{
	u32 i, k;

	for (i = 0; i < d->steps; i++)
		for (k = i + 1; k < d->steps; k++)
			if (d->step[i].does < SERIAL_COMMIT && d->step[k].does < SERIAL_COMMIT &&
			    d->step[i].object == d->step[k].object &&
			    (d->step[i].does != SERIAL_READ || d->step[k].does != SERIAL_READ) &&
			    !is_aborted(d, d->step[i].who) && !is_aborted(d, d->step[k].who) &&
			    rank[d->step[i].who] > rank[d->step[k].who])
				return false;
	return true;
}

static bool any_order_fits(const struct drawn *d)
{
	u32 code;

	for (code = 0; code < 256; code++) {
		const u32 rank[WHO_MAX] = { code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6 & 3 };
		u32 seen = 0, i;

		for (i = 0; i < WHO_MAX; i++)
			seen |= 1u << rank[i];
		if (seen == 15 && fits(d, rank))
			return true;
	}
	return false;
}

/* Steps of transactions that have not ended. */
static void draw(struct drawn *d, u64 *seed)
{
	bool ended[WHO_MAX] = {};
	u32 i, w;

	d->steps = 0;
	for (i = 0; i < STEPS_MAX; i++) {
		w = (u32)unit_between(seed, 0, WHO_MAX - 1);
		if (ended[w])
			continue;
		d->step[d->steps].who = w;
		d->step[d->steps].object = (u32)unit_between(seed, 0, 1);
		d->step[d->steps].does = (u32)unit_between(seed, 0, SERIAL_DOES - 1);
		ended[w] = d->step[d->steps].does >= SERIAL_COMMIT;
		d->steps++;
	}
}

static void an_order_is_found_if_there_is_one(void **state)
{
	u64 seed = unit_seed("an_order_is_found_if_there_is_one");
	u32 run, verdicts[2] = {}, levels;
	struct drawn d;

	(void)state;
	for (run = 0; run < 20000; run++) {
		bool possible;

		draw(&d, &seed);
		possible = any_order_fits(&d);
		levels = judge(&d, NULL);
		assert_int_equal(levels & 1u << SERIAL_SERIALIZABLE, possible);
		/* Each of the others has those before it. */
		if (levels & 1u << SERIAL_STRICT)
			assert_true(levels & 1u << SERIAL_CASCADELESS);
		if (levels & 1u << SERIAL_CASCADELESS)
			assert_true(levels & 1u << SERIAL_RECOVERABLE);
		verdicts[possible]++;
	}
	/* There are 2920 without an order, with a standard deviation of 50. */
	assert_true(verdicts[0] > 1000 && verdicts[1] > 1000);
}

/* The steps, and the properties that they have besides serializability, which all of them have. */
static void ends_decide(void **state)
{
	static const struct {
		const char *steps;
		u32 levels;
	} cases[] = {
		{ "Twa Tc Ura Uc", 1 << SERIAL_RECOVERABLE | 1 << SERIAL_CASCADELESS | 1 << SERIAL_STRICT },
		{ "Twa Ura Tc Uc", 1 << SERIAL_RECOVERABLE },
		{ "Twa Ura Uc Tc", 0 },
		{ "Twa Ura Uc", 0 },
		{ "Twa Ura", 1 << SERIAL_RECOVERABLE },
		{ "Twa Uwa Tc Uc", 1 << SERIAL_RECOVERABLE | 1 << SERIAL_CASCADELESS },
		{ "Twa Uua Tc Uc", 1 << SERIAL_RECOVERABLE },
		{ "Twa Tx Ura Uc", 1 << SERIAL_RECOVERABLE | 1 << SERIAL_CASCADELESS | 1 << SERIAL_STRICT },
		{ "Twa Tc Uwa Ux Vra Vc", 1 << SERIAL_RECOVERABLE | 1 << SERIAL_CASCADELESS | 1 << SERIAL_STRICT },
		{ "Twa Tra Twa Tc", 1 << SERIAL_RECOVERABLE | 1 << SERIAL_CASCADELESS | 1 << SERIAL_STRICT },
	};
	static const char letters[] = "rwucx";
	const char *at;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct drawn d = {};

		for (at = cases[i].steps; *at; at += strcspn(at, " "), at += *at == ' ') {
			d.step[d.steps].who = (u32)(at[0] - 'T');
			d.step[d.steps].does = (u32)(strchr(letters, at[1]) - letters);
			d.steps++;
		}
		if (judge(&d, NULL) != (cases[i].levels | 1u << SERIAL_SERIALIZABLE))
			fail_msg("%s: %x", cases[i].steps, judge(&d, NULL));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_order_is_found_if_there_is_one),
		cmocka_unit_test(ends_decide),
	};

	return cmocka_run_group_tests_name("serial", tests, NULL, NULL);
}
