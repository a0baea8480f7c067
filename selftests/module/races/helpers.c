// SPDX-License-Identifier: GPL-2.0
/*
 * Helpers come, lend, take back, go and are killed while programs acquire, wait and
 * submit, some by the fast path and some by them.
 */
#include <sys/mman.h>

#include "lend.h"
#include "server.h"

static struct bftm_nl nl;
static struct lender lender;

/* Bound, so that it can be lent. */
static int udp_socket(void)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6 };
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof(any)) < 0)
		abort();
	return fd;
}

static bool registered(void *arg)
{
	/* The one before may be on its way out. */
	return command(arg, BFTMUTEX_CMD_HELPER_REGISTER, 0) != -EBUSY;
}

static bool prepare(struct lender *ret, struct races *r)
{
	*ret = (struct lender){ .r = r };
	if (bftm_nl_open(&ret->nl))
		return races_failed("no family");
	ret->counters = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			     -1, 0);
	if (ret->counters == MAP_FAILED)
		abort();
	/* Larger than any before, as the protocol wants it. */
	ret->counters->seq = now_ns();
	ret->counters->attempt = ret->counters->seq & ~1ull;
	ret->sock[0] = udp_socket();
	ret->sock[1] = udp_socket();
	return true;
}

bool lender_open(struct lender *ret, struct races *r)
{
	return prepare(ret, r) &&
	       (soon(registered, &ret->nl) || races_failed("cannot be the helper"));
}

void lender_close(struct lender *l)
{
	if (!l->nl.sock)
		return;
	bftm_nl_close(&l->nl);
	close(l->sock[0]);
	close(l->sock[1]);
	munmap(l->counters, 4096);
}

static void put_peer(struct lender *l, struct nl_msg *msg, uint64_t epoch)
{
	struct nlattr *nest = nla_nest_start(msg, BFTMUTEX_A_SESSION_PEER);
	struct in6_addr address;
	struct bftm_master master;
	struct bftm_pair pair;
	char path[128];

	snprintf(path, sizeof(path), "%s/server-%d.key", l->r->dir, RACES_SERVER);
	if (bftm_master_load(path, &master) < 0 || bftm_derive(&master, RACES_HELPER, &pair) < 0)
		exit(1);
	if (l->address)
		snprintf(path, sizeof(path), "::ffff:%s", l->address);
	else
		strcpy(path, races_random(2) ? "::1" : "::ffff:127.0.0.1");
	inet_pton(AF_INET6, path, &address);
	nla_put_u16(msg, BFTMUTEX_A_PEER_SERVER_ID, RACES_SERVER);
	nla_put_u64(msg, BFTMUTEX_A_PEER_EPOCH, epoch);
	nla_put(msg, BFTMUTEX_A_PEER_ADDRESS, sizeof(address), &address);
	nla_put_u16(msg, BFTMUTEX_A_PEER_PORT, BFTM_PORT_DEFAULT);
	nla_put(msg, BFTMUTEX_A_PEER_REQUEST_KEY, sizeof(pair.request), pair.request);
	nla_put(msg, BFTMUTEX_A_PEER_REPLY_KEY, sizeof(pair.reply), pair.reply);
	nla_nest_end(msg, nest);
}

bool lender_lend(struct lender *l, unsigned int peers)
{
	struct nl_msg *msg = bftm_nl_msg_room(&l->nl, BFTMUTEX_CMD_HELPER_LEND, 0, 1024);
	struct bftm_nl *server = l->server ? l->server : &l->nl;
	uint64_t epoch = peers ? server_value(server, BFTMUTEX_A_SERVER_EPOCH) : 0;
	int err;

	nla_put_string(msg, BFTMUTEX_A_SESSION_CLUSTER, "main");
	nla_put_flag(msg, BFTMUTEX_A_SESSION_STANDARD);
	nla_put_u32(msg, BFTMUTEX_A_SESSION_CLUSTER_ID, RACES_CLUSTER);
	nla_put_u32(msg, BFTMUTEX_A_SESSION_CLIENT_ID, RACES_HELPER);
	nla_put_u32(msg, BFTMUTEX_A_SESSION_LIARS, 0);
	nla_put_u32(msg, BFTMUTEX_A_SESSION_RHO_PPM, 2000);
	nla_put_u64(msg, BFTMUTEX_A_SESSION_DELTA_NS, MS);
	nla_put_u64(msg, BFTMUTEX_A_SESSION_LEASE_NS, 2 * MS);
	nla_put_u64(msg, BFTMUTEX_A_SESSION_LEASE_MAX_NS, SEC);
	nla_put_u64(msg, BFTMUTEX_A_SESSION_COUNTERS, (uintptr_t)l->counters);
	nla_put_u32(msg, BFTMUTEX_A_SESSION_SOCKET, (uint32_t)l->sock[races_random(2)]);
	if (l->device)
		nla_put_string(msg, BFTMUTEX_A_SESSION_INGRESS, l->device);
	if (peers)
		put_peer(l, msg, epoch);
	err = send_msg(&l->nl, msg);
	return !err || races_failed("helper-lend: %s (%s)", strerror(-err), l->nl.error);
}

static int submitted(struct lender *l, uint64_t id)
{
	struct nl_msg *msg = bftm_nl_msg(&l->nl, BFTMUTEX_CMD_HELPER_SUBMITTED, 0);

	nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, id);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_NUMBER, 1);
	nla_put(msg, BFTMUTEX_A_HANDLE_RESPONSE, 4, "done");
	return send_msg(&l->nl, msg);
}

/* Won, lost, or left to whoever comes next. */
static int decide(struct lender *l, const struct seen *s)
{
	if (!races_random(4))
		return 0;
	switch (s->kind) {
	case BFTMUTEX_REQUEST_KIND_ACQUIRE:
		return races_random(2) ?
		       done(&l->nl, s->id, EWOULDBLOCK, NONE, NONE) :
		       done(&l->nl, s->id, 0, now_ns(), now_ns() + MS * races_random(4));
	case BFTMUTEX_REQUEST_KIND_RENEW:
		return renewed(&l->nl, s->id, now_ns() + MS * races_random(4), 2);
	case BFTMUTEX_REQUEST_KIND_CONVERT:
		/* Also where nobody waits for it, or for another by now. */
		return races_random(2) ?
		       converted(&l->nl, s->id, s->conversion + !s->conversion, EDEADLK, 0, 0) :
		       converted(&l->nl, s->id, s->conversion + !s->conversion, 0,
				 now_ns() + MS * races_random(4), 5);
	case BFTMUTEX_REQUEST_KIND_SUBMIT:
		return submitted(l, s->id);
	}
	return 0;
}

bool lender_serve(struct lender *l, unsigned int count)
{
	struct seen s;
	int err;

	while (count--) {
		err = pull(&l->nl, &s);
		if (err == -ENODATA)
			return true;
		err = err ?: decide(l, &s);
		if (err && err != -ESTALE && err != -EALREADY && err != -EINVAL &&
		    err != -ECANCELED)
			return races_failed("pull or report: %s (%s)", strerror(-err),
					    l->nl.error);
	}
	return true;
}

static bool begin(struct races *r)
{
	if (bftm_nl_open(&nl))
		return races_failed("no family");
	return races_start_server(r, &nl, 1024, LONGER);
}

static bool end(struct races *r)
{
	bool good = races_stop(&nl);

	(void)r;
	lender_close(&lender);
	bftm_nl_close(&nl);
	return good;
}

/* Until it is killed, or has done enough. */
static void serve_as(struct lender *l, unsigned int turns)
{
	unsigned int i;

	if (!lender_lend(l, 1))
		_exit(1);
	races_add(&l->r->shared->ready, 1);
	for (i = 0; i < turns; i++) {
		if (!lender_serve(l, 4) || (!races_random(8) && !lender_lend(l, races_random(2))))
			_exit(1);
		usleep(races_random(100));
	}
	_exit(0);
}

static void serve(struct races *r, unsigned int turns)
{
	struct lender l;

	if (!lender_open(&l, r))
		_exit(1);
	serve_as(&l, turns);
}

/* It does not wait for the one before to be gone. */
static void serve_next(struct races *r, unsigned int turns)
{
	struct lender l;

	if (!prepare(&l, r))
		_exit(1);
	races_add(&r->shared->waiting, 1);
	while (!registered(&l.nl))
		;
	serve_as(&l, turns);
}

/* Most are killed in the middle; the others go by themselves. */
static bool helper(struct races *r, uint64_t i)
{
	uint64_t ready = races_get(&r->shared->ready);
	bool kills = races_random(4);
	int pid, status;

	pid = races_start(r, serve, kills ? 1000000 : races_random(8));
	if (!races_until(&r->shared->ready, ready, LONG_MS))
		return races_failed("helper %" PRIu64 " does not serve", i);
	if (kills) {
		races_until(&r->shared->pending, races_get(&r->shared->pending), WAIT_MS / 10);
		races_pause(1000);
		kill(pid, SIGKILL);
		races_add(&r->shared->killed, 1);
	}
	if (waitpid(pid, &status, 0) != pid || (kills ? !WIFSIGNALED(status) : status))
		return races_failed("helper %" PRIu64 ": status %#x", i, status);
	return true;
}

static int serving;	/* pid */

static bool kill_serving(struct races *r)
{
	int status;

	if (!serving)
		return true;
	kill(serving, SIGKILL);
	races_add(&r->shared->killed, 1);
	if (waitpid(serving, &status, 0) != serving || !WIFSIGNALED(status))
		return races_failed("helper: status %#x", status);
	serving = 0;
	return true;
}

/* One is killed while the next is at the door. */
static bool successor(struct races *r, uint64_t i)
{
	uint64_t ready = races_get(&r->shared->ready), waiting = races_get(&r->shared->waiting);
	int next = races_start(r, serve_next, 1000000);

	if (!races_until(&r->shared->waiting, waiting, LONG_MS))
		return races_failed("helper %" PRIu64 " does not come", i);
	races_until(&r->shared->acquired, races_get(&r->shared->acquired), WAIT_MS / 10);
	races_pause(1000);
	if (!kill_serving(r))
		return false;
	serving = next;
	return races_until(&r->shared->ready, ready, LONG_MS) ||
	       races_failed("helper %" PRIu64 " does not serve", i);
}

static bool end_successor(struct races *r)
{
	bool good = kill_serving(r);

	return end(r) && good;
}

/* Programs went by the fast path. */
static bool end_lend(struct races *r)
{
	uint64_t won = lender.counters->won, lost = lender.counters->lost;

	printf("lend won=%" PRIu64 " lost=%" PRIu64 "\n", won, lost);
	if (!end(r))
		return false;
	return won || r->iterations < RACES_ENOUGH ||
	       races_failed("the kernel took no lock by itself");
}

static bool begin_lend(struct races *r)
{
	return begin(r) && lender_open(&lender, r);
}

/* Lent, by this socket or that one, lent anew, taken back; the server may be another. */
static bool lend(struct races *r, uint64_t i)
{
	if (i % 64 == 0 && (!races_stop(&nl) || !races_start_server(r, &nl, 1024, LONGER)))
		return false;
	if (!lender_lend(&lender, races_random(4) != 0))
		return false;
	races_until(&r->shared->acquired, races_get(&r->shared->acquired), WAIT_MS / 4);
	races_pause(500);
	return lender_serve(&lender, 8) && (races_random(2) || lender_lend(&lender, 0));
}

const struct scenario races_helpers[] = {
	{ "helper", "helper, killed or gone by itself, with all it lent", begin, helper, end,
	  .device = true },
	{ "successor", "helper, killed, while the next one is at the door", begin, successor,
	  end_successor, .device = true },
	{ "lend", "what is lent for the fast path, lent anew or taken back", begin_lend, lend, end_lend,
	  .device = true },
	{}
};
