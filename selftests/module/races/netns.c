// SPDX-License-Identifier: GPL-2.0
/*
 * A network namespace is deleted with a server, held locks, waiters and timers that are
 * due within a millisecond, with requests that no helper fetched, and, now and then, with
 * what a helper has lent. The next one is made while the last ones end.
 *
 *	traffic 10.99.0.2 ---- veth ---- 10.99.0.1 server
 */
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/route.h>
#include <netinet/in.h>

#include "lend.h"
#include "server.h"

#define TRAFFIC	"10.99.0.2"
#define SERVER	"10.99.0.1"
#define ENDING	8	/* namespaces at once, at most */

static int outer;
static struct nl_sock *rt;
static unsigned int links[ENDING];

/* A link from @name here to eth0 in the namespace of @fd. */
static int link_to(const char *name, int fd)
{
	struct ifinfomsg info = { .ifi_family = AF_UNSPEC };
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	struct nlattr *link, *data, *peer;

	nlmsg_append(msg, &info, sizeof(info), NLMSG_ALIGNTO);
	nla_put_string(msg, IFLA_IFNAME, name);
	link = nla_nest_start(msg, IFLA_LINKINFO);
	nla_put_string(msg, IFLA_INFO_KIND, "veth");
	data = nla_nest_start(msg, IFLA_INFO_DATA);
	peer = nla_nest_start(msg, VETH_INFO_PEER);
	nlmsg_append(msg, &info, sizeof(info), NLMSG_ALIGNTO);
	nla_put_string(msg, IFLA_IFNAME, "eth0");
	nla_put_u32(msg, IFLA_NET_NS_FD, (uint32_t)fd);
	nla_nest_end(msg, peer);
	nla_nest_end(msg, data);
	nla_nest_end(msg, link);
	return nl_send_sync(rt, msg);
}

static int config(int fd, const char *name, unsigned long request, const char *address)
{
	struct ifreq ifr = { .ifr_flags = IFF_UP };
	struct sockaddr_in in = { .sin_family = AF_INET };

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	if (address) {
		inet_pton(AF_INET, address, &in.sin_addr);
		memcpy(&ifr.ifr_addr, &in, sizeof(in));
	}
	return ioctl(fd, request, &ifr);
}

/* Its address and the flag, in the namespace where we are. */
static int set_up(const char *name, const char *address, const char *mask)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	err = config(fd, name, SIOCSIFADDR, address) ?:
	      config(fd, name, SIOCSIFNETMASK, mask) ?:
	      config(fd, name, SIOCSIFFLAGS, NULL);
	close(fd);
	return err;
}

/* From now on traffic goes by this link; the one before is as good but for that. */
static int send_by(char *name)
{
	struct rtentry route = { .rt_flags = RTF_UP | RTF_HOST, .rt_dev = name };
	struct sockaddr_in in = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	memcpy(&route.rt_genmask, &in, sizeof(in));
	inet_pton(AF_INET, SERVER, &in.sin_addr);
	memcpy(&route.rt_dst, &in, sizeof(in));
	err = config(fd, name, SIOCSIFFLAGS, NULL) ?: ioctl(fd, SIOCADDRT, &route);
	close(fd);
	return err;
}

static bool begin(struct races *r)
{
	r->address = SERVER;
	outer = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	rt = nl_socket_alloc();
	/* connect() wants a route from the start; those of the links are narrower. */
	if (outer < 0 || nl_connect(rt, NETLINK_ROUTE) < 0 ||
	    set_up("lo", TRAFFIC, "255.0.0.0") < 0)
		return races_failed("no place for traffic");
	return true;
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
	nl_socket_free(rt);
	close(outer);
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
	if (good && link_to(name, fd) < 0)
		good = races_failed("no veth");
	if (good && set_up("eth0", SERVER, "255.255.255.252") < 0)
		good = races_failed("eth0: %s", strerror(errno));
	if (setns(outer, CLONE_NEWNET) < 0)
		abort();
	if (good && send_by(name) < 0)
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
