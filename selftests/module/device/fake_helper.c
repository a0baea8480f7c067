// SPDX-License-Identifier: GPL-2.0
#include "fake_helper.h"

int pull(struct bftm_nl *nl, struct seen *ret)
{
	memset(ret, 0, sizeof(*ret));
	return bftm_nl_call(nl, bftm_nl_msg(nl, BFTMUTEX_CMD_HELPER_PULL, 0), take,
			    BFTMUTEX_A_HANDLE_MAX, ret);
}

int done_with(struct bftm_nl *nl, uint64_t id, uint64_t error, uint64_t attempt,
	      uint64_t deadline_ns, uint64_t token, uint32_t sends)
{
	struct nl_msg *msg = bftm_nl_msg(nl, BFTMUTEX_CMD_HELPER_DONE, 0);

	if (id != NONE)
		nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, id);
	if (error != NONE)
		nla_put_u32(msg, BFTMUTEX_A_HANDLE_ERROR, (uint32_t)error);
	if (attempt != NONE)
		nla_put_u64(msg, BFTMUTEX_A_HANDLE_ATTEMPT, attempt);
	if (deadline_ns != NONE)
		nla_put_u64(msg, BFTMUTEX_A_HANDLE_DEADLINE_NS, deadline_ns);
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_ATTEMPTS, 7);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_TOKEN, token);
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_SENDS, sends);
	return send_msg(nl, msg);
}

int done(struct bftm_nl *nl, uint64_t id, uint64_t error, uint64_t attempt, uint64_t deadline_ns)
{
	return done_with(nl, id, error, attempt, deadline_ns, 11, 1);
}

void put_value(struct nl_msg *msg, uint64_t flags, const char *text, int len)
{
	if (flags != NONE)
		nla_put_u32(msg, BFTMUTEX_A_HANDLE_VALUE_FLAGS, (uint32_t)flags);
	if (text)
		nla_put(msg, BFTMUTEX_A_HANDLE_VALUE, len, text);
}

int done_of(struct bftm_nl *nl, uint64_t id, uint64_t deadline_ns, uint64_t flags,
	    const char *text, int len)
{
	struct nl_msg *msg = bftm_nl_msg(nl, BFTMUTEX_CMD_HELPER_DONE, 0);

	nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, id);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_ATTEMPT, 5);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_DEADLINE_NS, deadline_ns);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_TOKEN, 11);
	put_value(msg, flags, text, len);
	return send_msg(nl, msg);
}

int renewed(struct bftm_nl *nl, uint64_t id, uint64_t deadline_ns, uint32_t sends)
{
	struct nl_msg *msg = bftm_nl_msg(nl, BFTMUTEX_CMD_HELPER_RENEWED, 0);

	if (id != NONE)
		nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, id);
	if (deadline_ns != NONE)
		nla_put_u64(msg, BFTMUTEX_A_HANDLE_DEADLINE_NS, deadline_ns);
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_SENDS, sends);
	return send_msg(nl, msg);
}

int wanted(struct bftm_nl *nl, uint64_t id, uint32_t mode)
{
	struct nl_msg *msg = bftm_nl_msg(nl, BFTMUTEX_CMD_HELPER_WANTED, 0);

	if (id != NONE)
		nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, id);
	if (mode != BFTM_LOCK_EX)
		nla_put_u32(msg, BFTMUTEX_A_HANDLE_MODE, mode);
	return send_msg(nl, msg);
}

int converted(struct bftm_nl *nl, uint64_t id, uint32_t conversion, uint32_t error,
	      uint64_t deadline_ns, uint64_t token)
{
	struct nl_msg *msg = bftm_nl_msg(nl, BFTMUTEX_CMD_HELPER_CONVERTED, 0);

	if (id)
		nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, id);
	if (conversion)
		nla_put_u32(msg, BFTMUTEX_A_HANDLE_CONVERSION, conversion);
	if (error)
		nla_put_u32(msg, BFTMUTEX_A_HANDLE_ERROR, error);
	if (deadline_ns)
		nla_put_u64(msg, BFTMUTEX_A_HANDLE_DEADLINE_NS, deadline_ns);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_TOKEN, token);
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_SENDS, 9);
	return send_msg(nl, msg);
}

int held_until(struct bftm_nl *nl, uint8_t cmd, uint64_t id, uint64_t deadline_ns, uint64_t end_ns)
{
	struct nl_msg *msg = bftm_nl_msg(nl, cmd, 0);

	nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, id);
	if (cmd == BFTMUTEX_CMD_HELPER_DONE)
		nla_put_u64(msg, BFTMUTEX_A_HANDLE_ATTEMPT, 5);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_DEADLINE_NS, deadline_ns);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_END_NS, end_ns);
	return send_msg(nl, msg);
}

static int on_event(struct nl_msg *msg, void *arg)
{
	struct nlattr *attr[BFTMUTEX_A_HANDLE_MAX + 1];

	if (!genlmsg_parse(nlmsg_hdr(msg), 0, attr, BFTMUTEX_A_HANDLE_MAX, NULL))
		take(attr, arg);
	return NL_OK;
}

struct nl_sock *open_events(const char *name)
{
	struct nl_sock *sock = nl_socket_alloc();
	int group;

	genl_connect(sock);
	group = genl_ctrl_resolve_grp(sock, BFTMUTEX_FAMILY_NAME, name);
	if (group < 0 || nl_socket_add_membership(sock, group))
		abort();
	nl_socket_disable_seq_check(sock);
	nl_socket_set_nonblocking(sock);
	return sock;
}

int next_event(struct nl_sock *sock, struct seen *ret, int ms)
{
	memset(ret, 0, sizeof(*ret));
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, on_event, ret);
	if (poll_for(nl_socket_get_fd(sock), POLLIN, ms) != POLLIN ||
	    nl_recvmsgs_default(sock) < 0 || ret->count != 1)
		return -1;
	return ret->state;
}

uint64_t pulled(struct bftm_nl *nl, int fd, const char *name)
{
	struct seen s;

	if (acquire(fd, name, 0, 0, NULL) != -EINPROGRESS || pull(nl, &s))
		abort();
	return s.id;
}

uint64_t held_in(struct bftm_nl *nl, int fd, const char *name, uint32_t mode, uint32_t flags,
		 uint64_t deadline_ns)
{
	struct bftm_acquire arg = want(name, 0, 0, flags);
	struct seen s;

	arg.mode = mode;
	if (call(fd, BFTM_IOC_ACQUIRE, &arg) != -EINPROGRESS || pull(nl, &s) ||
	    done(nl, s.id, 0, 5, deadline_ns))
		abort();
	return s.id;
}

uint64_t held(struct bftm_nl *nl, int fd, const char *name, uint32_t flags, uint64_t deadline_ns)
{
	return held_in(nl, fd, name, BFTM_LOCK_EX, flags, deadline_ns);
}

void take_over(struct bftm_nl *nl)
{
	bftm_nl_close(nl);
	if (bftm_nl_open(nl) || command(nl, BFTMUTEX_CMD_HELPER_REGISTER, 0))
		abort();
}
