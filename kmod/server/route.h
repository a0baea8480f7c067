/* SPDX-License-Identifier: GPL-2.0 */
/* Routes to those who were answered lately, so that not each answer looks for one. */
#ifndef BFTM_ROUTE_H
#define BFTM_ROUTE_H

#include <linux/notifier.h>
#include <linux/percpu-defs.h>
#include <linux/spinlock.h>

#include "server/clients.h"

#define BFTM_ROUTE_BITS	6
#define BFTM_ROUTE_SLOTS (1 << BFTM_ROUTE_BITS)

struct bftm_server;
struct dst_entry;

/**
 * struct bftm_route - a route that is kept
 * @dst:    a reference to it, NULL for none
 * @to:     for what it was looked up, ports and all
 * @cookie: for dst_check()
 */
struct bftm_route {
	struct dst_entry *dst;
	struct bftm_address to;
	u32 cookie;
};

/**
 * struct bftm_route_slots - those of a CPU
 * @lock: guards @slot, taken with bottom halves off
 * @slot: found by a hash of the address
 */
struct bftm_route_slots {
	spinlock_t lock;
	struct bftm_route slot[BFTM_ROUTE_SLOTS];
};

/**
 * struct bftm_routes - those of a server
 * @slots:   of each CPU
 * @devices: told when a device of the namespace goes away
 */
struct bftm_routes {
	struct bftm_route_slots __percpu *slots;
	struct notifier_block devices;
};

/** bftm_routes_init() - Context: process. Return: 0 or an error. */
int bftm_routes_init(struct bftm_server *server);

/** bftm_routes_destroy() - also after a failed bftm_routes_init(); nobody may send now. */
void bftm_routes_destroy(struct bftm_server *server);

/**
 * bftm_route() - where to send what is for this address
 * @server: the server that sends
 * @to:     both ends, with ports
 *
 * As a lookup would say now: a route that is kept is checked first. There is none to
 * an address of many hosts: the source of a request proves nothing, so one host is
 * answered.
 *
 * Context: softirqs off, RCU read side, no lock is held; the sockets are open and stay so.
 * Return: a route that is good, without a reference, until the end of the RCU read
 * side; or an error pointer.
 */
struct dst_entry *bftm_route(struct bftm_server *server, const struct bftm_address *to);

#endif /* BFTM_ROUTE_H */
