// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "uapi/linux/bftmutex_netlink.h"
#include "kernel.h"
#include "packet.h"

#define FAMILY	0x21
#define GROUP	1	/* of all groups of events: it is never joined */
#define CALM	64	/* answers of ENODATA, then the socket is broken */

static struct fuzz_bytes *in;
static struct nlmsghdr asked;	/* the last request */
static u32 calm;
static u8 packet_bytes[32 * 1024];
static struct packet out = { .bytes = packet_bytes, .room = sizeof(packet_bytes) };

u32 fuzz_family_version = BFTMUTEX_FAMILY_VERSION;
char fuzz_said[1 << 20];
size_t fuzz_said_len;

void fuzz_kernel_begin(struct fuzz_bytes *bytes)
{
	in = bytes;
	fuzz_kernel_calm();
}

void fuzz_kernel_calm(void)
{
	calm = CALM;
	memset(&asked, 0, sizeof(asked));
	fuzz_said_len = 0;
}

static struct nlattr *begin_attr(u16 type)
{
	struct nlattr *attr = packet_add(&out, sizeof(*attr));

	if (attr)
		attr->nla_type = type;
	return attr;
}

static void end_attr(struct nlattr *attr)
{
	if (attr)
		attr->nla_len = (u16)packet_since(&out, attr);
}

static void add_attr(u16 type, const void *data, size_t len)
{
	struct nlattr *attr = begin_attr(type);

	packet_add_bytes(&out, data, len);
	if (attr)
		attr->nla_len = (u16)(sizeof(*attr) + len);
}

/* Type and length, then bytes or further attributes; a length may be a lie. */
static void read_attr(int depth)
{
	u8 bits = (u8)fuzz_take(in, 1);
	size_t len = fuzz_take(in, 1);
	struct nlattr *attr;

	if (len > 250)
		len = fuzz_take(in, 2) % 16384;
	if (bits & 0x80 && depth < 3) {
		attr = begin_attr((bits & 63) | NLA_F_NESTED);
		for (len %= 32; len && in->left; len--)
			read_attr(depth + 1);
		end_attr(attr);
		return;
	}
	attr = begin_attr(bits & 63);
	if (len > in->left)
		len = in->left;
	packet_add_bytes(&out, in->at, len);
	in->at += len;
	in->left -= len;
	if (attr)
		attr->nla_len = (u16)(sizeof(*attr) + len + (bits >> 6) * fuzz_take(in, bits >> 6));
}

static void read_attrs(void)
{
	u32 n;

	for (n = (u32)fuzz_take(in, 1) % 32; n && in->left; n--)
		read_attr(0);
}

/* An answer, or with another number a notification. */
static void read_answer(void)
{
	struct genlmsghdr genl = { .cmd = (u8)fuzz_take(in, 1) % 48, .version = 1 };

	packet_add_bytes(&out, &genl, sizeof(genl));
	read_attrs();
}

static void read_error(void)
{
	struct nlmsgerr error = { .error = -(int)fuzz_take(in, 1), .msg = asked };

	if (error.error < -132)
		error.error = 0;
	error.msg.nlmsg_len = sizeof(error.msg);
	packet_add_bytes(&out, &error, sizeof(error));
	read_attrs();
}

static void read_done(void)
{
	int error = -(int)fuzz_take(in, 1) % 133;

	packet_add_bytes(&out, &error, sizeof(error));
	read_attrs();
}

static void read_raw(void)
{
	size_t len = fuzz_take(in, 1);

	if (len > in->left)
		len = in->left;
	packet_add_bytes(&out, in->at, len);
	in->at += len;
	in->left -= len;
}

static void read_message(void)
{
	static const u16 flags[] = {
		0, NLM_F_MULTI, NLM_F_CAPPED | NLM_F_ACK_TLVS, NLM_F_ACK_TLVS, NLM_F_DUMP_INTR,
		NLM_F_MULTI | NLM_F_DUMP_INTR, NLM_F_CAPPED, 0xffff,
	};
	u8 bits = (u8)fuzz_take(in, 1);
	struct nlmsghdr *head = packet_add(&out, sizeof(*head));

	if (!head)
		return;
	head->nlmsg_type = FAMILY;
	head->nlmsg_flags = flags[bits >> 3 & 7];
	head->nlmsg_seq = bits >> 6 == 3 ? 0 : asked.nlmsg_seq + (bits >> 6 == 2);
	head->nlmsg_pid = asked.nlmsg_pid;
	switch (bits & 7) {
	case 4:
		head->nlmsg_type = NLMSG_ERROR;
		read_error();
		break;
	case 5:
		head->nlmsg_type = NLMSG_DONE;
		read_done();
		break;
	case 6:
		head->nlmsg_type = (u16)fuzz_take(in, 2);
		read_raw();
		break;
	case 7:
		read_raw();
		break;
	default:
		read_answer();
	}
	head->nlmsg_len = (u32)packet_since(&out, head);
	if ((bits & 7) == 6)
		head->nlmsg_len += (u32)fuzz_take(in, 1);
}

/* The family's number and its groups, which the kernel's controller tells. */
static void answer_family(void)
{
	static const char *const names[] = {
		BFTMUTEX_MCGRP_EVENTS, BFTMUTEX_MCGRP_RENEWALS,
	};
	struct genlmsghdr genl = { .cmd = CTRL_CMD_NEWFAMILY, .version = 2 };
	struct nlmsghdr *head = packet_add(&out, sizeof(*head));
	struct nlattr *groups, *group;
	u16 family = FAMILY;
	u32 id = GROUP;
	size_t i;

	head->nlmsg_type = GENL_ID_CTRL;
	head->nlmsg_seq = asked.nlmsg_seq;
	head->nlmsg_pid = asked.nlmsg_pid;
	packet_add_bytes(&out, &genl, sizeof(genl));
	add_attr(CTRL_ATTR_FAMILY_NAME, BFTMUTEX_FAMILY_NAME, sizeof(BFTMUTEX_FAMILY_NAME));
	add_attr(CTRL_ATTR_FAMILY_ID, &family, sizeof(family));
	add_attr(CTRL_ATTR_VERSION, &fuzz_family_version, sizeof(fuzz_family_version));
	groups = begin_attr(CTRL_ATTR_MCAST_GROUPS | NLA_F_NESTED);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		group = begin_attr((u16)((i + 1) | NLA_F_NESTED));
		add_attr(CTRL_ATTR_MCAST_GRP_NAME, names[i], strlen(names[i]) + 1);
		add_attr(CTRL_ATTR_MCAST_GRP_ID, &id, sizeof(id));
		end_attr(group);
	}
	end_attr(groups);
	head->nlmsg_len = (u32)packet_since(&out, head);
}

static void answer_error(int number)
{
	struct nlmsgerr error = { .error = number, .msg = asked };
	struct nlmsghdr *head = packet_add(&out, sizeof(*head));

	head->nlmsg_type = NLMSG_ERROR;
	head->nlmsg_seq = asked.nlmsg_seq;
	head->nlmsg_pid = asked.nlmsg_pid;
	packet_add_bytes(&out, &error, sizeof(error));
	head->nlmsg_len = (u32)packet_since(&out, head);
}

/* Return: false when the socket fails, with errno. */
static bool make_packet(void)
{
	static const int errors[] = { EINTR, ENOBUFS, EAGAIN, EBADF };
	u8 more;

	out.len = 0;
	if (asked.nlmsg_type == GENL_ID_CTRL) {
		if (asked.nlmsg_flags & NLM_F_ACK) {
			answer_family();
			asked.nlmsg_flags = 0;
		} else {
			answer_error(0);
			asked.nlmsg_type = 0;
		}
		return true;
	}
	if (!in || !in->left) {
		errno = EBADF;
		if (!calm || !asked.nlmsg_type)
			return false;
		calm--;
		answer_error(-ENODATA);
		return true;
	}
	more = (u8)fuzz_take(in, 1);
	if (more >= 252) {
		errno = errors[more - 252];
		return false;
	}
	for (more %= 4; more < 4 && in->left; more++)
		read_message();
	return out.len || make_packet();
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	struct sockaddr_nl from = { .nl_family = AF_NETLINK };
	size_t len;

	(void)fd;
	if (!make_packet())
		return -1;
	len = out.len < msg->msg_iov->iov_len ? out.len : msg->msg_iov->iov_len;
	memcpy(msg->msg_iov->iov_base, out.bytes, len);
	memcpy(msg->msg_name, &from, sizeof(from));
	msg->msg_namelen = sizeof(from);
	msg->msg_controllen = 0;
	msg->msg_flags = len < out.len ? MSG_TRUNC : 0;
	return flags & MSG_TRUNC ? (ssize_t)out.len : (ssize_t)len;
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	(void)fd;
	(void)flags;
	memcpy(&asked, msg->msg_iov->iov_base, sizeof(asked));
	/* A sent message is whole and of its length. */
	must(asked.nlmsg_len >= sizeof(asked) && asked.nlmsg_len <= msg->msg_iov->iov_len);
	return (ssize_t)msg->msg_iov->iov_len;
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	(void)fd;
	(void)level;
	(void)name;
	(void)value;
	(void)len;
	return 0;
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *limit, const sigset_t *mask)
{
	(void)fds;
	(void)limit;
	(void)mask;
	errno = EBADF;
	return in && in->left ? (int)count : -1;
}

/* The daemon, and its guests. */

int connect(int fd, const struct sockaddr *address, socklen_t len)
{
	(void)fd;
	(void)address;
	(void)len;
	return 0;
}

int accept4(int fd, struct sockaddr *address, socklen_t *len, int flags)
{
	(void)address;
	(void)len;
	(void)flags;
	return dup(fd);
}

ssize_t send(int fd, const void *data, size_t len, int flags)
{
	(void)fd;
	(void)flags;
	fuzz_said_len = len < sizeof(fuzz_said) ? len : sizeof(fuzz_said) - 1;
	memcpy(fuzz_said, data, fuzz_said_len);
	fuzz_said[fuzz_said_len] = '\0';
	return (ssize_t)len;
}

ssize_t recv(int fd, void *data, size_t len, int flags)
{
	(void)fd;
	(void)flags;
	if (in && in->left < len)
		len = in->left;
	if (!in || !len)
		return 0;
	memcpy(data, in->at, len);
	in->at += len;
	in->left -= len;
	return (ssize_t)len;
}
