// SPDX-License-Identifier: GPL-2.0
/* Calls of the generic netlink family, with the kernel's own words on failures. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "kernel/nl.h"

/* Dumps of many locks come in messages of this size; events may pile up. */
#define MESSAGE_SIZE	(32 * 1024)
#define RECEIVE_SIZE	(1024 * 1024)
#define SEND_SIZE	(128 * 1024)	/* all rules, and as many evictions */

/* Family version of the module that the last bftm_nl_open() found. */
static u32 loaded_version;

#define MAX_ERRNO	4095	/* the kernel's limit */

/* One call under way. */
struct call {
	struct bftm_nl *nl;
	const struct nlmsghdr *request;
	int (*each)(struct nlattr **attr, void *arg);
	int max;
	void *arg;
	int result;
	bool done;
};

int bftm_nl_errno(int result)
{
	switch (-result) {
	case NLE_SUCCESS:
		return 0;
	case NLE_OBJ_NOTFOUND:
		return -ENOENT;
	case NLE_NOMEM:		/* ENOBUFS as well: messages were lost */
		return -ENOBUFS;
	case NLE_PERM:
	case NLE_NOACCESS:
		return -EPERM;
	case NLE_AGAIN:
		return -EAGAIN;
	case NLE_INTR:
		return -EINTR;
	case NLE_AF_NOSUPPORT:
	case NLE_PROTO_MISMATCH:
		return -EPROTONOSUPPORT;
	default:
		return -EIO;
	}
}

/* Reads an answer of the kernel's control family, which describes all others. */
static int read_family(struct nlattr **attr, void *arg)
{
	struct bftm_nl *nl = arg;

	if (!attr[CTRL_ATTR_FAMILY_ID] || nla_len(attr[CTRL_ATTR_FAMILY_ID]) < (int)sizeof(u16) ||
	    !attr[CTRL_ATTR_VERSION] || nla_len(attr[CTRL_ATTR_VERSION]) < (int)sizeof(u32))
		return -EBADMSG;
	nl->family = nla_get_u16(attr[CTRL_ATTR_FAMILY_ID]);
	loaded_version = nla_get_u32(attr[CTRL_ATTR_VERSION]);
	return loaded_version == BFTMUTEX_FAMILY_VERSION ? 0 : -EPROTO;
}

static int find_family(struct bftm_nl *nl)
{
	struct nl_msg *msg;

	nl->family = GENL_ID_CTRL;
	msg = bftm_nl_msg(nl, CTRL_CMD_GETFAMILY, 0);
	if (msg)
		nla_put_string(msg, CTRL_ATTR_FAMILY_NAME, BFTMUTEX_FAMILY_NAME);
	return bftm_nl_call(nl, msg, read_family, CTRL_ATTR_MAX, nl);
}

int bftm_nl_open(struct bftm_nl *ret)
{
	struct bftm_nl nl = {};
	int one = 1, fd, r;

	nl.sock = nl_socket_alloc();
	if (!nl.sock)
		return -ENOMEM;
	r = genl_connect(nl.sock);
	if (r < 0)
		goto err_sock;
	nl_socket_set_msg_buf_size(nl.sock, MESSAGE_SIZE);
	r = nl_socket_set_buffer_size(nl.sock, RECEIVE_SIZE, SEND_SIZE);
	if (r < 0)
		goto err_sock;

	/* Kernels without these options give less detailed answers. */
	fd = nl_socket_get_fd(nl.sock);
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	/* An error message without the request in it fits MESSAGE_SIZE. */
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &one, sizeof(one));

	r = find_family(&nl);
	if (r < 0)
		goto err_family;
	*ret = nl;
	return 0;

err_sock:
	r = bftm_nl_errno(r);
err_family:
	nl_socket_free(nl.sock);
	return r;
}

void bftm_nl_other_version(char *buf, size_t len)
{
	snprintf(buf, len, "the loaded module speaks version %u of the netlink family '%s', "
		 "this program version %d: %s", loaded_version, BFTMUTEX_FAMILY_NAME,
		 BFTMUTEX_FAMILY_VERSION, loaded_version < BFTMUTEX_FAMILY_VERSION ?
		 "end what uses the module, then load the new one by 'rmmod bftmutex && modprobe bftmutex'" :
		 "install the programs that came with the module, and restart bftmutexd");
}

void bftm_nl_close(struct bftm_nl *nl)
{
	nl_socket_free(nl->sock);
	nl->sock = NULL;
}

static struct nl_msg *nl_begin(struct bftm_nl *nl, struct nl_msg *msg, u8 cmd, int flags)
{
	if (msg && !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, nl->family, 0,
				NLM_F_REQUEST | flags, cmd, BFTMUTEX_FAMILY_VERSION)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

struct nl_msg *bftm_nl_msg(struct bftm_nl *nl, u8 cmd, int flags)
{
	return nl_begin(nl, nlmsg_alloc(), cmd, flags);
}

struct nl_msg *bftm_nl_msg_room(struct bftm_nl *nl, u8 cmd, int flags, size_t room)
{
	return nl_begin(nl, nlmsg_alloc_size(NLMSG_HDRLEN + GENL_HDRLEN + room), cmd, flags);
}

/* The innermost attribute of the request that covers @offset, 0 for none. */
static int attribute_at(const struct nlmsghdr *request, u32 offset)
{
	struct nlattr *attr;
	int rest;

	nlmsg_for_each_attr(attr, request, GENL_HDRLEN, rest) {
		u32 start = (const char *)attr - (const char *)request;

		if (offset >= start && offset < start + nla_total_size(nla_len(attr)))
			return nla_type(attr);
	}
	return 0;
}

static void take_ext_ack(struct call *call, struct nlattr *head, int len)
{
	struct nlattr *attr[NLMSGERR_ATTR_MAX + 1] = {};

	if (len <= 0 || nla_parse(attr, NLMSGERR_ATTR_MAX, head, len, NULL) < 0)
		return;
	if (attr[NLMSGERR_ATTR_MSG])
		nla_strlcpy(call->nl->error, attr[NLMSGERR_ATTR_MSG], sizeof(call->nl->error));
	if (attr[NLMSGERR_ATTR_OFFS] && nla_len(attr[NLMSGERR_ATTR_OFFS]) >= (int)sizeof(u32))
		call->nl->attr = attribute_at(call->request,
					      nla_get_u32(attr[NLMSGERR_ATTR_OFFS]));
}

/* Callers print it, or make it their exit code. */
static int errno_of(int error)
{
	return error < 0 && error >= -MAX_ERRNO ? error : -EBADMSG;
}

/* The words of NLMSG_ERROR come behind the request, which may be left out. */
static void take_words(struct call *call, const struct nlmsghdr *header,
		       const struct nlmsgerr *error)
{
	int skip = sizeof(*error);

	if (!(header->nlmsg_flags & NLM_F_CAPPED))
		skip += error->msg.nlmsg_len - sizeof(error->msg);
	skip = NLMSG_ALIGN(skip);
	if (header->nlmsg_flags & NLM_F_ACK_TLVS)
		take_ext_ack(call, (struct nlattr *)((char *)error + skip),
			     (int)nlmsg_datalen(header) - skip);
}

/* NLMSG_ERROR with an error */
static int on_error(struct sockaddr_nl *from, struct nlmsgerr *error, void *arg)
{
	struct nlmsghdr *header = (struct nlmsghdr *)((char *)error - NLMSG_HDRLEN);
	struct call *call = arg;

	(void)from;
	take_words(call, header, error);
	call->result = errno_of(error->error);
	call->done = true;
	return NL_STOP;
}

/* NLMSG_ERROR without an error, perhaps with a warning */
static int on_ack(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *header = nlmsg_hdr(msg);
	struct call *call = arg;

	if (nlmsg_datalen(header) >= (int)sizeof(struct nlmsgerr))
		take_words(call, header, nlmsg_data(header));
	call->done = true;
	return NL_STOP;
}

/* NLMSG_DONE after a dump; an error in the middle of one comes in it. */
static int on_finish(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *header = nlmsg_hdr(msg);
	struct call *call = arg;
	int error = 0, skip = NLMSG_ALIGN(sizeof(error));

	if (nlmsg_datalen(header) >= (int)sizeof(error))
		memcpy(&error, nlmsg_data(header), sizeof(error));
	if (error) {
		call->result = errno_of(error);
		take_ext_ack(call, (struct nlattr *)((char *)nlmsg_data(header) + skip),
			     nlmsg_datalen(header) - skip);
	}
	call->done = true;
	return NL_STOP;
}

static int on_answer(struct nl_msg *msg, void *arg)
{
	struct call *call = arg;
	struct nlattr *attr[call->max + 1];

	/* After @each has ended the call, the remaining answers are only read. */
	if (!call->each || call->result < 0)
		return NL_OK;
	if (genlmsg_parse(nlmsg_hdr(msg), 0, attr, call->max, NULL) < 0)
		call->result = -EBADMSG;
	else
		call->result = call->each(attr, call->arg);
	return NL_OK;
}

/* Notifications share the socket with answers. */
static int on_sequence(struct nl_msg *msg, void *arg)
{
	struct call *call = arg;

	if (nlmsg_hdr(msg)->nlmsg_seq == call->request->nlmsg_seq)
		return NL_OK;
	if (!nlmsg_hdr(msg)->nlmsg_seq)
		call->nl->notified = true;
	return NL_SKIP;
}

/* Most tables change all the time, so this is no error. */
static int on_dump_changed(struct nl_msg *msg, void *arg)
{
	struct call *call = arg;

	(void)msg;
	call->nl->changed = true;
	return NL_OK;
}

static int nl_receive(struct call *call)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int r = 0;

	if (!cb)
		return -ENOMEM;
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, call);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, call);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, call);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_answer, call);
	nl_cb_set(cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, on_sequence, call);
	nl_cb_set(cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, on_dump_changed, call);
	while (!call->done && r >= 0)
		r = nl_recvmsgs(call->nl->sock, cb);
	nl_cb_put(cb);
	/* Our own @error makes libnl stop without a result of its own. */
	return call->done ? call->result : bftm_nl_errno(r);
}

void bftm_nl_free(struct nl_msg *msg)
{
	explicit_bzero(nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len);
	nlmsg_free(msg);
}

int bftm_nl_call(struct bftm_nl *nl, struct nl_msg *msg,
		 int (*each)(struct nlattr **attr, void *arg), int max, void *arg)
{
	struct call call = {
		.nl = nl,
		.each = each,
		.max = max,
		.arg = arg,
	};
	int r;

	nl->error[0] = '\0';
	nl->attr = 0;
	nl->changed = false;
	if (!msg)
		return -ENOMEM;
	r = nl_send_auto(nl->sock, msg);	/* asks for an ack as well */
	call.request = nlmsg_hdr(msg);
	r = r < 0 ? bftm_nl_errno(r) : nl_receive(&call);
	bftm_nl_free(msg);
	return r;
}
