// SPDX-License-Identifier: GPL-2.0
/* The daemon's loop: who has its turn while others have much to do. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "loop/loop.h"
#include "unit.h"

#define TIMERS	1000
#define TURN	16	/* timers of one turn: FIRE_MOST of loop.c */
#define TURNS	3	/* that are looked at */

static struct bftm_timer timer[TIMERS], late;
static u32 fired, fired_before[TURNS], turns, late_after;

static void count(void)
{
	assert_in_range(++fired, 1, 100 * TIMERS);
}

/* A request that nobody answers: it is due again at once. */
static void again(struct bftm_timer *t)
{
	count();
	bftm_timer_arm(t, bftm_now());
}

/* An object's next step is due as soon as can be. */
static void soon(struct bftm_timer *t)
{
	count();
	bftm_timer_arm(t, 0);
}

/* A renewal */
static void note_late(struct bftm_timer *t)
{
	(void)t;
	count();
	late_after = fired;
}

/* An answer is here whenever anybody looks. */
static void answer(struct bftm_watch *watch)
{
	(void)watch;
	if (turns < TURNS)
		fired_before[turns] = fired;
	turns++;
	/* A due timer that is armed once more is not put off. */
	if (!late_after)
		bftm_timer_arm(&late, turns % 2 ? 0 : bftm_now());
	if (turns >= TURNS && late_after)
		bftm_loop_stop();
}

/* Answers are read between timers, and no timer is passed by others for ever. */
static void each_has_its_turn(void **state)
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
		timer[i].fire = i % 2 ? again : soon;
		bftm_timer_arm(&timer[i], 0);
	}
	late.fire = note_late;
	bftm_timer_arm(&late, bftm_now());
	assert_int_equal(bftm_loop_run(), 0);
	for (i = 0; i < TURNS; i++)
		assert_int_equal(fired_before[i], (i + 1) * TURN);
	/* Those of its turn may go before it, and all that were armed before. */
	assert_true(late_after <= TIMERS + 2 * TURN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_its_turn),
	};

	return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
