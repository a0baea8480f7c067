// SPDX-License-Identifier: GPL-2.0
/* Dumps: complete, without doubles, also while the tables change; no key. */
#include <netinet/in.h>
#include <pthread.h>

#include "crypto/keys.h"
#include "selftests/module/device/harness.h"
#include "netlink.h"

#define LOCKS		2500	/* many to a bucket of the small table, many messages */
#define TABLE		4096
#define CLIENTS		300
#define HANDLES		400

/* One client of the server that runs in our own namespace. */
struct client {
	int fd;
	struct bftm_mac *request;
	u32 id;
	u64 epoch, seq;
};

static void open_client_of(struct client *c, u32 id)
{
	struct bftm_master master = { .cluster = SERVER_CLUSTER, .server = SERVER_ID };
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(7373),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	struct bftm_pair pair;

	memcpy(master.key, server_key, sizeof(master.key));
	c->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (bftm_derive(&master, id, &pair) || connect(c->fd, (struct sockaddr *)&to, sizeof(to)))
		abort();
	c->request = bftm_mac_new(pair.request);
	c->id = id;
	c->seq = now_ns();
}

static void close_client_of(struct client *c)
{
	bftm_mac_free(c->request);
	close(c->fd);
}

/* Send, and take the next answer, whatever it says. */
static struct bftm_msg say(struct client *c, u8 type, const char *name)
{
	struct bftm_msg m = {
		.type = type,
		.proto = BFTM_PROTO_BACKOFF,
		.flags = type == BFTM_MSG_TRY ? BFTM_FLAG_NOQUEUE : 0,
		.cluster = SERVER_CLUSTER,
		.server = SERVER_ID,
		.client = c->id,
		.server_epoch = c->epoch,
		.name_len = (u8)strlen(name),
	};
	struct bftm_wire wire;
	ssize_t len;

	m.seq = ++c->seq;
	if (type == BFTM_MSG_TRY) {
		m.mode = BFTM_MODE_EX;
		m.attempt = m.seq;
		m.k = 1;
		m.lease_ns = MS;
	}
	memcpy(m.name, name, m.name_len);
	bftm_wire_put(&m, &wire);
	bftm_mac_sign(c->request, &wire);
	memset(&m, 0, sizeof(m));
	if (send(c->fd, wire.data, wire.len, 0) != (ssize_t)wire.len ||
	    poll_for(c->fd, POLLIN, LONG_MS) != POLLIN)
		return m;
	len = recv(c->fd, wire.data, sizeof(wire.data), 0);
	if (len < 0 || bftm_wire_get(wire.data, (size_t)len, &m))
		m.type = BFTM_MSG_NONE;
	return m;
}

static bool greet(struct client *c)
{
	struct bftm_msg m = say(c, BFTM_MSG_HELLO, "");

	c->epoch = m.server_epoch;
	return m.type == BFTM_MSG_CHALLENGE;
}

/* Locks L0, L1, …; in quarantine they get into the table just as well. */
static bool make_lock(struct client *c, char kind, int number)
{
	char name[16];
	u8 answer;

	snprintf(name, sizeof(name), "%c%d", kind, number);
	answer = say(c, BFTM_MSG_TRY, name).type;
	return answer == BFTM_MSG_FREE || answer == BFTM_MSG_WAIT;
}

FIXTURE(dump)
{
	struct bftm_nl nl;
	struct client client;
};

FIXTURE_SETUP(dump)
{
	struct nl_msg *msg;

	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	msg = start_msg(&self->nl);
	nla_put_u32(msg, BFTMUTEX_A_SERVER_MAX_LOCKS, TABLE);
	nla_put_u64(msg, BFTMUTEX_A_SERVER_LEASE_MAX_NS, MS);
	ASSERT_EQ(0, send_msg(&self->nl, msg));
	open_client_of(&self->client, 1);
	ASSERT_TRUE(greet(&self->client));
}

FIXTURE_TEARDOWN(dump)
{
	close_client_of(&self->client);
	bftm_nl_close(&self->nl);
}

/* How often each number was seen. */
struct tally {
	int attr;
	char kind;	/* of names that count; 0 for numbers */
	int max;
	int seen[LOCKS];
	int others;
};

static int count_one(struct nlattr **attr, void *arg)
{
	struct nlattr *a = attr[((struct tally *)arg)->attr];
	struct tally *t = arg;
	char name[BFTM_NAME_MAX + 1] = "";
	uint64_t n = 0;

	if (t->kind) {
		memcpy(name, nla_data(a), (size_t)nla_len(a));
		n = strtoul(name + 1, NULL, 10);
	} else {
		n = number(a);
	}
	if (n < (uint64_t)t->max && (!t->kind || *name == t->kind))
		t->seen[n]++;
	else
		t->others++;
	return 0;
}

static int dump(struct bftm_nl *nl, uint8_t cmd, int max, struct tally *t)
{
	memset(t->seen, 0, sizeof(t->seen));
	t->others = 0;
	return bftm_nl_call(nl, bftm_nl_msg(nl, cmd, NLM_F_DUMP), count_one, max, t);
}

static int missing(const struct tally *t)
{
	int i, sum = 0;

	for (i = 0; i < t->max; i++)
		sum += !t->seen[i];
	return sum;
}

static int doubles(const struct tally *t)
{
	int i, sum = 0;

	for (i = 0; i < t->max; i++)
		sum += t->seen[i] > 1;
	return sum;
}

struct churn {
	pthread_t thread;
	struct client client;
	volatile bool stop;
	int made;
};

static void *make_more_locks(void *arg)
{
	struct churn *c = arg;

	/* There is room for these: nobody has to leave. */
	while (!c->stop && c->made < TABLE - LOCKS - 100)
		make_lock(&c->client, 'X', c->made++);
	return NULL;
}

TEST_F(dump, locks)
{
	static struct tally t = { .attr = BFTMUTEX_A_LOCK_NAME, .kind = 'L', .max = LOCKS };
	struct churn churn = {};
	int i;

	for (i = 0; i < LOCKS; i++)
		ASSERT_TRUE(make_lock(&self->client, 'L', i));
	ASSERT_EQ(0, dump(&self->nl, BFTMUTEX_CMD_LOCK_GET, BFTMUTEX_A_LOCK_MAX, &t));
	EXPECT_EQ(0, missing(&t));
	EXPECT_EQ(0, doubles(&t));
	EXPECT_EQ(0, t.others);

	open_client_of(&churn.client, 2);
	ASSERT_TRUE(greet(&churn.client));
	pthread_create(&churn.thread, NULL, make_more_locks, &churn);
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(0, dump(&self->nl, BFTMUTEX_CMD_LOCK_GET, BFTMUTEX_A_LOCK_MAX, &t));
		/* An entry that exists all the time is listed. */
		EXPECT_EQ(0, missing(&t));
	}
	churn.stop = true;
	pthread_join(churn.thread, NULL);
	EXPECT_GT(churn.made, 0);
	close_client_of(&churn.client);
}

TEST_F(dump, locks_while_servers_come_and_go)
{
	static struct tally t = { .attr = BFTMUTEX_A_LOCK_NAME, .kind = 'L', .max = 1 };
	static const uint32_t sizes[] = { 64, TABLE, 1 << 20, 65 };
	struct nl_msg *msg;
	struct nl_sock *sock = nl_socket_alloc();
	int i;

	ASSERT_EQ(0, genl_connect(sock));
	nl_socket_set_nonblocking(sock);
	nl_socket_set_msg_buf_size(sock, 4096);
	for (i = 0; i < 500; i++)
		make_lock(&self->client, 'L', i);
	/* A dump is begun with one server and goes on with the next ones. */
	ASSERT_LT(0, genl_send_simple(sock, self->nl.family, BFTMUTEX_CMD_LOCK_GET,
				      BFTMUTEX_FAMILY_VERSION, NLM_F_DUMP));
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, stop_server(&self->nl));
		if (i == 2)
			nl_recvmsgs_default(sock);
		msg = start_msg(&self->nl);
		nla_put_u32(msg, BFTMUTEX_A_SERVER_MAX_LOCKS, sizes[i]);
		ASSERT_EQ(0, send_msg(&self->nl, msg));
		nl_recvmsgs_default(sock);
	}
	nl_socket_free(sock);
	EXPECT_EQ(0, dump(&self->nl, BFTMUTEX_CMD_LOCK_GET, BFTMUTEX_A_LOCK_MAX, &t));
}

TEST_F(dump, clients)
{
	static struct tally t = { .attr = BFTMUTEX_A_CLIENT_ID, .max = CLIENTS };
	struct client c;
	u32 i;

	for (i = 2; i < CLIENTS; i++) {
		open_client_of(&c, i);
		ASSERT_TRUE(greet(&c));
		close_client_of(&c);
	}
	ASSERT_EQ(0, dump(&self->nl, BFTMUTEX_CMD_CLIENT_GET, BFTMUTEX_A_CLIENT_MAX, &t));
	EXPECT_EQ(1, missing(&t));	/* there is no client 0 */
	EXPECT_EQ(0, doubles(&t));
	EXPECT_EQ(0, t.others);
}

/* While the list is read, those of its first half are closed. */
struct closing {
	struct tally tally;
	int *fd;
	int next;
};

static int count_and_close(struct nl_msg *msg, void *arg)
{
	struct nlattr *attr[BFTMUTEX_A_HANDLE_MAX + 1];
	struct closing *c = arg;

	if (!genlmsg_parse(nlmsg_hdr(msg), 0, attr, BFTMUTEX_A_HANDLE_MAX, NULL))
		count_one(attr, &c->tally);
	if (c->next < HANDLES / 2)
		close(c->fd[c->next++]);
	return NL_OK;
}

TEST_F(dump, handles)
{
	static struct closing c = { .tally = { .attr = BFTMUTEX_A_HANDLE_NAME, .kind = 'H',
					       .max = HANDLES } };
	struct nl_sock *sock = nl_socket_alloc();
	int fd[HANDLES], i, lost = 0;
	char name[16];

	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	for (i = 0; i < HANDLES; i++) {
		fd[i] = open_here(O_NONBLOCK);
		snprintf(name, sizeof(name), "H%d", i);
		ASSERT_EQ(-EINPROGRESS, acquire(fd[i], name, 0, 0, NULL));
	}
	ASSERT_EQ(0, dump(&self->nl, BFTMUTEX_CMD_HANDLE_GET, BFTMUTEX_A_HANDLE_MAX, &c.tally));
	EXPECT_EQ(0, missing(&c.tally));
	EXPECT_EQ(0, doubles(&c.tally));
	memset(c.tally.seen, 0, sizeof(c.tally.seen));
	c.fd = fd;
	/* Many small messages, of which the kernel prepares one in advance. */
	nl_socket_set_msg_buf_size(sock, 4096);
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, count_and_close, &c);
	ASSERT_EQ(0, genl_connect(sock));
	ASSERT_LT(0, genl_send_simple(sock, self->nl.family, BFTMUTEX_CMD_HANDLE_GET,
				      BFTMUTEX_FAMILY_VERSION, NLM_F_DUMP));
	ASSERT_EQ(0, nl_recvmsgs_default(sock));
	nl_socket_free(sock);
	for (i = HANDLES / 2; i < HANDLES; i++)
		lost += c.tally.seen[i] != 1;
	/* Entries that existed all the time are listed once. */
	EXPECT_EQ(0, lost);
	for (i = HANDLES / 2; i < HANDLES; i++)
		close(fd[i]);
}

static int find_key(struct nl_msg *msg, void *arg)
{
	int *found = arg;

	*found += !!memmem(nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len, server_key, 16);
	return NL_OK;
}

TEST_F(dump, no_key_in_any_answer)
{
	static const uint8_t asks[] = { BFTMUTEX_CMD_LOCK_GET, BFTMUTEX_CMD_OBJECT_GET, BFTMUTEX_CMD_CLIENT_GET,
					BFTMUTEX_CMD_HANDLE_GET, BFTMUTEX_CMD_SERVER_GET };
	struct nl_sock *sock = nl_socket_alloc();
	int found = 0;
	size_t i;

	make_lock(&self->client, 'L', 1);
	ASSERT_EQ(0, genl_connect(sock));
	nl_socket_modify_cb(sock, NL_CB_MSG_IN, NL_CB_CUSTOM, find_key, &found);
	for (i = 0; i < ARRAY_SIZE(asks); i++) {
		genl_send_simple(sock, self->nl.family, asks[i], 1,
				 asks[i] == BFTMUTEX_CMD_SERVER_GET ? 0 : NLM_F_DUMP);
		EXPECT_EQ(POLLIN, poll_for(nl_socket_get_fd(sock), POLLIN, LONG_MS));
		nl_recvmsgs_default(sock);
	}
	EXPECT_EQ(0, found);
	nl_socket_free(sock);
}

TEST_HARNESS_MAIN
