// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: a slot is read and filled by its own CPU with bottom halves off, and holds
 * a reference to its route. Who takes that route out, be it the CPU for another one or
 * drop_all(), exchanges the pointer for NULL, so one of them drops the reference. A
 * reader that has just read the pointer is inside an RCU read side, for the end of which
 * the route's destruction waits.
 *
 * A route refers to a device, and its destruction to the namespace. Each device that
 * goes away is announced, and then no route is kept: what a reader looked up before and
 * stores afterwards goes at the next announcement, for these are repeated while anybody
 * refers to the device. And the server, which is stopped before its namespace ends,
 * keeps no route any longer.
 */
#include <linux/hash.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/route.h>

#include "compat.h"
#include "route.h"
#include "server.h"

#define SLOTS (1 << BFTM_ROUTE_BITS)

static void drop_all(struct bftm_routes *r)
{
	int cpu, i;

	for_each_possible_cpu(cpu)
		for (i = 0; i < SLOTS; i++)
			dst_release(xchg(&per_cpu_ptr(r->slot, cpu)[i].dst, NULL));
}

static int device_event(struct notifier_block *nb, unsigned long event, void *info)
{
	if (event == NETDEV_UNREGISTER)
		drop_all(container_of(nb, struct bftm_routes, devices));
	return NOTIFY_DONE;
}

int bftm_routes_init(struct bftm_server *server)
{
	struct bftm_routes *r = &server->routes;
	int err;

	r->slot = __alloc_percpu(SLOTS * sizeof(*r->slot), __alignof__(*r->slot));
	if (!r->slot)
		return -ENOMEM;
	r->devices.notifier_call = device_event;
	err = register_netdevice_notifier_net(server->net, &r->devices);
	if (err) {
		free_percpu(r->slot);
		r->slot = NULL;
	}
	return err;
}

void bftm_routes_destroy(struct bftm_server *server)
{
	struct bftm_routes *r = &server->routes;

	if (!r->slot)
		return;
	unregister_netdevice_notifier_net(server->net, &r->devices);
	drop_all(r);
	free_percpu(r->slot);
	r->slot = NULL;
}

static struct dst_entry *look_up4(struct bftm_server *server, const struct bftm_address *to)
{
	struct flowi4 fl = {
		.flowi4_proto = IPPROTO_UDP,
		.flowi4_oif = to->ifindex,
		.flowi4_mark = to->mark,
		.flowi4_uid = sock_net_uid(server->net, NULL),
		.daddr = to->remote4,
		.saddr = to->local4,
		.fl4_dport = to->port,
		.fl4_sport = htons(server->param.port),
	};
	struct rtable *rt = ip_route_output_flow(server->net, &fl, server->sock4->sk);

	if (IS_ERR(rt))
		return ERR_CAST(rt);
	if (rt->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST)) {
		ip_rt_put(rt);
		return ERR_PTR(-EACCES);
	}
	return &rt->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
static struct dst_entry *look_up6(struct bftm_server *server, const struct bftm_address *to,
				  u32 *cookie)
{
	struct flowi6 fl = {
		.flowi6_proto = IPPROTO_UDP,
		.flowi6_oif = to->ifindex,
		.flowi6_mark = to->mark,
		.flowi6_uid = sock_net_uid(server->net, NULL),
		.daddr = to->remote6,
		.saddr = to->local6,
		.fl6_dport = to->port,
		.fl6_sport = htons(server->param.port),
	};
	struct dst_entry *dst;

	dst = bftm_dst6(server->net, server->sock6->sk, &fl, NULL);
	if (!IS_ERR(dst))
		*cookie = rt6_get_cookie(container_of(dst, struct rt6_info, dst));
	return dst;
}
#else
static struct dst_entry *look_up6(struct bftm_server *server, const struct bftm_address *to,
				  u32 *cookie)
{
	return ERR_PTR(-EAFNOSUPPORT);
}
#endif

/* Of both families: what an IPv4 address does not use of the union is zero. */
static bool same(const struct bftm_address *a, const struct bftm_address *b)
{
	return ipv6_addr_equal(&a->remote6, &b->remote6) &&
	       ipv6_addr_equal(&a->local6, &b->local6) &&
	       a->port == b->port && a->family == b->family && a->ifindex == b->ifindex &&
	       a->mark == b->mark;
}

struct dst_entry *bftm_route(struct bftm_server *server, const struct bftm_address *to)
{
	u32 hash = ipv6_addr_hash(&to->remote6) + (__force u16)to->port;
	struct bftm_route *r = this_cpu_ptr(server->routes.slot) + hash_32(hash, BFTM_ROUTE_BITS);
	struct dst_entry *dst = READ_ONCE(r->dst);
	u32 cookie = 0;

	if (dst && same(&r->to, to) && dst_check(dst, r->cookie))
		return dst;
	if (to->family == AF_INET)
		dst = look_up4(server, to);
	else if (to->family == AF_INET6)
		dst = look_up6(server, to, &cookie);
	else
		dst = ERR_PTR(-EDESTADDRREQ);
	if (IS_ERR(dst))
		return dst;
	dst_release(xchg(&r->dst, NULL));
	r->to = *to;
	r->cookie = cookie;
	WRITE_ONCE(r->dst, dst);
	return dst;
}
