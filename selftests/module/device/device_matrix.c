// SPDX-License-Identifier: GPL-2.0
/* Every ioctl, poll() and close() in every state of a handle. */
#include "handle.h"
#include "harness.h"

#define LEASE	(300 * MS)

FIXTURE(state)
{
	int fd;		/* of client 3, whose helper sleeps while it is pending */
	const char *name;
};

FIXTURE_VARIANT(state)
{
	int state;
	int acquire;	/* result of a good acquire */
	int release;	/* result of a release */
	int renew;	/* result of a renewal, or a conversion */
	int events;	/* that poll() reports */
	int error;	/* in the status */
};

FIXTURE_VARIANT_ADD(state, idle)
{
	.state = BFTM_STATE_IDLE,
	.release = -ENOLCK,
	.renew = -ENOLCK,
};

FIXTURE_VARIANT_ADD(state, pending)
{
	.state = BFTM_STATE_PENDING,
	.acquire = -EBUSY,
	.renew = -ENOLCK,
};

FIXTURE_VARIANT_ADD(state, held)
{
	.state = BFTM_STATE_HELD,
	.acquire = -EALREADY,
	.events = POLLIN,
};

FIXTURE_VARIANT_ADD(state, lost)
{
	.state = BFTM_STATE_LOST,
	.release = -EKEYEXPIRED,
	.renew = -EKEYEXPIRED,
	.events = POLLIN | POLLHUP,
};

FIXTURE_VARIANT_ADD(state, failed)
{
	.state = BFTM_STATE_FAILED,
	.release = -ENOLCK,
	.renew = -ENOLCK,
	.events = POLLIN,
	.error = ENOKEY,
};

static void set_blocking(int fd, bool on)
{
	fcntl(fd, F_SETFL, on ? 0 : O_NONBLOCK);
}

static int make_pending(int fd, const char *name)
{
	int err;

	signal_helper(3, SIGSTOP);
	set_blocking(fd, false);
	err = acquire(fd, name, LEASE_MAX, 0, NULL);
	set_blocking(fd, true);
	return err;
}

static int make_lost(int fd, const char *name)
{
	int err = acquire(fd, name, LEASE, 0, NULL);

	return err ?: poll_for(fd, 0, LONG_MS);
}

static int make_failed(int fd, const char *name)
{
	struct bftm_acquire arg = want(name, LEASE, 0, 0);
	int err;

	set_cluster(&arg, "nonesuch");
	set_blocking(fd, false);
	err = call(fd, BFTM_IOC_ACQUIRE, &arg);
	set_blocking(fd, true);
	return err == -EINPROGRESS ? poll_for(fd, POLLIN, LONG_MS) : err;
}

FIXTURE_SETUP(state)
{
	self->fd = open_client(3, 0);
	ASSERT_GE(self->fd, 0);
	self->name = new_name();
	switch (variant->state) {
	case BFTM_STATE_IDLE:
		break;
	case BFTM_STATE_PENDING:
		ASSERT_EQ(-EINPROGRESS, make_pending(self->fd, self->name));
		break;
	case BFTM_STATE_HELD:
		ASSERT_EQ(0, acquire(self->fd, self->name, LEASE_MAX, 0, NULL));
		break;
	case BFTM_STATE_LOST:
		ASSERT_EQ(POLLHUP, make_lost(self->fd, self->name));
		break;
	case BFTM_STATE_FAILED:
		ASSERT_EQ(POLLIN, make_failed(self->fd, self->name));
		break;
	}
	ASSERT_EQ(variant->state, state_of(self->fd));
}

FIXTURE_TEARDOWN(state)
{
	signal_helper(3, SIGCONT);
	close(self->fd);
}

/* A held lock may be lost meanwhile, on a machine that sleeps. */
static bool is_still(int fd, int state)
{
	int now = state_of(fd);

	return now == state || (state == BFTM_STATE_HELD && now == BFTM_STATE_LOST);
}

TEST_F(state, acquire)
{
	char name[BFTM_NAME_MAX];
	bool refused = variant->acquire;

	snprintf(name, sizeof(name), "%s.next", self->name);
	EXPECT_EQ(variant->acquire, acquire(self->fd, name, LEASE_MAX, 0, NULL));
	EXPECT_TRUE(is_still(self->fd, refused ? variant->state : BFTM_STATE_HELD));
}

TEST_F(state, acquire_nonblock)
{
	char name[BFTM_NAME_MAX];
	int result = variant->acquire ?: -EINPROGRESS;

	snprintf(name, sizeof(name), "%s.next", self->name);
	set_blocking(self->fd, false);
	EXPECT_EQ(result, acquire(self->fd, name, LEASE_MAX, 0, NULL));
	if (!variant->acquire) {
		EXPECT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
		EXPECT_TRUE(is_still(self->fd, BFTM_STATE_HELD));
	}
}

/* Checked before the state: nothing changes. */
TEST_F(state, acquire_badly)
{
	struct bftm_acquire arg = want("bad", LEASE, 0, 1u << 31);

	EXPECT_EQ(-EINVAL, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
	EXPECT_EQ(-EFAULT, call(self->fd, BFTM_IOC_ACQUIRE, NULL));
	EXPECT_TRUE(is_still(self->fd, variant->state));
}

TEST_F(state, release)
{
	EXPECT_EQ(variant->release, release(self->fd));
	EXPECT_EQ(BFTM_STATE_IDLE, state_of(self->fd));
	EXPECT_EQ(0, poll_now(self->fd));
	EXPECT_EQ(-ENOLCK, release(self->fd));
}

TEST_F(state, renew)
{
	uint64_t before = status_of(self->fd).deadline_ns, after = 0;
	int err = renew(self->fd, 0, &after);

	/* A machine that stood still for a lease is no failure. */
	EXPECT_EQ(state_of(self->fd) == BFTM_STATE_LOST ? -EKEYEXPIRED : variant->renew, err);
	EXPECT_TRUE(err || after > before);
	EXPECT_TRUE(is_still(self->fd, variant->state));
}

TEST_F(state, renew_nonblock)
{
	set_blocking(self->fd, false);
	EXPECT_EQ(variant->renew ?: -EINPROGRESS, renew(self->fd, 0, NULL));
	EXPECT_TRUE(is_still(self->fd, variant->state));
}

/* Down, which is there at once, and up again. */
TEST_F(state, convert)
{
	int down = convert(self->fd, BFTM_LOCK_PR, 0, 0, NULL);
	int up = convert(self->fd, BFTM_LOCK_EX, 0, 0, NULL);
	bool is_lost = state_of(self->fd) == BFTM_STATE_LOST;

	EXPECT_EQ(is_lost && down ? -EKEYEXPIRED : variant->renew, down);
	EXPECT_EQ(is_lost ? -EKEYEXPIRED : variant->renew, up);
	EXPECT_TRUE(is_still(self->fd, variant->state));
	EXPECT_EQ(-EINVAL, convert(self->fd, BFTM_LOCK_NL, 0, 0, NULL));
	EXPECT_TRUE(is_still(self->fd, variant->state));
}

TEST_F(state, status)
{
	bool was_held = variant->state == BFTM_STATE_HELD || variant->state == BFTM_STATE_LOST;
	struct bftm_status s = status_of(self->fd);
	bool is_lost = s.state == BFTM_STATE_LOST;

	EXPECT_EQ(is_lost ? BFTM_LOST_EXPIRED : BFTM_LOST_NOT, s.reason);
	EXPECT_EQ(variant->error, s.error);
	EXPECT_EQ(was_held, s.deadline_ns != 0);
	EXPECT_EQ(s.state == BFTM_STATE_HELD, s.remaining_ns != 0);
	EXPECT_EQ(was_held, s.attempts != 0);
	EXPECT_EQ(0, s.token);
	EXPECT_EQ(BFTM_LOCK_EX, s.mode);
	EXPECT_EQ(sizeof(s), s.size);
}

TEST_F(state, set_signal)
{
	EXPECT_EQ(0, set_signal(self->fd, 0, 50 * MS));
	EXPECT_EQ(-EINVAL, set_signal(self->fd, 65, 50 * MS));
	EXPECT_TRUE(is_still(self->fd, variant->state));
}

/* A submit is independent of the state; submit.sh tests that it works. */
TEST_F(state, submit_badly)
{
	struct bftm_submit arg = { .size = sizeof(arg) };

	EXPECT_EQ(-EINVAL, call(self->fd, BFTM_IOC_SUBMIT, &arg));
	arg.flags = BFTM_FETCH;
	EXPECT_EQ(-ENOENT, call(self->fd, BFTM_IOC_SUBMIT, &arg));
	EXPECT_TRUE(is_still(self->fd, variant->state));
}

TEST_F(state, unknown_ioctls)
{
	char buf[256] = {};

	EXPECT_EQ(-ENOTTY, call(self->fd, _IO(BFTM_IOC_MAGIC, 0), buf));
	EXPECT_EQ(-ENOTTY, call(self->fd, _IO(BFTM_IOC_MAGIC, 10), buf));
	EXPECT_EQ(-ENOTTY, call(self->fd, _IO(BFTM_IOC_MAGIC, 255), buf));
	EXPECT_EQ(-ENOTTY, call(self->fd, _IO('x', 1), buf));
	EXPECT_EQ(-ENOTTY, call(self->fd, _IOW(BFTM_IOC_MAGIC, 3, int), buf));
	EXPECT_TRUE(is_still(self->fd, variant->state));
}

TEST_F(state, poll)
{
	int events = poll_now(self->fd);

	if (variant->state == BFTM_STATE_HELD)
		events &= ~POLLHUP;
	EXPECT_EQ(variant->events, events);
	EXPECT_TRUE(is_still(self->fd, variant->state));
}

TEST_F(state, read_and_write_are_not_there)
{
	char byte = 0;

	EXPECT_EQ(-1, read(self->fd, &byte, 1));
	EXPECT_EQ(-1, write(self->fd, &byte, 1));
	EXPECT_TRUE(is_still(self->fd, variant->state));
}

TEST_F(state, close)
{
	int other = open_client(2, 0);

	close(self->fd);
	signal_helper(3, SIGCONT);
	/* Nothing is left behind: another client can get the lock. */
	EXPECT_EQ(0, get_soon(other, self->name, LEASE_MAX));
	close(other);
	self->fd = -1;
}

TEST_HARNESS_MAIN
