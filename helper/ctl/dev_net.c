// SPDX-License-Identifier: GPL-2.0
/* The network of a development cluster; dev.h has a drawing. */
#include <stdio.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "ctl/dev.h"

#define NET "bftm-net"

/* Adds a namespace that does not exist yet. */
static int add_netns(const struct dev *dev, const char *name)
{
	char path[64];
	int r;

	snprintf(path, sizeof(path), DEV_NETNS_DIR "/%s", name);
	if (access(path, F_OK) == 0)
		return ctl_fail(EX_UNAVAILABLE,
				"network namespace %s exists, and is not ours to change", name);
	r = dev_made(dev, DEV_NETNS, name);
	return r ? r : ctl_run("ip", "netns", "add", name, NULL);
}

static int add_bridge(const struct dev *dev)
{
	int r;

	r = add_netns(dev, NET);
	if (r == 0)
		r = ctl_run("ip", "-n", NET, "link", "add", "br0", "type", "bridge", NULL);
	if (r == 0)
		r = ctl_run("ip", "-n", NET, "link", "set", "br0", "up", NULL);
	return r;
}

/* netem delays outgoing packets, so a round trip takes twice the delay. */
static int add_delay(const struct dev *dev, const char *netns)
{
	char delay[32];

	if (!dev->delay_ns)
		return 0;
	snprintf(delay, sizeof(delay), "%lluus",
		 (unsigned long long)(dev->delay_ns / BFTM_NS_PER_US));
	return ctl_run("tc", "-n", netns, "qdisc", "add", "dev", "eth0", "root", "netem", "delay",
		       delay, NULL);
}

static int add_host(const struct dev *dev, char kind, u32 number)
{
	u32 last = kind == 's' ? number : 100 + number;
	char netns[16], port[16], address[32];
	int r;

	snprintf(netns, sizeof(netns), "bftm-%c%u", kind, number);
	snprintf(port, sizeof(port), "%c%u", kind, number);
	snprintf(address, sizeof(address), "10.73.0.%u/24", last);

	r = add_netns(dev, netns);
	if (r == 0)
		r = ctl_run("ip", "-n", netns, "link", "add", "eth0", "type", "veth", "peer",
			    "name", port, "netns", NET, NULL);
	if (r == 0)
		r = ctl_run("ip", "-n", NET, "link", "set", port, "master", "br0", "up", NULL);
	if (r == 0)
		r = ctl_run("ip", "-n", netns, "address", "add", address, "dev", "eth0", NULL);
	if (r == 0)
		r = ctl_run("ip", "-n", netns, "link", "set", "lo", "up", NULL);
	if (r == 0)
		r = ctl_run("ip", "-n", netns, "link", "set", "eth0", "up", NULL);
	return r ? r : add_delay(dev, netns);
}

int dev_network(const struct dev *dev)
{
	u32 total = dev->servers + dev->clients, i;
	int r;

	r = add_bridge(dev);
	for (i = 0; i < total && r == 0; i++) {
		ctl_progress("made %u of %u hosts", i, total);
		r = i < dev->servers ? add_host(dev, 's', i + 1) :
				       add_host(dev, 'c', i - dev->servers + 1);
	}
	return r;
}
