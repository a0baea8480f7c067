// SPDX-License-Identifier: GPL-2.0
/*
 * Any message to the family, as attribute.c makes it, on three sockets, so that
 * helper, journal and others are several; and one more that looks.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel/nl.h"
#include "kfuzz.h"

#define SOCKETS		3
#define PULLS_MAX	4096	/* requests that one input can have made */
#define ANSWERS_MAX	256	/* packets that one request may have for an answer */

static struct bftm_nl looking;
static int sock[SOCKETS] = { -1, -1, -1 };
static void note_one(u8 cmd, const struct nlattr *a, size_t len)
{
	u16 type = a->nla_type & NLA_TYPE_MASK;
	u64 value = 0;

	memcpy(&value, a + 1, len < sizeof(value) ? len : sizeof(value));
	if (cmd == BFTMUTEX_CMD_HELPER_PULL && type == BFTMUTEX_A_HANDLE_ID) {
		kfuzz.id_before = kfuzz.id;
		kfuzz.id = value;
	} else if (cmd == BFTMUTEX_CMD_JOURNAL_PULL && type == BFTMUTEX_A_JOURNAL_CHANGE) {
		kfuzz.change = value;
	}
}

/* Messages of the kernel have a right form. */
static void note(const struct nlmsghdr *head)
{
	const struct genlmsghdr *genl = NLMSG_DATA(head);
	size_t left = head->nlmsg_len - NLMSG_HDRLEN, len;
	const u8 *at = (const u8 *)(genl + 1);

	must(left >= GENL_HDRLEN);
	for (left -= GENL_HDRLEN; left >= sizeof(struct nlattr); left -= len, at += len) {
		const struct nlattr *a = (const void *)at;

		must(a->nla_len >= sizeof(*a) && a->nla_len <= left);
		note_one(genl->cmd, a, a->nla_len - sizeof(*a));
		len = NLA_ALIGN(a->nla_len);
		len = len < left ? len : left;
	}
}

/* Read what the kernel says. Return: its error, or how much it has sent. */
static int hear(int fd)
{
	static u8 buf[1 << 16];
	int packets, result = 0;
	struct nlmsghdr *head;
	ssize_t len;

	for (packets = 0; packets < ANSWERS_MAX; packets++) {
		len = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (len <= 0)
			break;
		for (head = (void *)buf; NLMSG_OK(head, (u32)len); head = NLMSG_NEXT(head, len)) {
			if (head->nlmsg_type == NLMSG_ERROR)
				result = ((struct nlmsgerr *)NLMSG_DATA(head))->error;
			else if (head->nlmsg_type >= NLMSG_MIN_TYPE)
				note(head);
		}
	}
	must(packets < ANSWERS_MAX);
	return result;
}

/* The server is another one: where it is, and when all that it granted is over. */
static void look_at_server(void)
{
	kfuzz.epoch = kfuzz_server(BFTMUTEX_A_SERVER_EPOCH);
	if (kfuzz_server(BFTMUTEX_A_SERVER_LEASE_MAX_NS) > 20 * BFTM_NS_PER_MS)
		kfuzz.spoilt = true;
}

/* Socket, command, flags of the message, attributes. */
static void request(void)
{
	static u32 seq;
	u8 where = kfuzz_byte(), cmd = kfuzz_byte(), bits = kfuzz_byte();
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	struct genlmsghdr genl = { .version = 1 };
	struct nlmsghdr *head;
	int *fd = &sock[where % SOCKETS], err;

	if (*fd < 0)
		*fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	genl.cmd = cmd % (BFTMUTEX_CMD_MAX + 2);
	head = kfuzz_message(&genl);
	head->nlmsg_type = (u16)looking.family;
	head->nlmsg_flags = NLM_F_REQUEST | (bits & 1 ? 0 : NLM_F_ACK) |
			    (bits & 2 ? NLM_F_DUMP : 0);
	head->nlmsg_seq = ++seq;
	err = sendto(*fd, head, head->nlmsg_len, 0, (void *)&to, sizeof(to)) < 0 ? -errno : 0;
	/* A dump may be left in the middle. */
	if (!err && !(bits & 4))
		err = hear(*fd);
	say("netlink %u: command %u, %zu bytes\n", where % SOCKETS, genl.cmd, (size_t)head->nlmsg_len);
	kfuzz_result(64 + genl.cmd, err);
	if (genl.cmd == BFTMUTEX_CMD_SERVER_START || genl.cmd == BFTMUTEX_CMD_SERVER_STOP)
		look_at_server();
}

void kfuzz_netlink_do(enum kfuzz_op op)
{
	int *fd;

	if (op == KFUZZ_NETLINK)
		return request();
	fd = &sock[kfuzz_byte() % SOCKETS];
	say("hang up\n");
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void kfuzz_netlink_begin(void)
{
	if (looking.sock)
		bftm_nl_close(&looking);
	if (bftm_nl_open(&looking))
		abort();
}

void kfuzz_netlink_end(void)
{
	int i;

	for (i = 0; i < SOCKETS; i++) {
		if (sock[i] >= 0)
			close(sock[i]);
		sock[i] = -1;
	}
}

void kfuzz_netlink_drain(void)
{
	struct bftm_nl nl;
	int left = PULLS_MAX;

	if (bftm_nl_open(&nl) ||
	    bftm_nl_call(&nl, bftm_nl_msg(&nl, BFTMUTEX_CMD_HELPER_REGISTER, 0), NULL, 0, NULL))
		abort();
	while (left && !bftm_nl_call(&nl, bftm_nl_msg(&nl, BFTMUTEX_CMD_HELPER_PULL, 0), NULL, 0, NULL))
		left--;
	must(left);
	bftm_nl_close(&nl);
}

struct wanted {
	int attr;
	u64 value;
	int messages;
};

static int take(struct nlattr **attr, void *arg)
{
	struct wanted *w = arg;
	struct nlattr *a = attr[w->attr];

	w->messages++;
	if (a)
		memcpy(&w->value, nla_data(a), (size_t)nla_len(a));
	return 0;
}

u64 kfuzz_server(int attr)
{
	struct wanted w = { .attr = attr };

	bftm_nl_call(&looking, bftm_nl_msg(&looking, BFTMUTEX_CMD_SERVER_GET, 0), take,
		     BFTMUTEX_A_SERVER_MAX, &w);
	return w.value;
}

int kfuzz_handles(void)
{
	struct wanted w = { .attr = BFTMUTEX_A_HANDLE_STATE };

	if (bftm_nl_call(&looking, bftm_nl_msg(&looking, BFTMUTEX_CMD_HANDLE_GET, NLM_F_DUMP),
			 take, BFTMUTEX_A_HANDLE_MAX, &w))
		return -1;
	return w.messages;
}

void kfuzz_server_stop(void)
{
	bftm_nl_call(&looking, bftm_nl_msg(&looking, BFTMUTEX_CMD_SERVER_STOP, 0), NULL, 0, NULL);
	must(!kfuzz_server(BFTMUTEX_A_SERVER_ID));
}
