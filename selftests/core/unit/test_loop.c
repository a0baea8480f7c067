// SPDX-License-Identifier: GPL-2.0
/* The daemon's loop: who has its turn while others have much to do. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "loop/loop.h"
#include "unit.h"

#define TIMERS	1000
#define TURN	16	/* timers of one turn, see loop.c */

static struct bftm_timer timer[TIMERS];
static u32 fired, fired_before[3], turns;

/* A request that nobody answers: it is due again at once. */
static void again(struct bftm_timer *t)
{
	assert_in_range(++fired, 1, 100 * TIMERS);
	bftm_timer_arm(t, bftm_now());
}

/* An answer is here whenever anybody looks. */
static void answer(struct bftm_watch *watch)
{
	(void)watch;
	fired_before[turns++] = fired;
	if (turns == ARRAY_SIZE(fired_before))
		bftm_loop_stop();
}

static void answers_are_read_between_timers(void **state)
{
	struct bftm_watch watch = { .ready = answer };
	int fd[2];
	u32 i;

	(void)state;
	assert_return_code(pipe2(fd, O_CLOEXEC), 0);
	assert_int_equal(write(fd[1], "x", 1), 1);
	watch.fd = fd[0];
	assert_int_equal(bftm_loop_init(), 0);
	assert_int_equal(bftm_watch_add(&watch), 0);
	for (i = 0; i < TIMERS; i++) {
		timer[i].fire = again;
		bftm_timer_arm(&timer[i], bftm_now());
	}
	assert_int_equal(bftm_loop_run(), 0);
	for (i = 0; i < turns; i++)
		assert_int_equal(fired_before[i], (i + 1) * TURN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_read_between_timers),
	};

	return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
