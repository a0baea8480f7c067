// SPDX-License-Identifier: GPL-2.0
/*
 * Conversion of a held lock, from both sides: the program, which does not wait here, and the
 * helper, which is the test.
 */
#include <sys/epoll.h>

#include "convert_fixture.h"

TEST_F(convert, helper_sees_what_is_held_and_what_is_wanted)
{
	uint64_t before = now_ns();
	struct seen s;

	HOLD(PR, BFTM_RENEW | BFTM_FENCE);
	ASK(EX, BFTM_FENCE, 7 * SEC);
	PULL(&s);
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_CONVERT, s.kind);
	EXPECT_EQ(self->id, s.id);
	EXPECT_STREQ(self->name, s.name);
	EXPECT_EQ(PR, s.mode);
	EXPECT_EQ(EX, s.goal);
	EXPECT_EQ(1, s.conversion);
	EXPECT_EQ(BFTM_FENCE, s.convert_flags);
	EXPECT_EQ(BFTM_RENEW | BFTM_FENCE, s.flags);
	EXPECT_GE(s.timeout_at_ns, before + 7 * SEC);
	EXPECT_LE(s.timeout_at_ns, now_ns() + 7 * SEC);
	EXPECT_EQ(5, s.attempt);
	EXPECT_EQ(self->end, s.deadline_ns);
	EXPECT_EQ(11, s.token);
	EXPECT_EQ(1, s.sends);
	NO_REQUEST;
	/* Another takes its place; without a limit, and with the limit of one that does not wait. */
	ASK(PW, 0, 0);
	PULL(&s);
	EXPECT_EQ(PW, s.goal);
	EXPECT_EQ(2, s.conversion);
	EXPECT_EQ(0, s.convert_flags);
	EXPECT_EQ(0, s.timeout_at_ns);
	ASK(EX, BFTM_TRY, 0);
	PULL(&s);
	EXPECT_EQ(BFTM_TRY, s.convert_flags);
	EXPECT_GE(s.timeout_at_ns, before + SEC);
}

TEST_F(convert, has_the_mode_that_was_wanted)
{
	struct seen s;

	HOLD(PR, BFTM_FENCE);
	EXPECT_EQ(BFTM_STATE_HELD, next_event(self->events, &s, LONG_MS));
	EXPECT_EQ(0, s.conversion);
	ASK(EX, BFTM_FENCE, 0);
	/* Else a program would take 0, or the token of readers, for one. */
	EXPECT_EQ(-EINVAL, REPORT(1, 0, self->end + SEC, 0));
	IS_HELD(PR, 11);
	ASSERT_EQ(0, REPORT(1, 0, self->end + SEC, 17));
	IS_HELD(EX, 17);
	EXPECT_EQ(self->end + SEC, status_of(self->fd).deadline_ns);
	EXPECT_EQ(BFTM_STATE_HELD, next_event(self->events, &s, LONG_MS));
	EXPECT_EQ(EX, s.mode);
	EXPECT_EQ(17, s.token);
	EXPECT_EQ(1, s.conversion);
	EXPECT_EQ(-1, next_event(self->events, &s, 0));
	EXPECT_EQ(-ECANCELED, REPORT(1, 0, self->end + 2 * SEC, 18));
	IS_HELD(EX, 17);
}

/* An end that programs were told comes no nearer; a token that was not asked for is none. */
TEST_F(convert, without_a_token_and_not_for_longer)
{
	HOLD(CR, BFTM_FENCE);
	ASK(PW, 0, 0);
	ASSERT_EQ(0, REPORT(1, 0, self->end - SEC, 17));
	IS_HELD(PW, 0);
	EXPECT_EQ(self->end, status_of(self->fd).deadline_ns);
}

TEST_F(convert, has_the_mode_before_after_a_failure)
{
	static const uint32_t errors[] = { EDEADLK, EWOULDBLOCK, ETIMEDOUT, ENODATA, 1, 511 };
	struct seen s;
	uint32_t i;

	HOLD(PR, BFTM_FENCE);
	EXPECT_EQ(BFTM_STATE_HELD, next_event(self->events, &s, LONG_MS));
	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		ASK(EX, BFTM_FENCE, 0);
		EXPECT_EQ(0, status_of(self->fd).error);
		ASSERT_EQ(0, REPORT(i + 1, errors[i], 0, 0));
		EXPECT_EQ((int)errors[i], status_of(self->fd).error);
		IS_HELD(PR, 11);
		EXPECT_EQ(-ECANCELED, REPORT(i + 1, 0, self->end + SEC, 17));
	}
	EXPECT_EQ(-1, next_event(self->events, &s, 0));
	ASSERT_EQ(0, convert(self->fd, CR, 0, 0, NULL));
	EXPECT_EQ(0, status_of(self->fd).error);
}

/* A mode covers those that exclude nothing that it does not exclude. */
TEST_F(convert, what_is_covered_is_there_at_once)
{
	static const char *const covers[] = {
		[EX] = "yyyyy", [PW] = "nyyyy", [PR] = "nnyny", [CW] = "nnnyy", [CR] = "nnnny",
	};
	uint32_t from, to;
	struct seen s;

	for (from = EX; from <= CR; from++) {
		for (to = EX; to <= CR; to++) {
			bool covered = covers[from][to] == 'y';

			HOLD(from, 0);
			EXPECT_EQ(BFTM_STATE_HELD, next_event(self->events, &s, LONG_MS));
			EXPECT_EQ(covered ? 0 : -EINPROGRESS, convert(self->fd, to, 0, 0, NULL)) {
				TH_LOG("from %u to %u", from, to);
			}
			IS_HELD(covered ? to : from, 0);
			PULL(&s);
			EXPECT_EQ(BFTMUTEX_REQUEST_KIND_CONVERT, s.kind);
			EXPECT_EQ(covered ? to : from, s.mode);
			EXPECT_EQ(to, s.goal);
			EXPECT_EQ(covered, !s.conversion);
			if (covered && from != to) {
				EXPECT_EQ(BFTM_STATE_HELD, next_event(self->events, &s, LONG_MS));
				EXPECT_EQ(to, s.mode);
				EXPECT_NE(0, s.conversion);
			}
			ASSERT_EQ(0, release(self->fd));
			EXPECT_EQ(BFTM_STATE_IDLE, next_event(self->events, &s, LONG_MS));
			PULL(&s);
		}
	}
}

/* The first conversion, too, is no acquire for programs that watch. */
TEST_F(convert, event_has_its_number)
{
	struct seen s;

	HOLD(EX, 0);
	EXPECT_EQ(BFTM_STATE_HELD, next_event(self->events, &s, LONG_MS));
	ASSERT_EQ(0, convert(self->fd, PR, 0, 0, NULL));
	EXPECT_EQ(BFTM_STATE_HELD, next_event(self->events, &s, LONG_MS));
	EXPECT_EQ(1, s.conversion);
	/* Those of a lock say nothing of the next one. */
	ASSERT_EQ(0, release(self->fd));
	EXPECT_EQ(BFTM_STATE_IDLE, next_event(self->events, &s, LONG_MS));
	PULL(&s);
	HOLD(EX, 0);
	EXPECT_EQ(BFTM_STATE_HELD, next_event(self->events, &s, LONG_MS));
	EXPECT_EQ(0, s.conversion);
}

/* It has the mode at once, and the token that is to come replaces the one before, or none does. */
TEST_F(convert, token_of_what_is_covered)
{
	struct seen s;

	HOLD(EX, BFTM_FENCE);
	EXPECT_EQ(BFTM_STATE_HELD, next_event(self->events, &s, LONG_MS));
	ASK(PR, BFTM_FENCE, 0);
	IS_HELD(PR, 11);
	PULL(&s);
	EXPECT_EQ(PR, s.mode);
	EXPECT_EQ(PR, s.goal);
	EXPECT_EQ(1, s.conversion);
	EXPECT_EQ(BFTM_FENCE, s.convert_flags);
	EXPECT_EQ(BFTM_STATE_HELD, next_event(self->events, &s, LONG_MS));
	EXPECT_EQ(11, s.token);
	ASSERT_EQ(0, REPORT(1, 0, self->end, 17));
	IS_HELD(PR, 17);
	EXPECT_EQ(BFTM_STATE_HELD, next_event(self->events, &s, LONG_MS));
	EXPECT_EQ(17, s.token);
	EXPECT_EQ(1, s.conversion);
	ASK(PR, BFTM_FENCE, 0);
	ASSERT_EQ(0, REPORT(2, 0, self->end, 0));
	IS_HELD(PR, 17);
	EXPECT_EQ(-1, next_event(self->events, &s, 0));
	/* It was to be had as it is. */
	ASSERT_EQ(0, convert(self->fd, CR, 0, 0, NULL));
	IS_HELD(CR, 17);
}

TEST_F(convert, no_token_before_and_none_now)
{
	struct seen s;

	HOLD(EX, 0);
	ASK(PR, BFTM_FENCE, 0);
	PULL(&s);
	ASSERT_EQ(0, REPORT(1, 0, self->end, 0));
	IS_HELD(PR, 0);
	EXPECT_EQ(ENODATA, status_of(self->fd).error);
}

TEST_F(convert, poll_waits_for_the_decision)
{
	int i;

	HOLD(PR, 0);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(POLLIN, poll_now(self->fd));
		ASK(EX, 0, 0);
		EXPECT_EQ(0, poll_now(self->fd));
		ASSERT_EQ(0, REPORT((uint32_t)i + 1, i ? 0 : EDEADLK, i ? self->end : 0, 0));
		EXPECT_EQ(POLLIN, poll_now(self->fd));
	}
	IS_HELD(EX, 0);
}

/* Those that sleep in poll() are woken, by what ends it and by what takes its place. */
TEST_F(convert, wakes_those_that_poll)
{
	struct epoll_event edge = { .events = EPOLLIN | EPOLLET };
	int queue = epoll_create1(EPOLL_CLOEXEC), i;

	ASSERT_LE(0, queue);
	HOLD(PR, 0);
	ASSERT_EQ(0, epoll_ctl(queue, EPOLL_CTL_ADD, self->fd, &edge));
	EXPECT_EQ(1, epoll_wait(queue, &edge, 1, 0));
	for (i = 0; i < 2; i++) {
		ASK(EX, 0, 0);
		EXPECT_EQ(0, epoll_wait(queue, &edge, 1, 0));
		ASSERT_EQ(0, i ? convert(self->fd, PR, 0, 0, NULL) : REPORT(1, EDEADLK, 0, 0));
		EXPECT_EQ(1, epoll_wait(queue, &edge, 1, 0));
		EXPECT_EQ(0, epoll_wait(queue, &edge, 1, 0));
	}
	close(queue);
}

TEST_F(convert, another_takes_its_place)
{
	struct seen s;

	HOLD(PR, 0);
	ASK(EX, 0, 0);
	PULL(&s);
	ASK(PW, 0, 0);
	EXPECT_EQ(-ECANCELED, REPORT(1, 0, self->end, 0));
	IS_HELD(PR, 0);
	PULL(&s);
	EXPECT_EQ(PW, s.goal);
	EXPECT_EQ(2, s.conversion);
	/* The mode that is held cancels it. */
	ASSERT_EQ(0, convert(self->fd, PR, 0, 0, NULL));
	EXPECT_EQ(POLLIN, poll_now(self->fd));
	PULL(&s);
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_CONVERT, s.kind);
	EXPECT_EQ(PR, s.mode);
	EXPECT_EQ(PR, s.goal);
	EXPECT_EQ(0, s.conversion);
	EXPECT_EQ(-ECANCELED, REPORT(2, 0, self->end, 0));
	EXPECT_EQ(-ECANCELED, REPORT(3, 0, self->end, 0));
	IS_HELD(PR, 0);
	NO_REQUEST;
}

/* One request waits, and says all that is to be said. */
TEST_F(convert, queued_with_a_renewal)
{
	struct seen s;
	int i;

	HOLD(PR, 0);
	for (i = 0; i < 2; i++) {
		if (i)
			ASK(EX, 0, 0);
		EXPECT_EQ(-EINPROGRESS, renew(self->fd, 0, NULL));
		if (!i)
			ASK(EX, 0, 0);
		PULL(&s);
		EXPECT_EQ(BFTMUTEX_REQUEST_KIND_CONVERT, s.kind);
		NO_REQUEST;
	}
	ASSERT_EQ(0, renewed(&self->nl, self->id, self->end + 1, 2));
	ASK(EX, 0, 0);
	ASSERT_EQ(0, release(self->fd));
	PULL(&s);
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_RELEASE, s.kind);
	EXPECT_EQ(-ESTALE, REPORT(3, 0, self->end, 0));
	NO_REQUEST;
}

/* Is poll() told that somebody waits? */
static bool is_wanted(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLRDBAND };

	return poll(&p, 1, 0) == 1 && p.revents & POLLRDBAND;
}

TEST_F(convert, somebody_waits)
{
	struct seen s;

	HOLD(EX, 0);
	EXPECT_FALSE(is_wanted(self->fd));
	EXPECT_EQ(-EINVAL, wanted(&self->nl, NONE, EX));
	EXPECT_EQ(-ESTALE, wanted(&self->nl, self->id + 1, EX));
	EXPECT_EQ(-ESTALE, wanted(&self->nl, self->id, PR));
	EXPECT_EQ(-ESTALE, wanted(&self->nl, self->id, UINT32_MAX));
	EXPECT_FALSE(is_wanted(self->fd));
	EXPECT_EQ(0, wanted(&self->nl, self->id, EX));
	EXPECT_EQ(0, wanted(&self->nl, self->id, EX));
	EXPECT_TRUE(is_wanted(self->fd));
	/* Not for programs that do not ask for it. */
	EXPECT_EQ(POLLIN, poll_for(self->fd, POLLIN | POLLPRI, 0));
	/* A waiter for the mode that is given up may be served by that. */
	EXPECT_EQ(0, convert(self->fd, PR, 0, 0, NULL));
	EXPECT_FALSE(is_wanted(self->fd));
	EXPECT_EQ(-ESTALE, wanted(&self->nl, self->id, EX));
	EXPECT_EQ(0, wanted(&self->nl, self->id, PR));
	EXPECT_TRUE(is_wanted(self->fd));
	/* The mode that it already has gives nothing up. */
	EXPECT_EQ(0, convert(self->fd, PR, 0, 0, NULL));
	EXPECT_TRUE(is_wanted(self->fd));
	EXPECT_EQ(0, release(self->fd));
	EXPECT_FALSE(is_wanted(self->fd));
	EXPECT_EQ(-ESTALE, wanted(&self->nl, self->id, PR));
	while (!pull(&self->nl, &s))
		;
	HOLD(PR, 0);
	EXPECT_FALSE(is_wanted(self->fd));
}

TEST_F(convert, a_loss_ends_it)
{
	self->end = now_ns() + 50 * MS;
	HOLD(PR, 0);
	EXPECT_EQ(0, wanted(&self->nl, self->id, PR));
	EXPECT_TRUE(is_wanted(self->fd));
	sleep_until(self->end + 1);
	EXPECT_FALSE(is_wanted(self->fd));
	EXPECT_EQ(-ESTALE, wanted(&self->nl, self->id, PR));
}

TEST_HARNESS_MAIN
