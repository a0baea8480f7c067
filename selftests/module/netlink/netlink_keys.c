// SPDX-License-Identifier: GPL-2.0
/*
 * Keys are wiped from messages that the kernel has processed. The kernel's quotations show it: a
 * socket without NETLINK_CAP_ACK gets the whole request with a failure, as it is then.
 */
#include "selftests/module/device/harness.h"
#include "netlink.h"

static const char request_key[16] = "request key 16 b", reply_key[16] = "reply key of 16 ";

FIXTURE(keys)
{
	struct bftm_nl nl;
};

FIXTURE_SETUP(keys)
{
	int zero = 0;

	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	ASSERT_EQ(0, setsockopt(nl_socket_get_fd(self->nl.sock), SOL_NETLINK, NETLINK_CAP_ACK,
				&zero, sizeof(zero)));
}

FIXTURE_TEARDOWN(keys)
{
	bftm_nl_close(&self->nl);
}

/* The kernel's answer to it, error @want with the request; its length in *@ret_len. */
static const struct nlmsgerr *quoted(struct bftm_nl *nl, struct nl_msg *msg, size_t *ret_len)
{
	static char answer[16384];
	struct nlmsghdr *header = (struct nlmsghdr *)answer;
	ssize_t len;

	if (nl_send_auto(nl->sock, msg) < 0)
		abort();
	nlmsg_free(msg);
	len = recv(nl_socket_get_fd(nl->sock), answer, sizeof(answer), 0);
	if (len < (ssize_t)NLMSG_LENGTH(sizeof(struct nlmsgerr)) ||
	    header->nlmsg_type != NLMSG_ERROR)
		abort();
	*ret_len = (size_t)len - NLMSG_HDRLEN;
	return NLMSG_DATA(header);
}

static struct nl_msg *lend_msg(struct bftm_nl *nl)
{
	struct nl_msg *msg = bftm_nl_msg(nl, BFTMUTEX_CMD_HELPER_LEND, 0);
	struct nlattr *nest;
	int i;

	nla_put_string(msg, BFTMUTEX_A_SESSION_CLUSTER, "main");
	for (i = 0; i < 4; i++) {
		nest = nla_nest_start(msg, BFTMUTEX_A_SESSION_PEER);
		nla_put_u16(msg, BFTMUTEX_A_PEER_SERVER_ID, (uint16_t)(1 + i));
		nla_put(msg, BFTMUTEX_A_PEER_REQUEST_KEY, sizeof(request_key), request_key);
		nla_put(msg, BFTMUTEX_A_PEER_REPLY_KEY, sizeof(reply_key), reply_key);
		nla_nest_end(msg, nest);
	}
	return msg;
}

TEST_F(keys, of_a_server)
{
	const struct nlmsgerr *answer;
	size_t len;

	ASSERT_EQ(0, start_server(&self->nl));
	answer = quoted(&self->nl, start_msg(&self->nl), &len);
	EXPECT_EQ(-EEXIST, answer->error);
	/* All of it is there, but the key. */
	EXPECT_GT(len, sizeof(*answer) + sizeof(server_key));
	EXPECT_EQ(NULL, memmem(answer, len, server_key, 8));
	EXPECT_EQ(0, stop_server(&self->nl));
}

TEST_F(keys, of_a_start_that_is_not_whole)
{
	struct nl_msg *msg = bftm_nl_msg(&self->nl, BFTMUTEX_CMD_SERVER_START, 0);
	const struct nlmsgerr *answer;
	size_t len;

	nla_put(msg, BFTMUTEX_A_SERVER_KEY, sizeof(server_key), server_key);
	answer = quoted(&self->nl, msg, &len);
	EXPECT_EQ(-EINVAL, answer->error);
	EXPECT_EQ(NULL, memmem(answer, len, server_key, 8));
}

TEST_F(keys, of_a_server_twice)
{
	struct nl_msg *msg = start_msg(&self->nl);
	const struct nlmsgerr *answer;
	size_t len;

	ASSERT_EQ(0, start_server(&self->nl));
	nla_put(msg, BFTMUTEX_A_SERVER_KEY, sizeof(server_key), server_key);
	answer = quoted(&self->nl, msg, &len);
	EXPECT_EQ(-EEXIST, answer->error);
	EXPECT_GT(len, sizeof(*answer) + 2 * sizeof(server_key));
	EXPECT_EQ(NULL, memmem(answer, len, server_key, 8));
	EXPECT_EQ(0, stop_server(&self->nl));
}

TEST_F(keys, lent_by_a_stranger)
{
	const struct nlmsgerr *answer;
	size_t len;

	answer = quoted(&self->nl, lend_msg(&self->nl), &len);
	EXPECT_EQ(-EPERM, answer->error);
	EXPECT_GT(len, sizeof(*answer) + 4 * (sizeof(request_key) + sizeof(reply_key)));
	EXPECT_EQ(NULL, memmem(answer, len, request_key, 8));
	EXPECT_EQ(NULL, memmem(answer, len, reply_key, 8));
}

TEST_F(keys, lent_by_the_helper)
{
	const struct nlmsgerr *answer;
	size_t len;

	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	answer = quoted(&self->nl, lend_msg(&self->nl), &len);
	EXPECT_EQ(-EINVAL, answer->error);
	EXPECT_EQ(NULL, memmem(answer, len, request_key, 8));
	EXPECT_EQ(NULL, memmem(answer, len, reply_key, 8));
}

TEST_HARNESS_MAIN
