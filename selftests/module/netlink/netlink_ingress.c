// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel takes answers at a device before IP, for the socket that IP would bring them to. The
 * servers are in a namespace of their own, at the other end of a link:
 *
 *	helper  near 10.9.0.2, fd09::2 ------ far 10.9.0.1, fd09::1  servers
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "lend_fixture.h"

static int run(const char *format, ...)
{
	char command[512];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	return system(command);
}

static int here(void)
{
	return open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
}

/* The servers move to the other end. "ip" knows a namespace by a process that is in it. */
static bool link_up(lend_t *self)
{
	const int home = here();
	const pid_t stays = fork();
	int err, u;

	if (!stays) {
		pause();
		_exit(0);
	}
	if (home < 0 || stays < 0 || fresh_netns())
		return false;
	for (u = 0; u < N; u++) {
		close(self->server[u]);
		self->server[u] = bound(&self->port[u]);
	}
	err = run("ip link add far type veth peer name near netns %d && ip addr add 10.9.0.1/24 dev far && "
		  "ip addr add fd09::1/64 dev far nodad && ip link set far up", stays);
	if (setns(home, CLONE_NEWNET) < 0)
		abort();
	err = err ?: run("ip addr add 10.9.0.2/24 dev near && ip addr add fd09::2/64 dev near nodad && "
			 "ip link set near up");
	kill(stays, SIGKILL);
	waitpid(stays, NULL, 0);
	close(home);
	self->far = true;
	self->device = "near";
	return !err;
}

static int take_count(struct nlattr **attr, void *arg)
{
	*(uint64_t *)arg = nla_get_u64(attr[BFTMUTEX_A_LOCAL_INGRESS]);
	return 0;
}

static uint64_t taken(lend_t *self)
{
	uint64_t count = UINT64_MAX;

	bftm_nl_call(&self->nl, bftm_nl_msg(&self->nl, BFTMUTEX_CMD_LOCAL_GET, 0), take_count,
		     BFTMUTEX_A_LOCAL_MAX, &count);
	return count;
}

/* A kernel without such hooks refuses each device, and says why. */
static bool has_hooks(lend_t *self)
{
	int err;

	self->device = "lo";
	err = lend(self);
	self->device = NULL;
	return err != -ENODEV ||
	       strcmp(self->nl.error, "this kernel was built without CONFIG_NETFILTER_INGRESS");
}

TEST_F(lend, devices_that_cannot)
{
	static const struct {
		const char *device, *words;
		int error;
	} row[] = {
		{ "lo", "only a device of Ethernet can hand datagrams over", -ENODEV },
		{ "sixteen-letters-", "Attribute failed policy validation", -EINVAL },
	};
	size_t i;

	if (!has_hooks(self))
		SKIP(return, "no hooks at devices");
	ASSERT_EQ(0, lend(self));
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		self->device = row[i].device;
		EXPECT_EQ(row[i].error, lend(self)) TH_LOG("device %s", self->device);
		EXPECT_EQ(BFTMUTEX_A_SESSION_INGRESS, self->nl.attr);
		EXPECT_STREQ(row[i].words, self->nl.error);
	}
	/* The earlier loan is there, and hears by its socket. */
	EXPECT_TRUE(holds(self, 0));
	EXPECT_EQ(0, taken(self));
}

static int rename_device(const char *from, const char *to)
{
	/* IPv6 forgets the addresses of a device that is down. */
	return run("ip link set %s down && ip link set %s name %s && ip link set %s up && "
		   "ip addr add fd09::2/64 dev %s nodad", from, from, to, to, to);
}

TEST_F(lend, device_to_come)
{
	if (!has_hooks(self))
		SKIP(return, "no hooks at devices");
	ASSERT_TRUE(link_up(self));
	ASSERT_EQ(0, rename_device("near", "other"));
	ASSERT_EQ(0, lend(self));
	EXPECT_STREQ("this network namespace has no such device", self->nl.error);
	ASSERT_EQ(0, rename_device("other", "near"));
	EXPECT_TRUE(holds(self, 0));
	EXPECT_EQ(3, taken(self));
	/* With the device, the kernel has nothing to say. */
	ASSERT_EQ(0, lend(self));
	EXPECT_STREQ("", self->nl.error);
}

TEST_F(lend, answers_at_a_device)
{
	struct sockaddr_in6 from;
	struct bftm_wire wire;
	struct bftm_msg msg;

	if (!has_hooks(self))
		SKIP(return, "no hooks at devices");
	ASSERT_TRUE(link_up(self));
	ASSERT_EQ(0, lend(self));
	/* Two of IPv4, one of IPv6. */
	ASSERT_TRUE(holds(self, 0));
	EXPECT_EQ(3, taken(self));
	/* An answer that nobody waits for, and one with a wrong tag, is the helper's. */
	ASSERT_EQ(BFTM_MSG_TRY, told(self, 3, LONG_MS, &msg, &from));
	say(self, 3, msg, BFTM_MSG_FREE, &from, self->request_mac);
	EXPECT_EQ(POLLIN, poll_for(self->sock, POLLIN, LONG_MS));
	EXPECT_EQ(3, taken(self));
	EXPECT_LT(0, recv(self->sock, &wire, sizeof(wire), 0));
	/* Taken back: all is the helper's. */
	self->peers = 0;
	ASSERT_EQ(0, lend(self));
	say(self, 3, msg, BFTM_MSG_FREE, &from, self->reply_mac);
	EXPECT_EQ(POLLIN, poll_for(self->sock, POLLIN, LONG_MS));
	EXPECT_EQ(3, taken(self));
}

/* The socket's owner narrows what the socket gets, while the kernel waits for answers. */
static int bind_to_lo(lend_t *self, const struct sockaddr_in6 *server)
{
	(void)server;
	return setsockopt(self->sock, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3);
}

static int connect_to(lend_t *self, const struct sockaddr_in6 *server)
{
	struct sockaddr_in6 other = *server;

	other.sin6_port = htons(9);
	return connect(self->sock, (struct sockaddr *)&other, sizeof(other));
}

/* Frames that came by the link before are where they belong. */
static bool passed(lend_t *self)
{
	struct sockaddr_in6 to = { .sin6_family = AF_INET6 };
	uint16_t port;
	int last = bound(&port);
	bool good;

	inet_pton(AF_INET6, "fd09::2", &to.sin6_addr);
	to.sin6_port = htons(port);
	good = sendto(self->server[0], "", 1, 0, (struct sockaddr *)&to, sizeof(to)) == 1 &&
	       poll_for(last, POLLIN, LONG_MS) == POLLIN;
	close(last);
	return good;
}

static int narrow(lend_t *self, int (*how)(lend_t *self, const struct sockaddr_in6 *server))
{
	struct sockaddr_in6 from[N], server = { .sin6_family = AF_INET6 };
	struct bftm_msg msg[N];
	int u;

	inet_pton(AF_INET6, "fd09::1", &server.sin6_addr);
	if (!link_up(self) || lend(self) || begin(self, 0) != -EINPROGRESS)
		return -1;
	for (u = 0; u < N; u++)
		if (told(self, u, LONG_MS, &msg[u], &from[u]) != BFTM_MSG_TRY)
			return -2;
	if (how(self, &server))
		return -3;
	for (u = 0; u < N; u++)
		say(self, u, msg[u], BFTM_MSG_FREE, &from[u], self->reply_mac);
	if (!passed(self))
		return -4;
	return poll_for(self->fd, POLLIN, 0) || taken(self) ? -5 : 0;
}

TEST_F(lend, not_of_another_device)
{
	if (!has_hooks(self))
		SKIP(return, "no hooks at devices");
	EXPECT_EQ(0, narrow(self, bind_to_lo));
}

TEST_F(lend, not_to_a_connected_socket)
{
	if (!has_hooks(self))
		SKIP(return, "no hooks at devices");
	EXPECT_EQ(0, narrow(self, connect_to));
}

TEST_HARNESS_MAIN
