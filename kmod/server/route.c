// SPDX-License-Identifier: GPL-2.0
/*
 * Each CPU has slots of its own so that CPUs do not wait for each other, and a lock, so that
 * it does not matter who else is at work there: with PREEMPT_RT softirqs of one CPU interrupt
 * each other where the kernel has no lock of all of them (since 6.18 that is a choice). Elsewhere
 * nobody but drop_all() ever contends for it. A route that is found under the lock is right
 * whichever CPU's it is, so a thread that goes on elsewhere does no harm.
 *
 * Lifetime: a slot holds a reference to its route. Under the lock it is taken out of the slot,
 * for another one or by drop_all(), so it is dropped once. A reader that found it there goes on
 * with it without the lock, and without a reference, inside an RCU read side, for the end of
 * which the route's destruction waits.
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

#include "compat_net.h"
#include "server/route.h"
#include "server/server.h"

static void drop_all(struct bftm_routes *r)
{
	int cpu, i;

	for_each_possible_cpu(cpu) {
		struct bftm_route_slots *s = per_cpu_ptr(r->slots, cpu);

		spin_lock_bh(&s->lock);
		for (i = 0; i < BFTM_ROUTE_SLOTS; i++) {
			dst_release(s->slot[i].dst);
			s->slot[i].dst = NULL;
		}
		spin_unlock_bh(&s->lock);
	}
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
	int cpu, err;

	r->slots = alloc_percpu(struct bftm_route_slots);
	if (!r->slots)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		spin_lock_init(&per_cpu_ptr(r->slots, cpu)->lock);
	r->devices.notifier_call = device_event;
	err = register_netdevice_notifier_net(server->net, &r->devices);
	if (err) {
		free_percpu(r->slots);
		r->slots = NULL;
	}
	return err;
}

void bftm_routes_destroy(struct bftm_server *server)
{
	struct bftm_routes *r = &server->routes;

	if (!r->slots)
		return;
	unregister_netdevice_notifier_net(server->net, &r->devices);
	drop_all(r);
	free_percpu(r->slots);
	r->slots = NULL;
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
static bool route_same(const struct bftm_address *a, const struct bftm_address *b)
{
	return ipv6_addr_equal(&a->remote6, &b->remote6) &&
	       ipv6_addr_equal(&a->local6, &b->local6) &&
	       a->port == b->port && a->family == b->family && a->ifindex == b->ifindex &&
	       a->mark == b->mark;
}

static struct bftm_route *slot_of(struct bftm_route_slots *s, const struct bftm_address *to)
{
	u32 hash = ipv6_addr_hash(&to->remote6) + (__force u16)to->port;

	return &s->slot[hash_32(hash, BFTM_ROUTE_BITS)];
}

static struct dst_entry *route_find(struct bftm_route_slots *s, const struct bftm_address *to)
{
	const struct bftm_route *r = slot_of(s, to);
	struct dst_entry *dst = NULL;

	spin_lock(&s->lock);
	if (r->dst && route_same(&r->to, to) && dst_check(r->dst, r->cookie))
		dst = r->dst;
	spin_unlock(&s->lock);
	return dst;
}

/* @dst: with a reference, which is the slot's then */
static void route_keep(struct bftm_route_slots *s, const struct bftm_address *to,
		       struct dst_entry *dst, u32 cookie)
{
	struct bftm_route *r = slot_of(s, to);
	struct dst_entry *old;

	spin_lock(&s->lock);
	old = r->dst;
	r->to = *to;
	r->cookie = cookie;
	r->dst = dst;
	spin_unlock(&s->lock);
	dst_release(old);
}

struct dst_entry *bftm_route(struct bftm_server *server, const struct bftm_address *to)
{
	struct bftm_route_slots *s = raw_cpu_ptr(server->routes.slots);
	struct dst_entry *dst = route_find(s, to);
	u32 cookie = 0;

	if (dst)
		return dst;
	if (to->family == AF_INET)
		dst = look_up4(server, to);
	else if (to->family == AF_INET6)
		dst = look_up6(server, to, &cookie);
	else
		dst = ERR_PTR(-EDESTADDRREQ);
	if (!IS_ERR(dst))
		route_keep(s, to, dst, cookie);
	return dst;
}
