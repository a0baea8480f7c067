// SPDX-License-Identifier: GPL-2.0
/*
 * What a helper lends the kernel, and what the kernel does with it: here the test is
 * the helper and all servers, each a socket of its own, on the loopback interface.
 */
#include <arpa/inet.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "../../helper/keys.h"
#include "fake_helper.h"
#include "harness.h"

#define N		4	/* b = 1, F = 3 */
#define CLIENT		7
#define DELTA		(100 * MS)	/* sends are repeated after four of them */
#define LEASE		(20 * SEC)

static const uint8_t request_key[16] = "request", reply_key[16] = "reply";

FIXTURE(lend)
{
	struct bftm_nl nl;
	struct bftm_counters *counters;
	struct bftm_mac *request_mac, *reply_mac;
	int fd;
	int sock;		/* the helper's */
	int server[N];
	uint16_t port[N];
	int leave_out;		/* attribute that is not sent */
	uint32_t peers;
	uint32_t liars;
	int socket_attr;
	uint64_t counters_attr;
	bool twins;
	int peer_leave_out;
	int wrong;		/* attribute with a value that it cannot have */
	uint64_t value;
};
typedef FIXTURE_DATA(lend) lend_t;

/* A UDP socket at a port of the kernel's choice, on both families. */
static int bound(uint16_t *ret_port)
{
	struct sockaddr_in6 addr = { .sin6_family = AF_INET6 };
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, len) ||
	    getsockname(fd, (struct sockaddr *)&addr, &len))
		abort();
	if (ret_port)
		*ret_port = ntohs(addr.sin6_port);
	return fd;
}

static void put_peer(lend_t *self, struct nl_msg *msg, uint32_t u)
{
	struct nlattr *nest = nla_nest_start(msg, BFTMUTEX_A_SESSION_PEER);
	struct in6_addr address;

	/* Half of them by IPv6. */
	inet_pton(AF_INET6, u % 2 ? "::1" : "::ffff:127.0.0.1", &address);
	if (self->peer_leave_out != BFTMUTEX_A_PEER_SERVER_ID)
		nla_put_u16(msg, BFTMUTEX_A_PEER_SERVER_ID, (uint16_t)(self->twins ? 1 : 1 + u));
	if (self->peer_leave_out != BFTMUTEX_A_PEER_EPOCH)
		nla_put_u64(msg, BFTMUTEX_A_PEER_EPOCH, 100 + u);
	if (self->peer_leave_out != BFTMUTEX_A_PEER_ADDRESS)
		nla_put(msg, BFTMUTEX_A_PEER_ADDRESS, sizeof(address), &address);
	if (self->peer_leave_out != BFTMUTEX_A_PEER_PORT)
		nla_put_u16(msg, BFTMUTEX_A_PEER_PORT, self->port[u % N]);
	if (self->peer_leave_out != BFTMUTEX_A_PEER_REQUEST_KEY)
		nla_put(msg, BFTMUTEX_A_PEER_REQUEST_KEY, sizeof(request_key), request_key);
	if (self->peer_leave_out != BFTMUTEX_A_PEER_REPLY_KEY)
		nla_put(msg, BFTMUTEX_A_PEER_REPLY_KEY, sizeof(reply_key), reply_key);
	nla_nest_end(msg, nest);
}

static int lend(lend_t *self)
{
	struct nl_msg *msg = bftm_nl_msg_room(&self->nl, BFTMUTEX_CMD_HELPER_LEND, 0, 8192);
	static const struct {
		int attr;
		uint32_t value;
	} numbers[] = {
		{ BFTMUTEX_A_SESSION_CLUSTER_ID, 9 }, { BFTMUTEX_A_SESSION_CLIENT_ID, CLIENT },
		{ BFTMUTEX_A_SESSION_RHO_PPM, 2000 },
	}, long_numbers[] = {
		{ BFTMUTEX_A_SESSION_DELTA_NS, DELTA }, { BFTMUTEX_A_SESSION_LEASE_NS, SEC },
	};
	uint32_t i;

	if (self->leave_out != BFTMUTEX_A_SESSION_CLUSTER)
		nla_put_string(msg, BFTMUTEX_A_SESSION_CLUSTER, "main");
	nla_put_flag(msg, BFTMUTEX_A_SESSION_STANDARD);
	for (i = 0; i < 3; i++)
		if (numbers[i].attr != self->leave_out)
			nla_put_u32(msg, numbers[i].attr, self->wrong == numbers[i].attr ?
				    (uint32_t)self->value : numbers[i].value);
	for (i = 0; i < 2; i++)
		if (long_numbers[i].attr != self->leave_out)
			nla_put_u64(msg, long_numbers[i].attr, self->wrong == long_numbers[i].attr ?
				    self->value : long_numbers[i].value);
	if (self->leave_out != BFTMUTEX_A_SESSION_LIARS)
		nla_put_u32(msg, BFTMUTEX_A_SESSION_LIARS, self->liars);
	if (self->leave_out != BFTMUTEX_A_SESSION_LEASE_MAX_NS)
		nla_put_u64(msg, BFTMUTEX_A_SESSION_LEASE_MAX_NS, LEASE);
	if (self->leave_out != BFTMUTEX_A_SESSION_COUNTERS)
		nla_put_u64(msg, BFTMUTEX_A_SESSION_COUNTERS, self->counters_attr);
	if (self->leave_out != BFTMUTEX_A_SESSION_SOCKET)
		nla_put_u32(msg, BFTMUTEX_A_SESSION_SOCKET, (uint32_t)self->socket_attr);
	for (i = 0; i < self->peers; i++)
		put_peer(self, msg, i);
	return send_msg(&self->nl, msg);
}

FIXTURE_SETUP(lend)
{
	int u;

	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	self->fd = open_here(O_NONBLOCK);
	ASSERT_GE(self->fd, 0);
	self->counters = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			      -1, 0);
	ASSERT_NE(MAP_FAILED, self->counters);
	self->counters->seq = 5ull << 32;
	self->counters->attempt = (5ull << 32) + 10;
	self->request_mac = bftm_mac_new(request_key);
	self->reply_mac = bftm_mac_new(reply_key);
	self->sock = bound(NULL);
	for (u = 0; u < N; u++)
		self->server[u] = bound(&self->port[u]);
	self->peers = N;
	self->liars = 1;
	self->socket_attr = self->sock;
	self->counters_attr = (uintptr_t)self->counters;
}

FIXTURE_TEARDOWN(lend)
{
	int u;

	close(self->fd);
	if (self->nl.sock)
		bftm_nl_close(&self->nl);
	close(self->sock);
	for (u = 0; u < N; u++)
		close(self->server[u]);
	bftm_mac_free(self->request_mac);
	bftm_mac_free(self->reply_mac);
	munmap(self->counters, 4096);
}

/* What server @u is told next; its type, 0 for nothing for @ms, -1 for something false. */
static int told(lend_t *self, int u, int ms, struct bftm_msg *ret, struct sockaddr_in6 *from)
{
	socklen_t len = sizeof(*from);
	struct bftm_wire wire;
	ssize_t n;

	if (!poll_for(self->server[u], POLLIN, ms))
		return 0;
	n = recvfrom(self->server[u], &wire, sizeof(wire), 0, (struct sockaddr *)from, &len);
	if (bftm_wire_get(&wire, (size_t)n, ret) || !bftm_mac_verify(self->request_mac, &wire) ||
	    ret->server != u + 1 || ret->client != CLIENT || ret->cluster != 9 ||
	    ret->server_epoch != 100u + (uint32_t)u)
		return -1;
	return ret->type;
}

static void say(lend_t *self, int u, struct bftm_msg msg, uint8_t type,
		const struct sockaddr_in6 *to, struct bftm_mac *mac)
{
	struct bftm_wire wire;

	msg.type = type;
	msg.flags = 0;
	msg.gno = 1;
	bftm_wire_put(&msg, &wire);
	bftm_mac_sign(mac, &wire);
	if (sendto(self->server[u], &wire, sizeof(wire), 0, (const struct sockaddr *)to,
		   sizeof(*to)) != sizeof(wire))
		abort();
}

/* Servers @first to @last are asked @type, and answer @answer unless that is 0. */
static int asked(lend_t *self, int first, int last, uint8_t type, uint8_t answer)
{
	struct sockaddr_in6 from;
	struct bftm_msg msg;
	int u, got;

	for (u = first; u <= last; u++) {
		got = told(self, u, LONG_MS, &msg, &from);
		if (got != type)
			return got ?: -2;
		if (answer)
			say(self, u, msg, answer, &from, self->reply_mac);
	}
	return 0;
}

/* Nothing more is said to anybody: asked for 2 ms, which may be less than it takes. */
static bool silence(lend_t *self)
{
	struct sockaddr_in6 from;
	struct bftm_msg msg;
	int u;

	for (u = 0; u < N; u++)
		if (told(self, u, 2, &msg, &from))
			return false;
	return true;
}

static int begin(lend_t *self, uint32_t flags)
{
	struct bftm_acquire arg = want("lock", LEASE, 0, flags);

	return call(self->fd, BFTM_IOC_ACQUIRE, &arg);
}

/* It holds, by the answers of the first three. */
static bool holds(lend_t *self, uint32_t flags)
{
	return begin(self, flags) == -EINPROGRESS &&
	       !asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE) &&
	       poll_for(self->fd, POLLIN, LONG_MS) == POLLIN &&
	       state_of(self->fd) == BFTM_STATE_HELD;
}

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
		EXPECT_EQ(attr == BFTMUTEX_A_PEER_IFINDEX ? 0 : -EINVAL, lend(self))
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

TEST_F(lend, one_round)
{
	struct sockaddr_in6 from;
	struct bftm_msg msg;
	uint64_t before;
	struct seen s;

	ASSERT_EQ(0, lend(self));
	before = now_ns();
	ASSERT_TRUE(holds(self, 0));
	ASSERT_EQ(BFTM_MSG_TRY, told(self, 3, LONG_MS, &msg, &from));
	EXPECT_EQ(BFTM_FLAG_NOQUEUE, msg.flags);
	EXPECT_EQ((5ull << 32) + 13, msg.attempt);
	EXPECT_EQ((5ull << 32) + 4, msg.seq);
	EXPECT_EQ(LEASE, msg.lease_ns);
	EXPECT_EQ(4, msg.name_len);
	EXPECT_GE(status_of(self->fd).deadline_ns, before + LEASE / 2);
	EXPECT_LE(status_of(self->fd).deadline_ns, now_ns() + LEASE);
	EXPECT_EQ(1, status_of(self->fd).attempts);
	EXPECT_EQ(1, self->counters->won);
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	/* Given back to all, and told again to who says nothing. */
	ASSERT_EQ(0, release(self->fd));
	ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_RELEASE, 0));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	EXPECT_TRUE(silence(self));
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	/* What the kernel does not wait for is the helper's. */
	say(self, 3, msg, BFTM_MSG_FREE, &from, self->reply_mac);
	EXPECT_EQ(POLLIN, poll_for(self->sock, POLLIN, LONG_MS));
}

TEST_F(lend, what_is_lost_is_sent_again)
{
	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(0, asked(self, 0, 1, BFTM_MSG_TRY, BFTM_MSG_FREE));
	ASSERT_EQ(0, asked(self, 2, 3, BFTM_MSG_TRY, 0));
	ASSERT_EQ(0, asked(self, 2, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	EXPECT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
}

/* Somebody has it: the helper is to see to it, and servers forget the attempt. */
TEST_F(lend, what_is_not_free_is_the_helpers)
{
	struct seen s;

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(0, asked(self, 0, 1, BFTM_MSG_TRY, BFTM_MSG_LOCKED));
	ASSERT_EQ(0, asked(self, 2, 3, BFTM_MSG_TRY, 0));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
	EXPECT_STREQ("lock", s.name);
	EXPECT_EQ(1, self->counters->lost);
	ASSERT_EQ(0, done(&self->nl, s.id, 0, 20, now_ns() + LEASE));
	/* And while it is held, so is who else asks for it, though not for others. */
	int other = open_here(O_NONBLOCK);

	EXPECT_EQ(-EINPROGRESS, acquire(other, "lock", LEASE, 0, NULL));
	EXPECT_EQ(0, pull(&self->nl, &s));
	EXPECT_TRUE(silence(self));
	close(other);
}

TEST_F(lend, who_is_silent_is_the_helpers)
{
	struct seen s;
	int i;

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_TRY, 0));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	EXPECT_EQ(0, pull(&self->nl, &s));
}

/* Not authentic, of another attempt or name, a restart: none of it is a grant. */
TEST_F(lend, what_proves_nothing)
{
	struct bftm_mac *wrong = bftm_mac_new(request_key);
	struct sockaddr_in6 from;
	struct bftm_msg msg, other;

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(0, asked(self, 0, 1, BFTM_MSG_TRY, BFTM_MSG_FREE));
	ASSERT_EQ(BFTM_MSG_TRY, told(self, 2, LONG_MS, &msg, &from));
	say(self, 2, msg, BFTM_MSG_FREE, &from, wrong);
	other = msg;
	other.attempt += 2;
	say(self, 2, other, BFTM_MSG_FREE, &from, self->reply_mac);
	say(self, 2, msg, BFTM_MSG_CHALLENGE, &from, self->reply_mac);
	other = msg;
	other.name[0] = 'L';
	say(self, 2, other, BFTM_MSG_FREE, &from, self->reply_mac);
	other = msg;
	other.server = 2;
	say(self, 2, other, BFTM_MSG_FREE, &from, self->reply_mac);
	EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
	/* The first three are the helper's to read. */
	for (int i = 0; i < 3; i++) {
		struct bftm_wire wire;

		ASSERT_EQ(POLLIN, poll_for(self->sock, POLLIN, LONG_MS));
		EXPECT_EQ((ssize_t)sizeof(wire), recv(self->sock, &wire, sizeof(wire), 0));
	}
	EXPECT_EQ(0, poll_for(self->sock, POLLIN, 0));
	say(self, 2, msg, BFTM_MSG_FREE, &from, self->reply_mac);
	EXPECT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
	bftm_mac_free(wrong);
}

TEST_F(lend, cancelled)
{
	struct seen s;

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, 0));
	ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_TRY, 0));
	ASSERT_EQ(0, release(self->fd));
	EXPECT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	EXPECT_EQ(BFTM_STATE_IDLE, state_of(self->fd));
}

/* The helper goes on with what is to be renewed, and releases it. */
TEST_F(lend, renewed_by_the_helper)
{
	struct seen s;

	ASSERT_EQ(0, lend(self));
	ASSERT_TRUE(holds(self, BFTM_RENEW));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	ASSERT_EQ(-EINPROGRESS, renew(self->fd, 0, NULL));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_RENEW, s.kind);
	EXPECT_EQ((5ull << 32) + 13, s.attempt);
	EXPECT_EQ(1, s.sends);
	EXPECT_EQ(status_of(self->fd).deadline_ns, s.deadline_ns);
	EXPECT_EQ(0, renewed(&self->nl, s.id, s.deadline_ns + SEC, 2000));
	ASSERT_EQ(0, release(self->fd));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_RELEASE, s.kind);
	EXPECT_EQ((5ull << 32) + 13, s.attempt);
	EXPECT_TRUE(silence(self));
}

/* Taken back, lent anew, or without a helper: what is held stays, what waits is pulled. */
TEST_F(lend, taken_back)
{
	int waits = open_here(O_NONBLOCK), way;
	struct seen s;

	for (way = 0; way < 3; way++) {
		ASSERT_EQ(0, lend(self));
		ASSERT_TRUE(holds(self, 0));
		ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
		ASSERT_EQ(-EINPROGRESS, acquire(waits, "other", LEASE, 0, NULL));
		ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_TRY, 0));
		self->peers = way ? N : 0;
		if (way == 2)
			take_over(&self->nl);
		else
			ASSERT_EQ(0, lend(self));
		self->peers = N;
		ASSERT_EQ(0, asked(self, 0, 3, BFTM_MSG_RELEASE, 0));
		ASSERT_EQ(0, pull(&self->nl, &s));
		EXPECT_EQ(BFTMUTEX_REQUEST_KIND_ACQUIRE, s.kind);
		EXPECT_STREQ("other", s.name);
		EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
		ASSERT_EQ(0, release(self->fd));
		ASSERT_EQ(0, pull(&self->nl, &s));
		EXPECT_EQ(BFTMUTEX_REQUEST_KIND_RELEASE, s.kind);
		ASSERT_EQ(0, release(waits));
		ASSERT_EQ(0, pull(&self->nl, &s));
		EXPECT_EQ(BFTMUTEX_REQUEST_KIND_CANCEL, s.kind);
		/* Who pulls again has done that: the lock is free for the kernel. */
		EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
		EXPECT_TRUE(silence(self));
	}
	close(waits);
}

TEST_F(lend, with_a_token)
{
	struct sockaddr_in6 from;
	struct bftm_msg msg;
	int u;

	ASSERT_EQ(0, lend(self));
	ASSERT_EQ(-EINPROGRESS, begin(self, BFTM_FENCE));
	ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
	/* q = 3 of 4 */
	for (u = 0; u < 3; u++) {
		ASSERT_EQ(BFTM_MSG_STAMP, told(self, u, LONG_MS, &msg, &from));
		EXPECT_EQ(BFTM_STATE_PENDING, state_of(self->fd));
		msg.gno = msg.token;
		msg.type = BFTM_MSG_SACK;
		struct bftm_wire wire;

		bftm_wire_put(&msg, &wire);
		bftm_mac_sign(self->reply_mac, &wire);
		ASSERT_EQ((ssize_t)sizeof(wire),
			  sendto(self->server[u], &wire, sizeof(wire), 0,
				 (struct sockaddr *)&from, sizeof(from)));
	}
	EXPECT_EQ(POLLIN, poll_for(self->fd, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	EXPECT_EQ(msg.token, status_of(self->fd).token);
	EXPECT_NE(0, status_of(self->fd).token);
}

TEST_F(lend, a_release_is_sent_three_times)
{
	int i;

	ASSERT_EQ(0, lend(self));
	ASSERT_TRUE(holds(self, 0));
	ASSERT_EQ(0, release(self->fd));
	ASSERT_EQ(0, asked(self, 0, 2, BFTM_MSG_RELEASE, BFTM_MSG_RELEASED));
	ASSERT_EQ(0, asked(self, 3, 3, BFTM_MSG_TRY, 0));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, asked(self, 3, 3, BFTM_MSG_RELEASE, 0));
	EXPECT_TRUE(silence(self));
}

/* Acquires of locks @first to @last, one by one. */
static bool begin_many(int *fds, int first, int last)
{
	char name[16];
	int i;

	for (i = first; i < last; i++) {
		snprintf(name, sizeof(name), "%d", i);
		fds[i] = open_here(O_NONBLOCK);
		if (acquire(fds[i], name, 0, 0, NULL) != -EINPROGRESS)
			return false;
	}
	return true;
}

/* How many acquires that were not seen yet are pulled, until there is none, or within @ms. */
static int pull_many(lend_t *self, bool *seen, uint64_t ms, int most)
{
	uint64_t until = now_ns() + ms * MS;
	struct seen s;
	int count = 0;

	while (count < most) {
		if (pull(&self->nl, &s)) {
			if (now_ns() >= until)
				break;
			continue;
		}
		if (s.kind != BFTMUTEX_REQUEST_KIND_ACQUIRE || seen[s.id])
			return -1;
		seen[s.id] = true;
		count++;
	}
	return count;
}

/* No server answers: the kernel asks for so many, and the helper gets all in the end. */
TEST_F_TIMEOUT(lend, more_than_the_kernel_asks_for, 120)
{
	enum { ASKING_MAX = 1024, FIRST = 1500, COUNT = FIRST + ASKING_MAX };
	struct rlimit limit = { COUNT + 100, COUNT + 100 };
	static bool seen[COUNT + 1];
	int fds[COUNT], i;

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	self->wrong = BFTMUTEX_A_SESSION_DELTA_NS;
	self->value = 60 * SEC;
	ASSERT_EQ(0, lend(self));
	ASSERT_TRUE(begin_many(fds, 0, FIRST));
	EXPECT_EQ(FIRST - ASKING_MAX, pull_many(self, seen, 0, COUNT));
	EXPECT_EQ(0, self->counters->lost);
	/* What is lent in its place leaves them to the helper; the timer does, later. */
	self->wrong = 0;
	ASSERT_EQ(0, lend(self));
	EXPECT_EQ(ASKING_MAX, pull_many(self, seen, 0, COUNT));
	EXPECT_EQ(ASKING_MAX, self->counters->lost);
	ASSERT_TRUE(begin_many(fds, FIRST, COUNT));
	EXPECT_EQ(ASKING_MAX, pull_many(self, seen, LONG_MS, ASKING_MAX));
	EXPECT_EQ(2 * ASKING_MAX, self->counters->lost);
	EXPECT_EQ(0, self->counters->won);
	/* None is lost when the helper goes for good. */
	bftm_nl_close(&self->nl);
	for (i = 0; i < COUNT; i++) {
		ASSERT_EQ(POLLIN, poll_for(fds[i], POLLIN, LONG_MS));
		ASSERT_EQ(BFTM_STATE_FAILED, state_of(fds[i]));
		close(fds[i]);
	}
}

TEST_HARNESS_MAIN
