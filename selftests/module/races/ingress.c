// SPDX-License-Identifier: GPL-2.0
/*
 * A server takes requests at its device before IP. While they arrive, the server stops and starts, its
 * device goes, is down, or has no address for a while. With a capture, which clones what is sent, the
 * requests go through IP instead.
 */
#include "lend.h"
#include "links.h"
#include "server.h"

static struct bftm_nl nl;
static int outer, inner, spare;
static char link_name[IFNAMSIZ];
static uint64_t taken;
static bool lends;

static void enter(int fd)
{
	if (setns(fd, CLONE_NEWNET) < 0)
		abort();
}

static bool start_at_eth0(struct races *r, struct bftm_nl *to)
{
	struct nl_msg *msg = races_start_msg(r, to, 64 + races_random(128), SHORT);
	int err;

	nla_put_string(msg, BFTMUTEX_A_SERVER_INGRESS, "eth0");
	err = send_msg(to, msg);
	return !err || races_failed("server-start: %s (%s)", strerror(-err), to->error);
}

/* A namespace, and a socket of the module's family in it. Return: its file, -1: said. */
static int place(struct bftm_nl *to)
{
	int fd = -1;

	if (fresh_netns())
		races_failed("unshare: %s", strerror(errno));
	else if (bftm_nl_open(to))
		races_failed("no family");
	else
		fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	enter(outer);
	return fd;
}

static bool connect_link(uint64_t i)
{
	bool good;

	snprintf(link_name, sizeof(link_name), "v%u", (unsigned int)i);
	if (races_link_to(link_name, inner) < 0)
		return races_failed("no veth");
	enter(inner);
	good = races_set_up("eth0", RACES_AT_SERVER, "255.255.255.252") == 0;
	enter(outer);
	/* The device on this side has an address, too, if anything is to be taken there. */
	if (lends)
		good = good && races_set_up(link_name, RACES_AT_TRAFFIC, "255.255.255.252") == 0;
	return (good && races_send_by(link_name) == 0) || races_failed("%s: %s", link_name, strerror(errno));
}

/*
 * Another server's hook stays to the end: with the last one that goes, the kernel would patch code of
 * all processors, see hold_tunnel in vm.sh.
 */
static bool begin(struct races *r)
{
	struct bftm_nl other;

	r->address = RACES_AT_SERVER;
	taken = 0;
	outer = races_links_begin();
	if (outer < 0)
		return races_failed("no place for traffic");
	inner = place(&nl);
	spare = place(&other);
	if (inner < 0 || spare < 0 || races_link_to("spare", spare) < 0)
		return false;
	return start_at_eth0(r, &other) && connect_link(0) && start_at_eth0(r, &nl);
}

static int on_stats(struct nlattr **attr, void *arg)
{
	struct nlattr *a[BFTMUTEX_A_STATS_MAX + 1];

	if (nla_parse_nested(a, BFTMUTEX_A_STATS_MAX, attr[BFTMUTEX_A_SERVER_STATS], NULL) < 0)
		return -EBADMSG;
	taken += nla_get_u64(a[BFTMUTEX_A_STATS_INGRESS]);
	*(bool *)arg = attr[BFTMUTEX_A_SERVER_INGRESS];
	return 0;
}

/* @hooked: whether its device is still there */
static bool stop(bool hooked)
{
	bool shown = !hooked;
	int err = bftm_nl_call(&nl, bftm_nl_msg(&nl, BFTMUTEX_CMD_SERVER_GET, 0), on_stats,
			       BFTMUTEX_A_SERVER_MAX, &shown);

	if (err || shown != hooked)
		return races_failed("server-get: %s, a device: %d", strerror(-err), shown);
	return races_stop(&nl);
}

static bool end(struct races *r)
{
	bool good = stop(true);

	bftm_nl_close(&nl);
	close(inner);
	close(spare);
	races_links_end(outer);
	if (good && !r->capture && !taken)
		good = races_failed("no request was taken before IP");
	return good;
}

static bool device_goes(struct races *r, uint64_t i)
{
	if (races_link_del(link_name) < 0)
		return races_failed("the link stays");
	races_pause(200);
	/* The server stops first, or takes requests at the next device of that name. */
	if (races_random(2))
		return stop(false) && connect_link(i + 1) && start_at_eth0(r, &nl);
	return connect_link(i + 1) && stop(true) && start_at_eth0(r, &nl);
}

/* Down for a moment, or without its address. */
static bool device_pauses(void)
{
	bool down = races_random(2), good;

	enter(inner);
	good = down ? races_set_down("eth0") == 0 : races_set_up("eth0", "0.0.0.0", "255.255.255.252") == 0 ||
						   errno == EADDRNOTAVAIL;
	races_pause(200);
	good = races_set_up("eth0", RACES_AT_SERVER, "255.255.255.252") == 0 && good;
	enter(outer);
	return good || races_failed("eth0: %s", strerror(errno));
}

static bool once(struct races *r, uint64_t i)
{
	if (races_random(8))
		races_until(&r->shared->heard, races_get(&r->shared->heard), WAIT_MS);
	races_pause(1000);
	switch (races_random(8)) {
	case 0:
		return device_goes(r, i);
	case 1:
	case 2:
		return device_pauses();
	default:
		return stop(true) && start_at_eth0(r, &nl);
	}
}

/* A helper on this side of the link lends it to the kernel, which takes answers there. */
static struct lender lender;

static int on_local(struct nlattr **attr, void *arg)
{
	*(uint64_t *)arg = nla_get_u64(attr[BFTMUTEX_A_LOCAL_INGRESS]);
	return 0;
}

static bool begin_answers(struct races *r)
{
	lends = true;
	if (!begin(r) || !lender_open(&lender, r))
		return false;
	lender.server = &nl;
	lender.address = RACES_AT_SERVER;
	return true;
}

static bool end_answers(struct races *r)
{
	uint64_t count = 0;
	int err = bftm_nl_call(&lender.nl, bftm_nl_msg(&lender.nl, BFTMUTEX_CMD_LOCAL_GET, 0), on_local,
			       BFTMUTEX_A_LOCAL_MAX, &count);
	bool good;

	printf("answers before-ip=%" PRIu64 "\n", count);
	lender_close(&lender);
	lends = false;
	good = end(r);
	if (err || (!r->capture && !count && r->iterations >= RACES_ENOUGH))
		good = races_failed("no answer was taken before IP: %s", strerror(-err));
	return good;
}

static bool answers(struct races *r, uint64_t i)
{
	lender.device = races_random(4) ? link_name : NULL;
	if (!lender_lend(&lender, races_random(4) != 0))
		return false;
	races_until(&r->shared->acquired, races_get(&r->shared->acquired), WAIT_MS / 4);
	races_pause(500);
	if (!lender_serve(&lender, 8))
		return false;
	switch (races_random(8)) {
	case 0:
		return device_goes(r, i);
	case 1:
		return device_pauses();
	case 2:
		return lender_lend(&lender, 0);
	default:
		return true;
	}
}

const struct scenario races_ingress[] = {
	{ "ingress", "server that takes requests before IP, its device and address", begin, once, end,
	  .device = false },
	{ "answers", "client that takes answers before IP, its device and what is lent", begin_answers,
	  answers, end_answers, .device = true },
	{}
};
