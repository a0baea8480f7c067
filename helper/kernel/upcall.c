// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>

#include "lock/acquire.h"
#include "loop/clock.h"
#include "cluster/cluster.h"
#include "loop/log.h"
#include "uapi/linux/bftmutex.h"
#include "cluster/lend.h"
#include "loop/loop.h"
#include "kernel/nl.h"
#include "order/order.h"
#include "kernel/upcall.h"

#define LOOK_NS (1 * BFTM_NS_PER_SEC)
/* For so long, then answers of servers, timers and signals have their turn. */
#define PULL_NS (2 * BFTM_NS_PER_MS)

static struct bftm_nl nl;
static struct bftm_watch watch;
static struct bftm_timer look;
static bool registered;
static bool broken;
static bool restored;
static u64 pulled_ns;

struct pulled {
	u32 kind;
	bool any;
	struct bftm_ask ask;
	struct bftm_submit_ask submit;
};

/* Room in a report for all but a response. */
#define REPORT_ROOM 512

static u64 get_u64(struct nlattr *attr)
{
	return attr ? nla_get_u64(attr) : 0;
}

static u32 get_u32(struct nlattr *attr)
{
	return attr ? nla_get_u32(attr) : 0;
}

/* The operation is kept until the next request is pulled. */
static int read_submit(struct nlattr **attr, struct pulled *p)
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

static int read_request(struct nlattr **attr, void *arg)
{
	struct nlattr *name = attr[BFTMUTEX_A_HANDLE_NAME];
	struct pulled *p = arg;
	struct bftm_ask *ask = &p->ask;
	u64 timeout_at;
	u32 flags;

	if (!name || nla_len(name) > BFTM_NAME_LEN_MAX)
		return -EBADMSG;
	p->any = true;
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
	ask->way = get_u32(attr[BFTMUTEX_A_HANDLE_WAY]);
	ask->lease_ns = get_u64(attr[BFTMUTEX_A_HANDLE_LEASE_NS]);
	timeout_at = get_u64(attr[BFTMUTEX_A_HANDLE_TIMEOUT_AT_NS]);
	ask->timeout_at_ns = timeout_at ? bftm_clock_from_boottime(timeout_at) : 0;
	ask->attempt = get_u64(attr[BFTMUTEX_A_HANDLE_ATTEMPT]);
	ask->end_ns = get_u64(attr[BFTMUTEX_A_HANDLE_END_NS]);
	ask->sends = get_u32(attr[BFTMUTEX_A_HANDLE_SENDS]);
	ask->configuration = get_u64(attr[BFTMUTEX_A_HANDLE_CONFIGURATION]);
	return p->kind == BFTMUTEX_REQUEST_KIND_SUBMIT ? read_submit(attr, p) : 0;
}

static void handle(const struct pulled *p)
{
	switch (p->kind) {
	case BFTMUTEX_REQUEST_KIND_ACQUIRE:
		bftm_acquire_begin(&p->ask);
		break;
	case BFTMUTEX_REQUEST_KIND_CANCEL:
		bftm_acquire_cancel(p->ask.id);
		break;
	case BFTMUTEX_REQUEST_KIND_RELEASE:
		bftm_acquire_release(&p->ask);
		break;
	case BFTMUTEX_REQUEST_KIND_RENEW:
		bftm_acquire_renew(&p->ask);
		break;
	case BFTMUTEX_REQUEST_KIND_HELD:
		bftm_acquire_held(&p->ask);
		break;
	case BFTMUTEX_REQUEST_KIND_SUBMIT:
		bftm_order_submit(&p->submit);
		break;
	case BFTMUTEX_REQUEST_KIND_WITHDRAW:
		bftm_order_withdraw(p->ask.id);
		break;
	default:
		bftm_log(LOG_ERR, "the kernel asks for something unknown: %u",
			 p->kind);
	}
}

static void pull(void)
{
	u64 end_ns = bftm_now() + PULL_NS;
	int err;

	for (;;) {
		struct pulled p = {};

		nl.notified = false;
		err = bftm_nl_call(&nl, bftm_nl_msg(&nl, BFTMUTEX_CMD_HELPER_PULL, 0),
				   read_request, BFTMUTEX_A_HANDLE_MAX, &p);
		if (!err && p.any)
			handle(&p);
		if (err == -ENODATA)
			pulled_ns = bftm_now();
		/* A hint that came while there was nothing counts as well. */
		if (err && (err != -ENODATA || !nl.notified))
			break;
		/* Not 0, which would come before whatever else is due. */
		if (bftm_now() >= end_ns) {
			bftm_timer_arm(&look, bftm_now());
			return;
		}
	}
	if (err == -ENODATA)
		return;
	/* The module was unloaded, perhaps to be loaded anew. */
	bftm_log(LOG_WARNING, "no requests from the kernel: %s", strerror(-err));
	bftm_upcall_close();
}

static void ready(struct bftm_watch *w)
{
	(void)w;
	/* What arrives unasked are hints, which carry nothing. */
	nl_recvmsgs_default(nl.sock);
	pull();
}

static void look_again(struct bftm_timer *timer)
{
	bftm_timer_arm(timer, bftm_now() + LOOK_NS);
	if (broken)
		bftm_upcall_close();
	if (registered)
		pull();
	else if (!bftm_upcall_open())
		bftm_log(LOG_INFO, "serving the kernel again");
}

static int call_register(void)
{
	return bftm_nl_call(&nl, bftm_nl_msg(&nl, BFTMUTEX_CMD_HELPER_REGISTER, 0),
			    NULL, 0, NULL);
}

/* The kernel says once that the machine is a copy of what it was; until then it draws nothing. */
static int register_here(void)
{
	int err = restored ? -ESTALE : call_register();

	if (err != -ESTALE)
		return err;
	restored = true;
	err = bftm_clusters_restored();
	if (err)
		return err;
	restored = false;
	return call_register();
}

int bftm_upcall_open(void)
{
	int err = bftm_nl_open(&nl);

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
	watch.ready = ready;
	bftm_watch_add(&watch);
	bftm_lend_all();
	pull();
	return 0;
}

void bftm_upcall_look(void)
{
	struct pollfd kernel = { .fd = watch.fd, .events = POLLIN };

	if (!registered)
		return;
	if (poll(&kernel, 1, 0) > 0)
		ready(&watch);
	else if (nl.notified || broken)
		pull();		/* a report came upon it */
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
	bftm_lend_forget();
	pulled_ns = 0;
	/* Whatever was under way belongs to the next helper now. */
	bftm_acquire_forget();
	/* But operations, which are driven to their end, in iterations that begin later. */
	bftm_order_orphan();
	bftm_orders_interrupt();
}

/*
 * Send a report. One that failed for want of memory may have arrived or not: a
 * new start, from the loop, makes the kernel ask again for the rest. ESTALE and
 * EALREADY are the kernel's answers to a report that it understood.
 */
static int report(struct nl_msg *msg)
{
	int err = bftm_nl_call(&nl, msg, NULL, 0, NULL);

	broken = broken || (err && err != -ESTALE && err != -EALREADY);
	if (nl.notified || broken)
		bftm_timer_arm(&look, bftm_now());	/* a hint came in between */
	return err;
}

/* Without memory for it, too, nobody else would tell the kernel. */
static struct nl_msg *new_report(u8 cmd, size_t room)
{
	struct nl_msg *msg = bftm_upcall_msg(cmd, room);

	if (!msg && registered)
		bftm_upcall_again();
	return msg;
}

/* The deadline is that much earlier that it comes first if no rate was changed. */
static void put_end(struct nl_msg *msg, u64 end_ns)
{
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_DEADLINE_NS,
		    bftm_clock_to_boottime(end_ns) - BFTM_TICK_NS);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_END_NS, end_ns);
}

int bftm_upcall_won(const struct bftm_won *won)
{
	struct nl_msg *msg = new_report(BFTMUTEX_CMD_HELPER_DONE, REPORT_ROOM);

	if (!msg)
		return registered ? -ECANCELED : -ENOTCONN;
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, won->id);
	nla_put_string(msg, BFTMUTEX_A_HANDLE_CLUSTER, won->cluster);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_LEASE_NS, won->lease_ns);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_ATTEMPT, won->attempt);
	put_end(msg, won->end_ns);
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_ATTEMPTS, won->attempts);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_TOKEN, won->token);
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_SENDS, won->sends);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_CONFIGURATION, won->configuration);
	return report(msg);
}

int bftm_upcall_renewed(u64 id, u64 end_ns, u32 sends)
{
	struct nl_msg *msg = new_report(BFTMUTEX_CMD_HELPER_RENEWED, REPORT_ROOM);

	if (!msg)
		return registered ? -ENOMEM : -ENOTCONN;
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, id);
	put_end(msg, end_ns);
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_SENDS, sends);
	return report(msg);
}

static int failed(u64 id, u32 error, u32 attempts, const char *why)
{
	struct nl_msg *msg = new_report(BFTMUTEX_CMD_HELPER_DONE, REPORT_ROOM);

	if (!msg)
		return registered ? -ENOMEM : -ENOTCONN;
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, id);
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_ERROR, error);
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_ATTEMPTS, attempts);
	if (*why)
		nla_put_string(msg, BFTMUTEX_A_HANDLE_WHY, why);
	return report(msg);
}

void bftm_upcall_failed(u64 id, int error, u32 attempts, const char *why)
{
	bool was_broken = broken;
	int err = failed(id, (u32)error, attempts, why);

	/* A module that was loaded before this program was installed takes no words. */
	if (err == -EINVAL && *why) {
		broken = was_broken;
		err = failed(id, (u32)error, attempts, "");
	}
	if (err && err != -ESTALE)
		bftm_log(LOG_WARNING, "request %llu: cannot report: %s",
			 (unsigned long long)id, strerror(-err));
}

static void report_submit(u64 id, struct nl_msg *msg)
{
	int err = msg ? report(msg) : registered ? -ENOMEM : -ENOTCONN;

	if (err && err != -ESTALE)
		bftm_log(LOG_WARNING, "request %llu: cannot report: %s",
			 (unsigned long long)id, strerror(-err));
}

void bftm_upcall_submitted(const struct bftm_submitted *done)
{
	struct nl_msg *msg = new_report(BFTMUTEX_CMD_HELPER_SUBMITTED, REPORT_ROOM + done->len);

	if (msg) {
		nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, done->id);
		nla_put_u64(msg, BFTMUTEX_A_HANDLE_NUMBER, done->number);
		nla_put_u32(msg, BFTMUTEX_A_HANDLE_STATUS, done->status);
		if (done->len)
			nla_put(msg, BFTMUTEX_A_HANDLE_RESPONSE, (int)done->len, done->response);
	}
	report_submit(done->id, msg);
}

void bftm_upcall_submit_failed(u64 id, int error)
{
	struct nl_msg *msg = new_report(BFTMUTEX_CMD_HELPER_SUBMITTED, REPORT_ROOM);

	if (msg) {
		nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, id);
		nla_put_u32(msg, BFTMUTEX_A_HANDLE_ERROR, (u32)error);
	}
	report_submit(id, msg);
}

struct nl_msg *bftm_upcall_msg(u8 cmd, size_t room)
{
	return registered ? bftm_nl_msg_room(&nl, cmd, 0, room) : NULL;
}

int bftm_upcall_call(struct nl_msg *msg)
{
	int err = bftm_nl_call(&nl, msg, NULL, 0, NULL);

	if (nl.notified)
		bftm_timer_arm(&look, bftm_now());
	return err;
}

void bftm_upcall_again(void)
{
	broken = registered;
	bftm_timer_arm(&look, bftm_now());
}

void bftm_upcall_suspect(const char *cluster, u16 server, const char *evidence, u64 count)
{
	struct nl_msg *msg = bftm_upcall_msg(BFTMUTEX_CMD_HELPER_SUSPECT, REPORT_ROOM);
	char text[BFTMUTEX_EVIDENCE_MAX + 1];

	if (!msg)
		return;
	snprintf(text, sizeof(text), "%s", evidence);
	nla_put_string(msg, BFTMUTEX_A_SUSPECT_CLUSTER, cluster);
	nla_put_u16(msg, BFTMUTEX_A_SUSPECT_SERVER_ID, server);
	nla_put_string(msg, BFTMUTEX_A_SUSPECT_EVIDENCE, text);
	nla_put_u64(msg, BFTMUTEX_A_SUSPECT_COUNT, count);
	bftm_upcall_call(msg);	/* for those who listen */
}
