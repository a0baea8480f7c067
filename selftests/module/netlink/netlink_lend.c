// SPDX-License-Identifier: GPL-2.0
/* Sessions that a helper can lend the kernel, and those that are refused. */
#include "lend_fixture.h"

TEST_F(lend, all_is_needed)
{
	int attr;

	for (attr = BFTMUTEX_A_SESSION_CLUSTER; attr <= BFTMUTEX_A_SESSION_SOCKET; attr++) {
		self->leave_out = attr;
		EXPECT_EQ(attr == BFTMUTEX_A_SESSION_STANDARD ? 0 : -EINVAL, lend(self))
			TH_LOG("attribute %d", attr);
	}
}

TEST_F(lend, of_each_peer_too)
{
	int attr;

	for (attr = BFTMUTEX_A_PEER_SERVER_ID; attr < BFTMUTEX_A_PEER_PAD; attr++) {
		self->peer_leave_out = attr;
		EXPECT_EQ(attr == BFTMUTEX_A_PEER_IFINDEX || attr == BFTMUTEX_A_PEER_EPOCH ? 0 : -EINVAL,
			  lend(self))
			TH_LOG("attribute %d", attr);
	}
}

/* The kernel names the attribute; its range is in the family's policy. */
TEST_F(lend, out_of_range)
{
	static const struct {
		int attr;
		uint64_t value;
	} wrong[] = {
		{ BFTMUTEX_A_SESSION_CLUSTER_ID, 0 }, { BFTMUTEX_A_SESSION_CLIENT_ID, 0 },
		{ BFTMUTEX_A_SESSION_CLIENT_ID, UINT32_MAX },
		{ BFTMUTEX_A_SESSION_RHO_PPM, 0 }, { BFTMUTEX_A_SESSION_RHO_PPM, 100001 },
		{ BFTMUTEX_A_SESSION_DELTA_NS, 999 },
		{ BFTMUTEX_A_SESSION_DELTA_NS, 60 * SEC + 1 },
		{ BFTMUTEX_A_SESSION_LEASE_NS, MS - 1 },
		{ BFTMUTEX_A_SESSION_LEASE_NS, 3600 * SEC + 1 },
	};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		self->wrong = wrong[i].attr;
		self->value = wrong[i].value;
		EXPECT_EQ(-ERANGE, lend(self)) TH_LOG("attribute %d", wrong[i].attr);
		EXPECT_EQ(wrong[i].attr, self->nl.attr);
	}
}

TEST_F(lend, what_cannot_be)
{
	self->liars = 2;
	EXPECT_EQ(-ERANGE, lend(self));
	self->liars = 11;
	EXPECT_EQ(-ERANGE, lend(self));
	self->liars = 1;
	for (self->needed = 1; self->needed <= 32; self->needed++) {
		EXPECT_EQ(self->needed == 3 ? 0 : -ERANGE, lend(self));
		if (self->needed != 3)
			EXPECT_EQ(BFTMUTEX_A_SESSION_NEEDED, self->nl.attr);
	}
	self->needed = 0;
	self->peers = 32;
	EXPECT_EQ(-ERANGE, lend(self));
	self->peers = N;
	self->twins = true;
	EXPECT_EQ(-EINVAL, lend(self));
	self->twins = false;
	self->counters_attr++;
	EXPECT_EQ(-EINVAL, lend(self));
	EXPECT_STREQ("counters must be at a multiple of 32", self->nl.error);
	self->counters_attr = 0;
	EXPECT_EQ(-EFAULT, lend(self));
	EXPECT_STREQ("counters must be in memory that can be written", self->nl.error);
	self->counters_attr = (uintptr_t)self->counters;
	EXPECT_EQ(0, lend(self));
	self->peers = 0;
	EXPECT_EQ(0, lend(self));
	EXPECT_EQ(0, lend(self));
}

/* By the policy, and by the number of peers. */
TEST_F(lend, servers_that_there_are)
{
	for (self->ask = 1; self->ask <= 4; self->ask++) {
		EXPECT_EQ(self->ask <= BFTMUTEX_ASK_AUTO ? 0 : -ERANGE, lend(self));
		if (self->ask > BFTMUTEX_ASK_AUTO)
			EXPECT_EQ(BFTMUTEX_A_SESSION_ASK, self->nl.attr);
	}
	self->ask = 0;
	self->forgetful = (1u << N) - 1;
	EXPECT_EQ(0, lend(self));
	for (self->forgetful = 1u << N; self->forgetful; self->forgetful <<= 1) {
		EXPECT_EQ(-ERANGE, lend(self));
		EXPECT_EQ(BFTMUTEX_A_SESSION_FORGETFUL, self->nl.attr);
	}
	EXPECT_STREQ("forgetful must be a sum of 2^i for peers i, from 0 to 2^peers - 1",
		     self->nl.error);
}

TEST_F(lend, sockets)
{
	int no_udp = socket(AF_INET6, SOCK_STREAM, 0), unbound = socket(AF_INET6, SOCK_DGRAM, 0);
	struct sockaddr_in addr = { .sin_family = AF_INET };
	int ipv4 = socket(AF_INET, SOCK_DGRAM, 0);

	ASSERT_EQ(0, bind(ipv4, (struct sockaddr *)&addr, sizeof(addr)));

	self->socket_attr = 1000;
	EXPECT_EQ(-EBADF, lend(self));
	self->socket_attr = self->fd;
	EXPECT_EQ(-ENOTSOCK, lend(self));
	self->socket_attr = no_udp;
	EXPECT_EQ(-EINVAL, lend(self));
	self->socket_attr = unbound;
	EXPECT_EQ(-EINVAL, lend(self));
	EXPECT_EQ(BFTMUTEX_A_SESSION_SOCKET, self->nl.attr);
	EXPECT_EQ(0, strncmp("socket must be", self->nl.error, 14));
	/* Peers may be of IPv6, and so must it be: with an acquire the kernel would send. */
	self->socket_attr = ipv4;
	EXPECT_EQ(-EINVAL, lend(self));
	EXPECT_EQ(-EINPROGRESS, begin(self, 0));
	close(no_udp);
	close(unbound);
	close(ipv4);
	/* Of another namespace. */
	self->socket_attr = self->sock;
	ASSERT_EQ(0, fresh_netns());
	self->socket_attr = bound(NULL);
	EXPECT_EQ(-EINVAL, lend(self));
	close(self->socket_attr);
	self->socket_attr = self->sock;
	EXPECT_EQ(0, lend(self));
}

TEST_F(lend, by_the_helper_only)
{
	struct bftm_nl other;

	ASSERT_EQ(0, bftm_nl_open(&other));
	bftm_nl_close(&self->nl);
	self->nl = other;
	EXPECT_EQ(-EPERM, lend(self));
}

TEST_HARNESS_MAIN
