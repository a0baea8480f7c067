// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/in.h>
#include <netlink/netlink.h>
#include <netlink/msg.h>
#include <netlink/attr.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "links.h"

static struct nl_sock *rt;

int races_link_to(const char *name, int fd)
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

static int link_config(int fd, const char *name, unsigned long request, const char *address)
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

int races_set_up(const char *name, const char *address, const char *mask)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	err = link_config(fd, name, SIOCSIFADDR, address) ?:
	      link_config(fd, name, SIOCSIFNETMASK, mask) ?:
	      link_config(fd, name, SIOCSIFFLAGS, NULL);
	close(fd);
	return err;
}

int races_send_by(char *name)
{
	struct rtentry route = { .rt_flags = RTF_UP | RTF_HOST, .rt_dev = name };
	struct sockaddr_in in = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	memcpy(&route.rt_genmask, &in, sizeof(in));
	inet_pton(AF_INET, RACES_AT_SERVER, &in.sin_addr);
	memcpy(&route.rt_dst, &in, sizeof(in));
	err = link_config(fd, name, SIOCSIFFLAGS, NULL) ?: ioctl(fd, SIOCADDRT, &route);
	close(fd);
	return err;
}

int races_link_del(const char *name)
{
	struct ifinfomsg info = { .ifi_family = AF_UNSPEC };
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_DELLINK, 0);

	nlmsg_append(msg, &info, sizeof(info), NLMSG_ALIGNTO);
	nla_put_string(msg, IFLA_IFNAME, name);
	return nl_send_sync(rt, msg);
}

int races_set_down(const char *name)
{
	struct ifreq ifr = {};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	err = ioctl(fd, SIOCSIFFLAGS, &ifr);
	close(fd);
	return err;
}

int races_links_begin(void)
{
	int outer = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

	rt = nl_socket_alloc();
	/* connect() wants a route from the start; those of the links are narrower. */
	if (outer < 0 || nl_connect(rt, NETLINK_ROUTE) < 0 ||
	    races_set_up("lo", RACES_AT_TRAFFIC, "255.0.0.0") < 0)
		return -1;
	return outer;
}

void races_links_end(int outer)
{
	nl_socket_free(rt);
	close(outer);
}
