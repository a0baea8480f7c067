/* SPDX-License-Identifier: GPL-2.0 */
/* A program that converts a lock, in a network namespace whose helper is the test. */
#ifndef BFTM_TEST_CONVERT_FIXTURE_H
#define BFTM_TEST_CONVERT_FIXTURE_H

#include "selftests/module/device/fake_helper.h"
#include "selftests/module/device/harness.h"

#define EX	BFTM_LOCK_EX
#define PW	BFTM_LOCK_PW
#define PR	BFTM_LOCK_PR
#define CW	BFTM_LOCK_CW
#define CR	BFTM_LOCK_CR

FIXTURE(convert)
{
	struct bftm_nl nl;
	struct nl_sock *events;
	int fd;
	const char *name;
	uint64_t end;	/* of the lease */
	uint64_t id;
	struct seen pulled;
};

FIXTURE_SETUP(convert)
{
	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	self->events = open_events(BFTMUTEX_MCGRP_EVENTS);
	self->fd = open_here(O_NONBLOCK);
	ASSERT_GE(self->fd, 0);
	self->name = new_name();
	self->end = now_ns() + 50 * SEC;
}

FIXTURE_TEARDOWN(convert)
{
	close(self->fd);
	nl_socket_free(self->events);
	if (self->nl.sock)
		bftm_nl_close(&self->nl);
}

#define HOLD(mode, flags) \
	(self->id = held_in(&self->nl, self->fd, self->name, mode, flags, self->end))
/* A mode that is waited for. */
#define ASK(mode, flags, timeout) \
	ASSERT_EQ(-EINPROGRESS, convert(self->fd, mode, flags, timeout, NULL))
#define REPORT(number, error, deadline, token) \
	converted(&self->nl, self->id, number, error, deadline, token)
#define PULL(s)	ASSERT_EQ(0, pull(&self->nl, s))
#define NO_REQUEST do {						\
	struct seen none_;					\
	EXPECT_EQ(-ENODATA, pull(&self->nl, &none_));		\
} while (0)
#define IS_HELD(wanted, number) do {				\
	struct bftm_status status_ = status_of(self->fd);	\
	EXPECT_EQ(BFTM_STATE_HELD, status_.state);		\
	EXPECT_EQ(wanted, status_.mode);			\
	EXPECT_EQ(number, status_.token);			\
} while (0)

#endif /* BFTM_TEST_CONVERT_FIXTURE_H */
