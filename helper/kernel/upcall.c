// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <poll.h>
#include <string.h>

#include <netlink/genl/genl.h>

#include "uapi/linux/bftmutex.h"
#include "kernel/nl.h"
#include "kernel/upcall.h"
#include "loop/clock.h"
#include "loop/log.h"
#include "loop/loop.h"

#define LOOK_NS (1 * BFTM_NS_PER_SEC)
/* Longest time of pulling, then answers of servers, timers and signals have their turn. */
#define PULL_NS (2 * BFTM_NS_PER_MS)

static struct bftm_nl nl;
static struct bftm_watch watch;
static struct bftm_timer look;
static bool registered;
static bool broken;
static bool restored;
static u64 pulled_ns;
static u64 other_version_ns;	/* when another version was logged last */

struct pull {
	bool any;
	struct bftm_pulled request;
};

static u64 get_u64(struct nlattr *attr)
{
	return attr ? nla_get_u64(attr) : 0;
}

static u32 get_u32(struct nlattr *attr)
{
	return attr ? nla_get_u32(attr) : 0;
}

/* The operation is kept until the next request is pulled. */
static int read_submit(struct nlattr **attr, struct bftm_pulled *p)
{
	static u8 op[BFTM_OP_MAX];
	struct nlattr *body = attr[BFTMUTEX_A_HANDLE_OP];
	struct bftm_submit_ask *ask = &p->submit;

	if (!body || nla_len(body) > (int)sizeof(op))
		return -EBADMSG;
	memcpy(op, nla_data(body), (size_t)nla_len(body));
	ask->id = p->ask.id;
	memcpy(ask->cluster, p->ask.cluster, sizeof(ask->cluster));
	memcpy(ask->name, p->ask.name, sizeof(ask->name));
	ask->name_len = p->ask.name_len;
	ask->timeout_at_ns = p->ask.timeout_at_ns;
	ask->op = op;
	ask->op_len = (u32)nla_len(body);
	return 0;
}

static int read_value(struct nlattr **attr, struct bftm_ask_value *ret)
{
	struct nlattr *value = attr[BFTMUTEX_A_HANDLE_VALUE];
	u32 flags = get_u32(attr[BFTMUTEX_A_HANDLE_VALUE_FLAGS]);

	ret->doubt = flags & BFTMUTEX_VALUE_FLAG_DOUBT;
	ret->left = flags & BFTMUTEX_VALUE_FLAG_LEFT;
	ret->leaves.any = flags & BFTMUTEX_VALUE_FLAG_LEAVES;
	if (!value)
		return 0;
	if (nla_len(value) > BFTM_VALUE_LEN_MAX)
		return -EBADMSG;
	ret->leaves.len = (u8)nla_len(value);
	memcpy(ret->leaves.bytes, nla_data(value), ret->leaves.len);
	return 0;
}

static int read_request(struct nlattr **attr, void *arg)
{
	struct nlattr *name = attr[BFTMUTEX_A_HANDLE_NAME];
	struct pull *pull = arg;
	struct bftm_pulled *p = &pull->request;
	struct bftm_ask *ask = &p->ask;
	u64 timeout_at;
	u32 flags;

	ask->mode = get_u32(attr[BFTMUTEX_A_HANDLE_MODE]);
	ask->goal = get_u32(attr[BFTMUTEX_A_HANDLE_GOAL]);
	if (!name || nla_len(name) > BFTM_NAME_LEN_MAX || ask->mode >= BFTM_LOCK_NL ||
	    ask->goal >= BFTM_LOCK_NL || read_value(attr, &ask->value) < 0)
		return -EBADMSG;
	pull->any = true;
	p->kind = get_u32(attr[BFTMUTEX_A_HANDLE_KIND]);
	ask->id = get_u64(attr[BFTMUTEX_A_HANDLE_ID]);
	ask->name_len = (u8)nla_len(name);
	memcpy(ask->name, nla_data(name), ask->name_len);
	if (attr[BFTMUTEX_A_HANDLE_CLUSTER])
		nla_strlcpy(ask->cluster, attr[BFTMUTEX_A_HANDLE_CLUSTER],
			    sizeof(ask->cluster));
	flags = get_u32(attr[BFTMUTEX_A_HANDLE_FLAGS]);
	ask->once = flags & BFTM_TRY;
	ask->renew = flags & BFTM_RENEW;
	ask->fence = flags & BFTM_FENCE;
	ask->value.wanted = flags & BFTM_VALUE;
	ask->lease_ns = flags & BFTM_NO_LEASE ? BFTM_LEASE_NONE :
						get_u64(attr[BFTMUTEX_A_HANDLE_LEASE_NS]);
	ask->conversion = get_u32(attr[BFTMUTEX_A_HANDLE_CONVERSION]);
	flags = get_u32(attr[BFTMUTEX_A_HANDLE_CONVERT_FLAGS]);
	ask->convert_once = flags & BFTM_TRY;
	ask->convert_fence = flags & BFTM_FENCE;
	ask->way = get_u32(attr[BFTMUTEX_A_HANDLE_WAY]);
	timeout_at = get_u64(attr[BFTMUTEX_A_HANDLE_TIMEOUT_AT_NS]);
	ask->timeout_at_ns = timeout_at ? bftm_clock_from_boottime(timeout_at) : 0;
	ask->attempt = get_u64(attr[BFTMUTEX_A_HANDLE_ATTEMPT]);
	ask->end_ns = get_u64(attr[BFTMUTEX_A_HANDLE_END_NS]);
	ask->sends = get_u32(attr[BFTMUTEX_A_HANDLE_SENDS]);
	ask->token = get_u64(attr[BFTMUTEX_A_HANDLE_TOKEN]);
	ask->silent = get_u32(attr[BFTMUTEX_A_HANDLE_SILENT]);
	ask->prio = get_u64(attr[BFTMUTEX_A_HANDLE_PRIORITY]);
	ask->configuration = get_u64(attr[BFTMUTEX_A_HANDLE_CONFIGURATION]);
	return p->kind == BFTMUTEX_REQUEST_KIND_SUBMIT ? read_submit(attr, p) : 0;
}

/* One request at least, then until @most_ns have passed. */
static void upcall_pull(u64 most_ns)
{
	u64 end_ns = bftm_now() + most_ns;
	int err;

	for (;;) {
		struct pull p = {};

		nl.notified = false;
		err = bftm_nl_call(&nl, bftm_nl_msg(&nl, BFTMUTEX_CMD_HELPER_PULL, 0),
				   read_request, BFTMUTEX_A_HANDLE_MAX, &p);
		if (!err && p.any)
			bftm_upcall_ops.request(&p.request);
		if (err == -ENODATA)
			pulled_ns = bftm_now();
		/* A hint that came during a pull without a request counts as well. */
		if (err && (err != -ENODATA || !nl.notified))
			break;
		if (!nl.notified && bftm_now() >= end_ns) {
			bftm_timer_arm(&look, bftm_now());
			return;
		}
	}
	if (err == -ENODATA)
		return;
	/* The module was unloaded, perhaps to be loaded again. */
	bftm_log(LOG_WARNING, "no requests from the kernel: %s", err == -ENOENT ?
		 "the module was unloaded; load it by 'modprobe bftmutex'" : strerror(-err));
	bftm_upcall_close();
}

static void upcall_ready(struct bftm_watch *w)
{
	(void)w;
	/* The only messages that arrive without a request are hints, which have no content. */
	nl_recvmsgs_default(nl.sock);
	upcall_pull(PULL_NS);
}

static void look_again(struct bftm_timer *timer)
{
	bftm_timer_arm(timer, bftm_now() + LOOK_NS);
	if (broken)
		bftm_upcall_close();
	if (registered)
		upcall_pull(PULL_NS);
	else if (!bftm_upcall_open())
		bftm_log(LOG_INFO, "serving the kernel again");
}

static int call_register(void)
{
	return bftm_nl_call(&nl, bftm_nl_msg(&nl, BFTMUTEX_CMD_HELPER_REGISTER, 0),
			    NULL, 0, NULL);
}

/*
 * The kernel reports once that the machine is a copy of an earlier state, and draws no numbers
 * until the next registration.
 */
static int register_here(void)
{
	int err = restored ? -ESTALE : call_register();

	if (err != -ESTALE)
		return err;
	restored = true;
	err = bftm_upcall_ops.restored();
	if (err)
		return err;
	restored = false;
	return call_register();
}

static void say_other_version(void)
{
	char why[256];

	bftm_nl_other_version(why, sizeof(why));
	bftm_log(LOG_ERR, "%s", why);
}

int bftm_upcall_open(void)
{
	int err = bftm_nl_open(&nl);

	if (err == -EPROTO && bftm_due(&other_version_ns, BFTM_SAID_AGAIN_NS))
		say_other_version();
	look.fire = look_again;
	bftm_timer_arm(&look, bftm_now() + LOOK_NS);
	if (err < 0)
		return err;
	nl_socket_disable_seq_check(nl.sock);
	err = register_here();
	if (err < 0) {
		bftm_nl_close(&nl);
		return err;
	}
	registered = true;
	watch.fd = nl_socket_get_fd(nl.sock);
	watch.ready = upcall_ready;
	bftm_watch_add(&watch);
	bftm_upcall_ops.opened();
	upcall_pull(PULL_NS);
	return 0;
}

void bftm_upcall_look(void)
{
	struct pollfd kernel = { .fd = watch.fd, .events = POLLIN };

	if (!registered)
		return;
	/* One pull shows whether this is the helper still; other requests have their turn later. */
	if (poll(&kernel, 1, 0) > 0)
		nl_recvmsgs_default(nl.sock);
	else if (!nl.notified && !broken)
		return;			/* else a report has read the hint */
	upcall_pull(0);
}

bool bftm_upcall_is_open(void)
{
	return registered;
}

u64 bftm_upcall_pulled_ns(void)
{
	return pulled_ns;
}

void bftm_upcall_close(void)
{
	if (!registered)
		return;
	registered = false;
	broken = false;
	bftm_watch_del(&watch);
	bftm_nl_close(&nl);
	pulled_ns = 0;
	bftm_upcall_ops.closed();
}

struct nl_msg *bftm_upcall_msg(u8 cmd, size_t room)
{
	return registered ? bftm_nl_msg_room(&nl, cmd, 0, room) : NULL;
}

int bftm_upcall_call(struct nl_msg *msg)
{
	int err = bftm_nl_call(&nl, msg, NULL, 0, NULL);

	if (nl.notified || broken)
		bftm_timer_arm(&look, bftm_now());	/* a hint came in between */
	return err;
}

int bftm_upcall_blames(const char **ret_words)
{
	*ret_words = nl.error;
	return nl.attr;
}

void bftm_upcall_again(void)
{
	broken = registered;
	bftm_timer_arm(&look, bftm_now());
}
