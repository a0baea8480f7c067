// SPDX-License-Identifier: GPL-2.0
/* Rights: without CAP_NET_ADMIN a process may only read the description of the server. */
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "selftests/module/device/harness.h"
#include "netlink.h"

/* Messages that only the kernel may send. */
static bool is_event(uint8_t cmd)
{
	return cmd == BFTMUTEX_CMD_HELPER_READY || cmd == BFTMUTEX_CMD_JOURNAL_READY ||
		cmd == BFTMUTEX_CMD_LOCK_EVENT || cmd == BFTMUTEX_CMD_SUSPECT_EVENT ||
		cmd == BFTMUTEX_CMD_RENEW_EVENT;
}

/* The fixture's namespace has a server and a helper. */
FIXTURE(rights)
{
	struct bftm_nl nl;
};

FIXTURE_SETUP(rights)
{
	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	ASSERT_EQ(0, start_server(&self->nl));
	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
}

FIXTURE_TEARDOWN(rights)
{
	bftm_nl_close(&self->nl);
}

static int drop_net_admin(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	data[0].effective &= ~(1u << CAP_NET_ADMIN);
	data[0].permitted &= ~(1u << CAP_NET_ADMIN);
	data[0].inheritable = 0;
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

static bool is_refused(int err)
{
	return err == -EPERM || err == -EOPNOTSUPP;
}

/* The first command but SERVER_GET, alone or as a dump, that is not refused; 0 when all are. */
static int let_through(struct bftm_nl *nl)
{
	int cmd, alone, dump;

	for (cmd = 1; cmd <= BFTMUTEX_CMD_MAX; cmd++) {
		if (cmd == BFTMUTEX_CMD_SERVER_GET)
			continue;
		alone = command(nl, cmd, 0);
		dump = command(nl, cmd, NLM_F_DUMP);
		/* A command that exists in one form only does not exist in the other. */
		if (!is_refused(alone) || !is_refused(dump) ||
		    is_event(cmd) != (alone == -EOPNOTSUPP && dump == -EOPNOTSUPP))
			return cmd;
	}
	return 0;
}

static int join_events(void)
{
	struct nl_sock *sock = nl_socket_alloc();
	int group, err;

	genl_connect(sock);
	group = genl_ctrl_resolve_grp(sock, BFTMUTEX_FAMILY_NAME, BFTMUTEX_MCGRP_EVENTS);
	err = group < 0 ? group : nl_socket_add_membership(sock, group);
	nl_socket_free(sock);
	return bftm_nl_errno(err);
}

TEST_F(rights, with_the_capability)
{
	static const uint8_t dumps[] = {
		BFTMUTEX_CMD_LOCK_GET, BFTMUTEX_CMD_OBJECT_GET, BFTMUTEX_CMD_CLIENT_GET,
		BFTMUTEX_CMD_HANDLE_GET, BFTMUTEX_CMD_ACCESS_GET,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(dumps); i++)
		EXPECT_EQ(0, command(&self->nl, dumps[i], NLM_F_DUMP));
	EXPECT_EQ(0, command(&self->nl, BFTMUTEX_CMD_LOCAL_GET, 0));
	EXPECT_EQ(BFTMUTEX_CMD_SERVER_START, let_through(&self->nl));
	EXPECT_EQ(0, join_events());
}

TEST_F(rights, without_the_capability)
{
	struct bftm_nl nl;

	ASSERT_EQ(0, drop_net_admin());
	ASSERT_EQ(0, bftm_nl_open(&nl));
	EXPECT_EQ(0, let_through(&nl));
	EXPECT_EQ(0, command(&nl, BFTMUTEX_CMD_SERVER_GET, 0));
	EXPECT_EQ(-EPERM, join_events());
	bftm_nl_close(&nl);
}

/* A socket that was opened with more rights does not help, not even the helper's own. */
TEST_F(rights, dropped_after_the_socket_was_made)
{
	ASSERT_EQ(0, drop_net_admin());
	EXPECT_EQ(0, let_through(&self->nl));
	EXPECT_EQ(0, command(&self->nl, BFTMUTEX_CMD_SERVER_GET, 0));
}

TEST_F(rights, nobody)
{
	struct bftm_nl nl;

	ASSERT_EQ(0, setresgid(65534, 65534, 65534));
	ASSERT_EQ(0, setresuid(65534, 65534, 65534));
	ASSERT_EQ(0, bftm_nl_open(&nl));
	EXPECT_EQ(0, let_through(&nl));
	EXPECT_EQ(-EACCES, open_here(0));
	bftm_nl_close(&nl);
}

/* Root of a user namespace, with a network namespace of his own. */
TEST_F(rights, root_of_a_user_namespace)
{
	struct bftm_nl nl;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		SKIP(return, "no user namespaces here");
	ASSERT_EQ(0, bftm_nl_open(&nl));
	EXPECT_EQ(0, let_through(&nl));
	/* He sees his own namespace, which has no server. */
	EXPECT_EQ(-ENOENT, command(&nl, BFTMUTEX_CMD_SERVER_GET, 0));
	bftm_nl_close(&nl);
}

/* Not the helper: it may not take or decide what is the helper's. */
TEST_F(rights, not_the_helper)
{
	struct bftm_nl nl;
	struct nl_msg *msg;

	ASSERT_EQ(0, bftm_nl_open(&nl));
	EXPECT_EQ(-EBUSY, command(&nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	EXPECT_STRNE("", nl.error);
	EXPECT_EQ(-EPERM, command(&nl, BFTMUTEX_CMD_HELPER_PULL, 0));
	msg = bftm_nl_msg(&nl, BFTMUTEX_CMD_HELPER_DONE, 0);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, 1);
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_ERROR, EIO);
	EXPECT_EQ(-EPERM, send_msg(&nl, msg));
	/* The helper itself is not disturbed, and is not the helper twice. */
	EXPECT_EQ(-EBUSY, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	EXPECT_EQ(-ENODATA, command(&self->nl, BFTMUTEX_CMD_HELPER_PULL, 0));
	bftm_nl_close(&self->nl);
	EXPECT_EQ(0, command(&nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	bftm_nl_close(&nl);
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
}

TEST_F(rights, namespaces_are_apart)
{
	struct bftm_nl nl;

	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&nl));
	EXPECT_EQ(-ENOENT, command(&nl, BFTMUTEX_CMD_SERVER_GET, 0));
	EXPECT_EQ(-ENOENT, stop_server(&nl));
	EXPECT_EQ(0, start_server(&nl));
	EXPECT_EQ(0, command(&nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	/* The socket's namespace counts, not that of the process. */
	EXPECT_EQ(0, stop_server(&self->nl));
	EXPECT_EQ(-ENOENT, command(&self->nl, BFTMUTEX_CMD_SERVER_GET, 0));
	EXPECT_EQ(0, command(&nl, BFTMUTEX_CMD_SERVER_GET, 0));
	bftm_nl_close(&nl);
}

TEST_HARNESS_MAIN
