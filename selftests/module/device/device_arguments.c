// SPDX-License-Identifier: GPL-2.0
/* Mistakes in the argument of an acquire. */
#include "handle.h"
#include "harness.h"

FIXTURE(acquire)
{
	int fd;
	struct bftm_acquire arg;
};

FIXTURE_SETUP(acquire)
{
	self->fd = open_here(0);
	self->arg = want(new_name(), 0, 0, BFTM_TRY);
}

FIXTURE_TEARDOWN(acquire)
{
	close(self->fd);
}

static int ask(int fd, const struct bftm_acquire *arg)
{
	struct bftm_acquire copy = *arg;
	int err = call(fd, BFTM_IOC_ACQUIRE, &copy);

	release(fd);
	return err;
}

#define REFUSED(err, field, value) do {				\
	struct bftm_acquire bad_ = self->arg;			\
	bad_.field = value;					\
	EXPECT_EQ(err, ask(self->fd, &bad_)) {			\
		TH_LOG("%s = %s", #field, #value);		\
	}							\
} while (0)

TEST_F(acquire, flags_way_mode_and_out_fields)
{
	int bit;

	for (bit = 5; bit < 32; bit++)
		REFUSED(-EINVAL, flags, 1u << bit);
	REFUSED(-EINVAL, flags, BFTM_NO_LEASE | BFTM_RENEW);
	/* This host is no member of its cluster. */
	REFUSED(-EACCES, flags, BFTM_NO_LEASE);
	REFUSED(-EINVAL, flags, UINT32_MAX);
	REFUSED(-EINVAL, way, 4);
	REFUSED(-EINVAL, way, UINT32_MAX);
	REFUSED(-EINVAL, mode, BFTM_LOCK_NL);
	REFUSED(-EINVAL, mode, BFTM_LOCK_NL + 1);
	REFUSED(-EINVAL, mode, UINT32_MAX);
	REFUSED(-EINVAL, deadline_ns, 1);
	REFUSED(-EINVAL, token, 1ull << 63);
	REFUSED(-EINVAL, attempts, 1);
	EXPECT_EQ(0, ask(self->fd, &self->arg));
}

TEST_F(acquire, name)
{
	REFUSED(-EINVAL, name_len, 0);
	REFUSED(-ENAMETOOLONG, name_len, BFTM_NAME_MAX + 1);
	REFUSED(-ENAMETOOLONG, name_len, UINT32_MAX);
	REFUSED(-EINVAL, name[BFTM_NAME_MAX - 1], 'x');
	REFUSED(-EINVAL, name[self->arg.name_len], 'x');
	memset(self->arg.name, 0xff, BFTM_NAME_MAX);
	REFUSED(-EINVAL, name_len, BFTM_NAME_MAX - 1);
	self->arg.name_len = BFTM_NAME_MAX;
	EXPECT_EQ(0, ask(self->fd, &self->arg));
	/* A single zero byte is a name too. */
	memset(self->arg.name, 0, BFTM_NAME_MAX);
	self->arg.name_len = 1;
	EXPECT_EQ(0, ask(self->fd, &self->arg));
}

TEST_F(acquire, cluster)
{
	set_cluster(&self->arg, "demo");
	EXPECT_EQ(0, ask(self->fd, &self->arg));
	REFUSED(-EINVAL, cluster[BFTM_CLUSTER_MAX - 1], 'x');
	REFUSED(-EINVAL, cluster[5], 'x');
	REFUSED(-ENOKEY, cluster[0], 'D');
	memset(self->arg.cluster, 'x', BFTM_CLUSTER_MAX);
	EXPECT_EQ(-ENOKEY, ask(self->fd, &self->arg));
	memset(self->arg.cluster, 0, BFTM_CLUSTER_MAX);
	REFUSED(-EINVAL, cluster[1], 'x');
}

TEST_F(acquire, lease)
{
	REFUSED(-ERANGE, lease_ns, 1);
	REFUSED(-ERANGE, lease_ns, MS - 1);
	REFUSED(-ERANGE, lease_ns, LEASE_MAX + 1);
	REFUSED(-ERANGE, lease_ns, 3600 * SEC);
	REFUSED(-ERANGE, lease_ns, 3600 * SEC + 1);
	REFUSED(-ERANGE, lease_ns, UINT64_MAX);
	REFUSED(0, lease_ns, LEASE_MAX);
	/* On a slow machine the time may be over at once; but that is no mistake. */
	self->arg.lease_ns = MS;
	EXPECT_NE(-ERANGE, ask(self->fd, &self->arg));
	EXPECT_NE(-EINVAL, ask(self->fd, &self->arg));
}

TEST_F(acquire, timeout)
{
	int err;

	REFUSED(0, timeout_ns, UINT64_MAX);
	self->arg.flags = 0;
	REFUSED(0, timeout_ns, UINT64_MAX);
	REFUSED(0, timeout_ns, (uint64_t)INT64_MAX);
	/* The time is over before a server can answer: the acquire ends without the lock. */
	self->arg.timeout_ns = 1;
	err = ask(self->fd, &self->arg);
	EXPECT_TRUE(err == -ETIMEDOUT || err == -ENETUNREACH) {
		TH_LOG("result %d", err);
	}
}

TEST_HARNESS_MAIN
