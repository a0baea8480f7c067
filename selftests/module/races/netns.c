// SPDX-License-Identifier: GPL-2.0
/*
 * A network namespace is deleted with a server, held locks, waiters and timers that are
 * due within a millisecond, with requests that no helper fetched, and, now and then, with
 * what a helper has lent. The next one is made while the last ones end.
 *
 *	traffic 10.99.0.2 ---- veth ---- 10.99.0.1 server
 */
#include "lend.h"
#include "links.h"
#include "server.h"

#define ENDING	8	/* namespaces at once, at most */

static int outer;
static unsigned int links[ENDING];

static bool begin(struct races *r)
{
	r->address = RACES_AT_SERVER;
	outer = races_links_begin();
	return outer >= 0 || races_failed("no place for traffic");
}

/*
 * With its namespace goes the link, some time before the server. Not asked by its name:
 * for one that is not there the kernel has modprobe look, which takes longer than all else.
 */
static bool is_gone(void *arg)
{
	char name[IFNAMSIZ];

	return !if_indextoname(*(unsigned int *)arg, name);
}

static bool wait_for(uint64_t i)
{
	return soon(is_gone, &links[i % ENDING]) || races_failed("link %" PRIu64 " stays", i);
}

static bool end(struct races *r)
{
	bool good = true;
	uint64_t i;

	for (i = r->iterations; good && i && r->iterations - i < ENDING; i--)
		good = wait_for(i - 1);
	races_links_end(outer);
	return good;
}

/* Requests that nobody fetches any more, a lease, a session: all end with it. */
static bool leave_requests(struct races *r)
{
	int fd[3], i, err;
	struct lender l;

	if (!lender_open(&l, r) || (races_random(2) && !lender_lend(&l, 1)))
		return false;
	for (i = 0; i < 3; i++) {
		struct bftm_acquire arg = want("left", MS, 0, i ? 0 : BFTM_RENEW);

		fd[i] = open_here(O_NONBLOCK);
		err = call(fd[i], BFTM_IOC_ACQUIRE, &arg);
		if (err != -EINPROGRESS)
			return races_failed("acquire in a namespace: %s", strerror(-err));
	}
	if (!lender_serve(&l, 1))
		return false;
	/* Given, pending, maybe held: they go in either order. */
	if (races_random(2))
		lender_close(&l);
	for (i = 0; i < 3; i++)
		close(fd[i]);
	lender_close(&l);
	return true;
}

/* In the namespace, which is ours for the moment. */
static bool fill(struct races *r)
{
	struct bftm_nl nl;
	bool good;

	if (bftm_nl_open(&nl))
		return races_failed("no family");
	good = races_start_server(r, &nl, 64, SHORT) && (races_random(4) || leave_requests(r));
	bftm_nl_close(&nl);
	return good;
}

/* Return: a file that keeps the namespace, -1 when something is wrong. */
static int make(struct races *r, char *name)
{
	bool good;
	int fd;

	if (fresh_netns()) {
		races_failed("unshare: %s", strerror(errno));
		return -1;
	}
	fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	good = fill(r);
	/* Libnl's socket is of the outer one: the link is made there. */
	if (good && races_link_to(name, fd) < 0)
		good = races_failed("no veth");
	if (good && races_set_up("eth0", RACES_AT_SERVER, "255.255.255.252") < 0)
		good = races_failed("eth0: %s", strerror(errno));
	if (setns(outer, CLONE_NEWNET) < 0)
		abort();
	if (good && races_send_by(name) < 0)
		good = races_failed("%s: %s", name, strerror(errno));
	if (good)
		return fd;
	close(fd);
	return -1;
}

static bool once(struct races *r, uint64_t i)
{
	uint64_t granted;
	char name[IFNAMSIZ];
	int fd;

	if (i >= ENDING && !wait_for(i - ENDING))
		return false;
	snprintf(name, sizeof(name), "v%u", (unsigned int)i);
	granted = races_get(&r->shared->granted);
	fd = make(r, name);
	if (fd < 0)
		return false;
	links[i % ENDING] = if_nametoindex(name);
	if (races_random(8))
		races_until(&r->shared->granted, granted, WAIT_MS);
	races_pause(1000);
	close(fd);
	return true;
}

const struct scenario races_netns[] = {
	{ "netns", "network namespace with a server, waiters, timers, requests", begin, once, end,
	  .device = false },
	{}
};
