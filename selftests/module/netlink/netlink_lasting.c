// SPDX-License-Identifier: GPL-2.0
/*
 * Locks without a lease, from both sides: the program, and the helper, which is the test. No clock
 * ends such a lock, a helper that is gone neither, and its release waits for the next helper.
 */
#include <poll.h>

#include "convert_fixture.h"

#define NO_END	UINT64_MAX

static int evicted(struct bftm_nl *nl, uint64_t id)
{
	struct nl_msg *msg = bftm_nl_msg(nl, BFTMUTEX_CMD_HELPER_EVICTED, 0);

	nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, id);
	return send_msg(nl, msg);
}

/* The other functions leave a number of all ones out of a report; these do not. */
#define DONE(end) held_until(&self->nl, BFTMUTEX_CMD_HELPER_DONE, self->id, end, end)
#define RENEWED(end) held_until(&self->nl, BFTMUTEX_CMD_HELPER_RENEWED, self->id, end, end)

/* Asks without a lease, as a helper pulls it. */
static uint64_t asked(struct bftm_nl *nl, int fd, const char *name)
{
	struct bftm_acquire arg = want(name, 0, 0, BFTM_NO_LEASE);
	struct seen s;

	if (call(fd, BFTM_IOC_ACQUIRE, &arg) != -EINPROGRESS || pull(nl, &s) ||
	    s.flags != BFTM_NO_LEASE)
		abort();
	return s.id;
}

#define LASTS(fd) do {								\
	struct bftm_status lasts_ = status_of(fd);				\
	EXPECT_EQ(BFTM_STATE_HELD, lasts_.state);				\
	EXPECT_EQ(NO_END, lasts_.deadline_ns);					\
	EXPECT_EQ(NO_END, lasts_.remaining_ns);					\
} while (0)
#define HOLD_ON do {								\
	self->id = asked(&self->nl, self->fd, self->name);			\
	ASSERT_EQ(0, DONE(NO_END));			\
	LASTS(self->fd);							\
} while (0)
#define PULLS(wanted_kind) do {							\
	struct seen s_;								\
	PULL(&s_);								\
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_##wanted_kind, s_.kind);		\
	EXPECT_EQ(self->id, s_.id);						\
	EXPECT_EQ(5, s_.attempt);						\
	EXPECT_EQ(BFTM_NO_LEASE, s_.flags);					\
} while (0)

static short events_of(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLPRI };

	return poll(&p, 1, 0) < 0 ? -1 : p.revents;
}

TEST_F(convert, lock_without_an_end)
{
	struct bftm_signal warn = { .size = sizeof(warn), .margin_ns = 3600 * SEC };
	struct seen s;

	HOLD_ON;
	/* There is no end that a margin could be before. */
	ASSERT_EQ(0, call(self->fd, BFTM_IOC_SET_SIGNAL, &warn));
	EXPECT_EQ(POLLIN, events_of(self->fd));
	EXPECT_EQ(-EINVAL, renew(self->fd, 0, NULL));
	EXPECT_EQ(-EALREADY, renewed(&self->nl, self->id, self->end, 9));
	EXPECT_EQ(-EALREADY, RENEWED(NO_END));
	LASTS(self->fd);
	take_over(&self->nl);
	PULL(&s);
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_HELD, s.kind);
	EXPECT_EQ(NO_END, s.deadline_ns);
	EXPECT_EQ(9, s.sends);
	ASSERT_EQ(0, release(self->fd));
	PULLS(RELEASE);
}

TEST_F(convert, lock_without_an_end_is_converted)
{
	HOLD_ON;
	ASK(PR, BFTM_FENCE, 0);
	PULLS(CONVERT);
	ASSERT_EQ(0, REPORT(1, 0, NO_END, 11));
	IS_HELD(PR, 11);
	LASTS(self->fd);
	/* One that is late is over by its own limit. */
	ASK(EX, 0, 20 * MS);
	PULLS(CONVERT);
	sleep_until(now_ns() + 1500 * MS);
	IS_HELD(PR, 11);
	EXPECT_EQ(ETIMEDOUT, status_of(self->fd).error);
	LASTS(self->fd);
}

TEST_F(convert, only_who_asked_for_no_lease_has_none)
{
	struct bftm_acquire arg = want(self->name, SEC, 0, BFTM_NO_LEASE);

	EXPECT_EQ(-EINVAL, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
	arg = want(self->name, 0, 0, BFTM_NO_LEASE | BFTM_RENEW);
	EXPECT_EQ(-EINVAL, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
	self->id = pulled(&self->nl, self->fd, self->name);
	ASSERT_EQ(0, DONE(self->end));
	EXPECT_EQ(-EALREADY, RENEWED(NO_END));
	EXPECT_EQ(self->end, status_of(self->fd).deadline_ns);
	EXPECT_EQ(-EINVAL, evicted(&self->nl, self->id));
	ASSERT_EQ(0, release(self->fd));
	PULL(&self->pulled);
}

/* The program does not wait for another answer, which never comes. */
#define FAILED do {								\
	struct bftm_status failed_ = status_of(self->fd);			\
	EXPECT_EQ(BFTM_STATE_FAILED, failed_.state);				\
	EXPECT_EQ(EPROTONOSUPPORT, failed_.error);				\
	EXPECT_EQ(-ESTALE, DONE(NO_END));					\
	NO_REQUEST;								\
} while (0)

/* An older helper does not know the flag, and reports a lease. */
TEST_F(convert, helper_that_knows_only_leases)
{
	struct bftm_why why = { .size = sizeof(why) };

	self->id = asked(&self->nl, self->fd, self->name);
	EXPECT_EQ(-ERANGE, DONE(self->end));
	FAILED;
	ASSERT_EQ(0, call(self->fd, BFTM_IOC_WHY, &why));
	EXPECT_NE(NULL, strstr(why.text, "restart bftmutexd"));
	self->id = pulled(&self->nl, self->fd, self->name);
	EXPECT_EQ(-ERANGE, DONE(NO_END));
	FAILED;
	self->id = pulled(&self->nl, self->fd, self->name);
	EXPECT_EQ(-ERANGE, held_until(&self->nl, BFTMUTEX_CMD_HELPER_DONE, self->id, NO_END, 0));
	FAILED;
	/* The next one is not affected. */
	HOLD_ON;
}

/* However long no helper is there. */
TEST_F(convert, release_waits_for_the_next_helper)
{
	int fd = open_here(O_NONBLOCK), held_fd = self->fd;
	uint64_t id;

	ASSERT_GE(fd, 0);
	self->fd = fd;
	HOLD_ON;
	id = self->id;
	self->fd = held_fd;
	self->name = new_name();
	HOLD_ON;
	bftm_nl_close(&self->nl);
	/* One is released while a helper may still come, another when none is expected. */
	close(fd);
	sleep_until(now_ns() + 6 * SEC);
	LASTS(self->fd);
	ASSERT_EQ(0, release(self->fd));
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	PULL(&self->pulled);
	EXPECT_EQ(id, self->pulled.id);
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_RELEASE, self->pulled.kind);
	PULLS(RELEASE);
	NO_REQUEST;
}

TEST_F(convert, lock_that_outlives_its_helper)
{
	HOLD_ON;
	bftm_nl_close(&self->nl);
	sleep_until(now_ns() + 6 * SEC);
	LASTS(self->fd);
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	PULLS(HELD);
	NO_REQUEST;
}

TEST_F(convert, evicted)
{
	struct bftm_status status;

	HOLD_ON;
	ASSERT_EQ(0, evicted(&self->nl, self->id));
	status = status_of(self->fd);
	EXPECT_EQ(BFTM_STATE_LOST, status.state);
	EXPECT_EQ(BFTM_LOST_EVICTED, status.reason);
	EXPECT_EQ(POLLHUP | POLLIN, events_of(self->fd));
	PULLS(RELEASE);
	EXPECT_EQ(-ESTALE, evicted(&self->nl, self->id));
	EXPECT_EQ(-EINVAL, evicted(&self->nl, 0));
	EXPECT_EQ(-EKEYEXPIRED, release(self->fd));
}

TEST_HARNESS_MAIN
