// SPDX-License-Identifier: GPL-2.0
/* Requests that the kernel hands to a helper, and reports that it takes. */
#include "selftests/module/device/harness.h"
#include "selftests/module/device/fake_helper.h"

/* We are the helper of a network namespace of our own. */
FIXTURE(helper)
{
	struct bftm_nl nl;
	struct nl_sock *events;
	int fd;
	const char *name;
};

FIXTURE_SETUP(helper)
{
	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	self->events = open_events(BFTMUTEX_MCGRP_EVENTS);
	self->fd = open_here(O_NONBLOCK);
	ASSERT_GE(self->fd, 0);
	self->name = new_name();
}

FIXTURE_TEARDOWN(helper)
{
	close(self->fd);
	nl_socket_free(self->events);
	bftm_nl_close(&self->nl);
}

TEST_F(helper, sees_all_that_was_asked)
{
	struct bftm_acquire arg = want(self->name, 12 * MS, 34 * SEC, 0);
	uint64_t before = now_ns();
	struct seen s;

	memset(arg.cluster, 'c', sizeof(arg.cluster));
	arg.way = BFTM_WAY_QUEUE;
	arg.flags = BFTM_RENEW | BFTM_FENCE;
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	ASSERT_EQ(-EINPROGRESS, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(1, s.count);
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
	EXPECT_NE(0, s.id);
	EXPECT_STREQ(self->name, s.name);
	EXPECT_EQ(BFTM_CLUSTER_MAX, strspn(s.cluster, "c"));
	EXPECT_EQ(BFTM_RENEW | BFTM_FENCE, s.flags);
	EXPECT_EQ(BFTM_WAY_QUEUE, s.way);
	EXPECT_EQ(12 * MS, s.lease_ns);
	EXPECT_GE(s.timeout_at_ns, before + 34 * SEC);
	EXPECT_LE(s.timeout_at_ns, now_ns() + 34 * SEC);
	EXPECT_EQ(0, s.attempt);
	EXPECT_EQ(0, s.deadline_ns);
	EXPECT_EQ(0, s.token);
	EXPECT_EQ(0, s.sends);
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
}

TEST_F(helper, is_told_once_until_it_has_pulled_all)
{
	int fd = open_here(O_NONBLOCK);
	struct seen s;

	ASSERT_EQ(-EINPROGRESS, acquire(self->fd, self->name, 0, 0, NULL));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_TRUE(self->nl.notified);
	self->nl.notified = false;
	ASSERT_EQ(-EINPROGRESS, acquire(fd, self->name, 0, 0, NULL));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_FALSE(self->nl.notified);
	ASSERT_EQ(-ENODATA, pull(&self->nl, &s));
	release(fd);
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_TRUE(self->nl.notified);
	close(fd);
}

TEST_F(helper, wins_and_gives_back)
{
	uint64_t id = pulled(&self->nl, self->fd, self->name), end = now_ns() + SEC;
	struct bftm_status status;
	struct seen s;

	ASSERT_EQ(0, done(&self->nl, id, NONE, 5, end));
	status = status_of(self->fd);
	EXPECT_EQ(end, status.deadline_ns);
	EXPECT_EQ(0, status.token);
	EXPECT_EQ(7, status.attempts);
	EXPECT_NE(0, poll_now(self->fd) & POLLIN);
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	release(self->fd);
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_RELEASE, s.kind);
	EXPECT_EQ(id, s.id);
	EXPECT_EQ(5, s.attempt);
	EXPECT_STREQ(self->name, s.name);
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	EXPECT_EQ(-ESTALE, done(&self->nl, id, NONE, 5, now_ns() + SEC));
}

TEST_F(helper, gives_a_token_when_asked_for_one)
{
	struct bftm_acquire arg = want(self->name, 0, 0, BFTM_FENCE);
	struct seen s;

	ASSERT_EQ(-EINPROGRESS, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
	ASSERT_EQ(0, pull(&self->nl, &s));
	/* Else a program would take 0 for one. */
	EXPECT_EQ(-EINVAL, done_with(&self->nl, s.id, 0, 5, now_ns() + 50 * SEC, 0, 3));
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
	ASSERT_EQ(0, done_with(&self->nl, s.id, 0, 5, now_ns() + 50 * SEC, UINT64_MAX, 3));
	EXPECT_EQ(UINT64_MAX, status_of(self->fd).token);
	ASSERT_EQ(BFTM_STATE_HELD, next_event(self->events, &s, LONG_MS));
	EXPECT_EQ(UINT64_MAX, s.token);
}

TEST_F(helper, lost_lock_is_given_back_too)
{
	uint64_t id = pulled(&self->nl, self->fd, self->name);
	struct seen s;

	ASSERT_EQ(0, done(&self->nl, id, 0, 5, now_ns() + 100 * MS));
	ASSERT_EQ(POLLHUP, poll_for(self->fd, 0, LONG_MS));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_RELEASE, s.kind);
	EXPECT_EQ(5, s.attempt);
}

/* As if CLOCK_BOOTTIME had been slowed down since the lock was asked for. */
TEST_F(helper, what_comes_first_ends_the_lease)
{
	uint64_t id = pulled(&self->nl, self->fd, self->name);
	uint64_t now = now_ns(), deadline = now + 50 * SEC;
	/* The VM does not sleep. */
	uint64_t end = clock_ns(CLOCK_MONOTONIC_RAW) + 3 * SEC;
	uint8_t cmd = BFTMUTEX_CMD_HELPER_DONE;
	struct bftm_status status;
	struct seen s;

	EXPECT_EQ(-ERANGE, held_until(&self->nl, cmd, id, deadline, end + 3660 * SEC));
	EXPECT_EQ(-ERANGE, held_until(&self->nl, cmd, id, deadline, UINT64_MAX));
	EXPECT_EQ(-ESTALE, held_until(&self->nl, cmd, id, deadline, 1));
	ASSERT_EQ(0, pull(&self->nl, &s));	/* so it waits again */
	ASSERT_EQ(0, held_until(&self->nl, cmd, id, deadline, end));
	status = status_of(self->fd);
	EXPECT_EQ(deadline, status.deadline_ns);
	EXPECT_LE(status.remaining_ns, 3 * SEC);
	bftm_nl_close(&self->nl);
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(deadline, s.deadline_ns);
	EXPECT_EQ(end, s.end_ns);
	EXPECT_EQ(POLLHUP, poll_for(self->fd, 0, LONG_MS));
	EXPECT_GT(deadline, now_ns());
}

/* The next helper continues from this end. */
TEST_F(helper, who_says_no_end_means_the_deadline)
{
	uint64_t id = pulled(&self->nl, self->fd, self->name), end;
	struct seen s;

	ASSERT_EQ(0, done(&self->nl, id, 0, 5, now_ns() + 50 * SEC));
	end = clock_ns(CLOCK_MONOTONIC_RAW) + 50 * SEC;
	bftm_nl_close(&self->nl);
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_LE(s.end_ns, end);
	EXPECT_GE(s.end_ns, end - 20 * SEC);
}

TEST_F(helper, is_told_of_a_cancel_only_if_it_began)
{
	struct seen s;
	uint64_t id;

	ASSERT_EQ(-EINPROGRESS, acquire(self->fd, self->name, 0, 0, NULL));
	ASSERT_EQ(0, release(self->fd));
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	id = pulled(&self->nl, self->fd, self->name);
	ASSERT_EQ(0, release(self->fd));
	EXPECT_EQ(-ESTALE, done(&self->nl, id, 0, 5, now_ns() + SEC));
	EXPECT_EQ(BFTM_STATE_IDLE, state_of(self->fd));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_CANCEL, s.kind);
	EXPECT_EQ(id, s.id);
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
}

/* Ask for a request without reading what was answered. */
static void pull_unread(struct bftm_nl *nl)
{
	struct nl_msg *msg = bftm_nl_msg(nl, BFTMUTEX_CMD_HELPER_PULL, 0);
	struct nlmsghdr *header = nlmsg_hdr(msg);

	/* Fails when there is no room for the answer; or does not, and it is lost. */
	send(nl_socket_get_fd(nl->sock), header, header->nlmsg_len, 0);
	nlmsg_free(msg);
}

static void read_all(struct bftm_nl *nl)
{
	char buf[4096];

	while (recv(nl_socket_get_fd(nl->sock), buf, sizeof(buf), MSG_DONTWAIT) >= 0 ||
	       errno == ENOBUFS)
		;
}

TEST_F(helper, end_that_does_not_reach_it_can_be_pulled_again)
{
	uint64_t id = pulled(&self->nl, self->fd, self->name);
	struct seen s;
	int i;

	ASSERT_EQ(0, done(&self->nl, id, 0, 5, now_ns() + 50 * SEC));
	ASSERT_EQ(0, nl_socket_set_buffer_size(self->nl.sock, 2048, 2048));
	for (i = 0; i < 64; i++)
		pull_unread(&self->nl);
	ASSERT_EQ(0, release(self->fd));
	pull_unread(&self->nl);
	read_all(&self->nl);
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_RELEASE, s.kind);
	EXPECT_EQ(id, s.id);
	EXPECT_EQ(5, s.attempt);
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
}

TEST_F(helper, bad_reports_change_nothing)
{
	uint64_t id = pulled(&self->nl, self->fd, self->name), hour = 3600 * SEC;
	const struct {
		uint64_t id, error, attempt, deadline_ns;
		int result;
	} rows[] = {
		{ NONE, 0, 5, now_ns() + SEC, -EINVAL },
		{ 0, 0, 5, now_ns() + SEC, -EINVAL },
		{ id + 1, 0, 5, now_ns() + SEC, -ESTALE },
		{ NONE - 1, 0, 5, now_ns() + SEC, -ESTALE },
		{ id, 0, NONE, now_ns() + SEC, -EINVAL },
		{ id, 0, 0, now_ns() + SEC, -EINVAL },
		{ id, 512, 5, now_ns() + SEC, -ERANGE },
		{ id, UINT32_MAX, 5, now_ns() + SEC, -ERANGE },
		{ id, 0x80000000, 5, now_ns() + SEC, -ERANGE },
		{ id, 0, 5, now_ns() + hour + 60 * SEC, -ERANGE },
		{ id, 0, 5, UINT64_MAX - 1, -ERANGE },
	};
	struct nl_msg *msg;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(rows[i].result, done(&self->nl, rows[i].id, rows[i].error,
					       rows[i].attempt, rows[i].deadline_ns)) {
			TH_LOG("row %zu", i);
		}
		EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
	}
	msg = bftm_nl_msg(&self->nl, BFTMUTEX_CMD_HELPER_DONE, 0);
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_ID, (uint32_t)id);
	EXPECT_NE(0, send_msg(&self->nl, msg));
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
	ASSERT_EQ(0, done(&self->nl, id, 0, 5, now_ns() + 50 * SEC));
	EXPECT_EQ(-ESTALE, done(&self->nl, id, 0, 6, now_ns() + SEC));
	EXPECT_EQ(-ESTALE, done(&self->nl, id, EIO, NONE, NONE));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
}

TEST_F(helper, too_late_is_asked_again)
{
	uint64_t id = pulled(&self->nl, self->fd, self->name);
	struct seen s;

	EXPECT_EQ(-ESTALE, done(&self->nl, id, 0, 5, now_ns() - 1));
	EXPECT_EQ(-ESTALE, done(&self->nl, id, 0, 5, now_ns() + SEC));
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(id, s.id);
	EXPECT_EQ(-ESTALE, done(&self->nl, id, 0, 6, NONE));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(0, done(&self->nl, id, 0, 7, now_ns() + 50 * SEC));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
}

static int fail_with(struct bftm_nl *nl, uint64_t id, const char *why)
{
	struct nl_msg *msg = bftm_nl_msg_room(nl, BFTMUTEX_CMD_HELPER_DONE, 0, 1024);

	nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, id);
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_ERROR, ENETUNREACH);
	nla_put_string(msg, BFTMUTEX_A_HANDLE_WHY, why);
	return send_msg(nl, msg);
}

static const char *why_of(int fd)
{
	static struct bftm_why arg;

	memset(&arg, '?', sizeof(arg));
	arg.size = sizeof(arg);
	if (call(fd, BFTM_IOC_WHY, &arg) || arg.size != sizeof(arg) || arg.reserved)
		return "no answer";
	return arg.text;
}

TEST_F(helper, words_are_passed_on)
{
	char longest[BFTM_WHY_MAX + 1] = "";
	uint64_t id = pulled(&self->nl, self->fd, self->name);

	EXPECT_STREQ("", why_of(self->fd));
	memset(longest, 'w', BFTM_WHY_MAX);
	EXPECT_NE(0, fail_with(&self->nl, id, longest));
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
	longest[BFTM_WHY_MAX - 1] = '\0';
	ASSERT_EQ(0, fail_with(&self->nl, id, longest));
	EXPECT_STREQ(longest, why_of(self->fd));
	EXPECT_STREQ(longest, why_of(self->fd));
	/* Of the next acquire nobody has said anything, nor of one that was won. */
	id = pulled(&self->nl, self->fd, self->name);
	EXPECT_STREQ("", why_of(self->fd));
	ASSERT_EQ(0, fail_with(&self->nl, id, "servers 1 and 2 are silent"));
	EXPECT_STREQ("servers 1 and 2 are silent", why_of(self->fd));
	EXPECT_EQ(-ESTALE, fail_with(&self->nl, id, "late"));
	EXPECT_STREQ("servers 1 and 2 are silent", why_of(self->fd));
	id = pulled(&self->nl, self->fd, self->name);
	ASSERT_EQ(0, done(&self->nl, id, 0, 5, now_ns() + 50 * SEC));
	EXPECT_STREQ("", why_of(self->fd));
}

TEST_F(helper, any_error_is_passed_on)
{
	static const uint32_t errors[] = { 1, EACCES, ENETUNREACH, 511 };
	struct seen s;
	uint64_t id;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		id = pulled(&self->nl, self->fd, self->name);
		ASSERT_EQ(0, done(&self->nl, id, errors[i], NONE, NONE));
		EXPECT_EQ(BFTM_STATE_FAILED, state_of(self->fd));
		EXPECT_EQ((int)errors[i], status_of(self->fd).error);
		EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	}
}

TEST_F(helper, next_one_takes_over_in_order)
{
	struct bftm_nl next;
	int fd[3], i;
	uint64_t id[3];
	struct seen s;

	for (i = 0; i < 3; i++) {
		fd[i] = open_here(O_NONBLOCK);
		id[i] = pulled(&self->nl, fd[i], self->name);
	}
	ASSERT_EQ(0, done(&self->nl, id[0], 0, 5, now_ns() + 50 * SEC));
	bftm_nl_close(&self->nl);
	/* It may come back in a moment: so this waits too. */
	EXPECT_EQ(-EINPROGRESS, acquire(self->fd, self->name, 0, 0, NULL));
	/* A held lock needs no helper. */
	EXPECT_EQ(BFTM_STATE_HELD, state_of(fd[0]));
	EXPECT_EQ(0, release(fd[0]));
	ASSERT_EQ(0, bftm_nl_open(&next));
	ASSERT_EQ(0, command(&next, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	/* The request that the previous helper had begun comes first. */
	for (i = 1; i < 3; i++) {
		ASSERT_EQ(0, pull(&next, &s));
		EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
		EXPECT_EQ(id[i], s.id);
		ASSERT_EQ(0, done(&next, id[i], 0, (uint64_t)i, now_ns() + 50 * SEC));
	}
	ASSERT_EQ(0, pull(&next, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
	EXPECT_GT(s.id, id[2]);
	ASSERT_EQ(0, pull(&next, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_RELEASE, s.kind);
	EXPECT_EQ(5, s.attempt);
	EXPECT_EQ(-ENODATA, pull(&next, &s));
	for (i = 0; i < 3; i++)
		close(fd[i]);
	self->nl = next;
}

TEST_F(helper, events_of_acquire_release_loss_and_close)
{
	struct seen s;

	ASSERT_EQ(0, done(&self->nl, pulled(&self->nl, self->fd, self->name), 0, 5,
			  now_ns() + 50 * SEC));
	EXPECT_EQ(BFTM_STATE_HELD, next_event(self->events, &s, LONG_MS));
	EXPECT_STREQ(self->name, s.name);
	EXPECT_EQ(status_of(self->fd).deadline_ns, s.deadline_ns);
	ASSERT_EQ(0, release(self->fd));
	EXPECT_EQ(BFTM_STATE_IDLE, next_event(self->events, &s, LONG_MS));
	EXPECT_STREQ(self->name, s.name);
	pull(&self->nl, &s);
	ASSERT_EQ(0, done(&self->nl, pulled(&self->nl, self->fd, self->name), 0, 6,
			  now_ns() + 50 * MS));
	EXPECT_EQ(BFTM_STATE_HELD, next_event(self->events, &s, LONG_MS));
	EXPECT_EQ(BFTM_STATE_LOST, next_event(self->events, &s, LONG_MS));
	EXPECT_GT(now_ns(), s.deadline_ns);
	pull(&self->nl, &s);
	ASSERT_EQ(0, done(&self->nl, pulled(&self->nl, self->fd, self->name), 0, 7,
			  now_ns() + 50 * SEC));
	EXPECT_EQ(BFTM_STATE_HELD, next_event(self->events, &s, LONG_MS));
	ASSERT_EQ(0, close(self->fd));
	EXPECT_EQ(BFTM_STATE_IDLE, next_event(self->events, &s, LONG_MS));
	EXPECT_EQ(-1, next_event(self->events, &s, 0));
}

TEST_HARNESS_MAIN
