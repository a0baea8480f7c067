// SPDX-License-Identifier: GPL-2.0
/*
 * Submits that end before they are answered: by a signal, a time limit, or the death of the helper.
 */
#include "harness.h"
#include "submit.h"

/* We are the helper of a network namespace of our own. */
FIXTURE(end)
{
	struct bftm_nl nl;
	struct program *p;
	struct asked a;
	int fd;
};

FIXTURE_SETUP(end)
{
	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	self->fd = open_here(O_NONBLOCK);
	ASSERT_GE(self->fd, 0);
	self->p = calloc(2, sizeof(*self->p));
}

FIXTURE_TEARDOWN(end)
{
	free(self->p);
	close(self->fd);
	if (self->nl.sock)
		bftm_nl_close(&self->nl);
}

static void on_signal(int signo)
{
	(void)signo;
}

TEST_F(end, by_a_signal_before_and_after_it_was_handed_over)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	uint64_t id;

	sigaction(SIGUSR1, &action, NULL);
	start_program(self->p, self->fd, text_on("x", "get"), 10);
	/* The hint: it is in the queue. */
	ASSERT_EQ(POLLIN, poll_for(nl_socket_get_fd(self->nl.sock), POLLIN, LONG_MS));
	pthread_kill(self->p->thread, SIGUSR1);
	EXPECT_EQ(-EINTR, end_program(self->p));
	EXPECT_EQ(-ENODATA, pull_asked(&self->nl, &self->a));

	start_program(self->p, self->fd, text_on("y", "get"), 10);
	id = next_submit(&self->nl);
	ASSERT_NE(0, id);
	pthread_kill(self->p->thread, SIGUSR1);
	EXPECT_EQ(-EINTR, end_program(self->p));
	EXPECT_EQ(-ESTALE, answer(&self->nl, id, 0, 1, "too late"));
	ASSERT_EQ(0, next_asked(&self->nl, &self->a));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_WITHDRAW, self->a.head.kind);
	EXPECT_EQ(id, self->a.head.id);
	EXPECT_STREQ("y", self->a.head.name);
	EXPECT_FALSE(self->a.has_op);
	EXPECT_EQ(-ENODATA, pull_asked(&self->nl, &self->a));
	EXPECT_EQ(-ESTALE, refuse(&self->nl, id, EIO));
}

TEST_F(end, by_time)
{
	struct bftm_submit arg = text_on("x", "get");
	uint64_t begin = now_ns(), id;

	arg.timeout_ns = 200 * MS;
	start_program(self->p, self->fd, arg, 10);
	id = next_submit(&self->nl);
	EXPECT_EQ(-ETIMEDOUT, end_program(self->p));
	EXPECT_GE(now_ns(), begin + 200 * MS);
	ASSERT_EQ(0, next_asked(&self->nl, &self->a));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_WITHDRAW, self->a.head.kind);
	EXPECT_EQ(id, self->a.head.id);
	/* Never handed over: nothing to withdraw. */
	arg.timeout_ns = 1;
	EXPECT_EQ(-ETIMEDOUT, submit(self->fd, &arg));
	EXPECT_EQ(-ENODATA, pull_asked(&self->nl, &self->a));
}

TEST_F(end, by_a_helper_that_is_in_time)
{
	struct bftm_submit arg = text_on("x", "get");

	arg.timeout_ns = 1;
	start_program(self->p, self->fd, arg, 10);
	ASSERT_EQ(0, refuse(&self->nl, next_submit(&self->nl), ENETUNREACH));
	EXPECT_EQ(-ENETUNREACH, end_program(self->p));
}

TEST_F(end, helper_died_before_it_pulled)
{
	start_program(self->p, self->fd, text_on("x", "get"), 10);
	ASSERT_EQ(POLLIN, poll_for(nl_socket_get_fd(self->nl.sock), POLLIN, LONG_MS));
	take_over(&self->nl);
	ASSERT_EQ(0, answer(&self->nl, next_submit(&self->nl), 0, 1, "got"));
	EXPECT_EQ(0, end_program(self->p));
}

TEST_F(end, helper_died_after_it_pulled)
{
	uint64_t id;

	start_program(self->p, self->fd, text_on("x", "get"), 10);
	id = next_submit(&self->nl);
	ASSERT_NE(0, id);
	EXPECT_EQ(-ENODATA, pull_asked(&self->nl, &self->a));
	/* The second is in the queue. */
	start_program(self->p + 1, self->fd, text_on("y", "get"), 10);
	ASSERT_EQ(POLLIN, poll_for(nl_socket_get_fd(self->nl.sock), POLLIN, LONG_MS));
	take_over(&self->nl);
	EXPECT_EQ(-EOWNERDEAD, end_program(self->p));
	ASSERT_EQ(0, next_asked(&self->nl, &self->a));
	EXPECT_STREQ("y", self->a.head.name);
	EXPECT_EQ(-ESTALE, answer(&self->nl, id, 0, 1, "twice"));
	ASSERT_EQ(0, answer(&self->nl, self->a.head.id, 0, 1, "once"));
	EXPECT_EQ(0, end_program(self->p + 1));
	EXPECT_EQ(-ENODATA, pull_asked(&self->nl, &self->a));
}

TEST_F(end, helper_died_and_nobody_came)
{
	uint64_t begin = now_ns();

	start_program(self->p, self->fd, text_on("x", "get"), 10);
	ASSERT_NE(0, next_submit(&self->nl));
	bftm_nl_close(&self->nl);
	/* At once, not when the grace is over. */
	EXPECT_EQ(-EOWNERDEAD, end_program(self->p));
	/* Within the grace one is waited for. */
	start_program(self->p, self->fd, text_on("x", "get"), 10);
	EXPECT_EQ(-ENOTCONN, end_program(self->p));
	EXPECT_GE(now_ns(), begin + 5 * SEC);
	/* After the grace, a submit does not wait any more. */
	EXPECT_EQ(-ENOTCONN, submit(self->fd, &self->p->arg));
}

TEST_F(end, helper_died_with_a_withdrawal_waiting)
{
	struct bftm_submit arg = text_on("x", "get");

	arg.timeout_ns = 1;
	start_program(self->p, self->fd, arg, 10);
	ASSERT_NE(0, next_submit(&self->nl));
	EXPECT_EQ(-ETIMEDOUT, end_program(self->p));
	take_over(&self->nl);
	/* The new one does not know that number, which does no harm. */
	ASSERT_EQ(0, next_asked(&self->nl, &self->a));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_WITHDRAW, self->a.head.kind);
	EXPECT_EQ(-ENODATA, pull_asked(&self->nl, &self->a));
}

TEST_F(end, program_killed)
{
	struct bftm_submit arg = text_on("x", "get");
	uint64_t id;
	pid_t pid;

	pid = fork();
	if (!pid)
		_exit(submit(self->fd, &arg) ? 1 : 0);
	id = next_submit(&self->nl);
	ASSERT_NE(0, id);
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	ASSERT_EQ(0, next_asked(&self->nl, &self->a));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_WITHDRAW, self->a.head.kind);
	EXPECT_EQ(id, self->a.head.id);
	EXPECT_EQ(-ESTALE, answer(&self->nl, id, 0, 1, "nobody"));
}

TEST_HARNESS_MAIN
