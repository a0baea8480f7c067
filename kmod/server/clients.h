/* SPDX-License-Identifier: GPL-2.0 */
/* Clients that a server has authenticated: their keys and what they sent. */
#ifndef BFTM_CLIENTS_H
#define BFTM_CLIENTS_H

#include <linux/list.h>
#include <linux/spinlock.h>

#include "core/admit.h"
#include "udp/address.h"
#include "udp/auth.h"

/**
 * struct bftm_client - one client
 * @hash:     in its table, under RCU; never removed before the table
 * @id:       number of the client
 * @lock:     guards all that is not constant
 * @pair:     keys shared with it, constant
 * @window:   sequence numbers taken
 * @received: authentic datagrams
 * @seen_ns:  time of the last
 * @replayed: those of them that had been taken before; no more than fit
 * @outdated: it was logged that it speaks an earlier version
 * @address:  where it was heard last, for what it did not ask for
 */
struct bftm_client {
	struct hlist_node hash;
	u32 id;
	spinlock_t lock;
	struct bftm_client_keys pair;
	struct bftm_window window;
	u64 received;
	u64 seen_ns;
	u32 replayed : 31;
	u32 outdated : 1;
	struct bftm_address address;
};

/**
 * struct bftm_clients - table of clients
 * @lock:   guards insertion and @count
 * @count:  clients in it
 * @max:    how many there may be
 * @bits:   log2 of the number of buckets
 * @bucket: chains, read under RCU
 */
struct bftm_clients {
	spinlock_t lock;
	u32 count;
	u32 max;
	u32 bits;
	struct hlist_head *bucket;
};

int bftm_clients_init(struct bftm_clients *t, u32 max);

/** bftm_clients_destroy() - no reader may be left. */
void bftm_clients_destroy(struct bftm_clients *t);

/** bftm_client_find() - Context: RCU read side. Return: NULL if unknown. */
struct bftm_client *bftm_client_find(struct bftm_clients *t, u32 id);

/**
 * bftm_client_add() - remember a client, once it has authenticated itself
 * @t:    the table
 * @id:   number of the client
 * @pair: its keys, copied
 * @more: places beyond the table's limit
 * Context: RCU read side, softirq. Return: the client (also when another CPU
 * was faster) or NULL when the table is full or memory short.
 */
struct bftm_client *bftm_client_add(struct bftm_clients *t, u32 id,
				    const struct bftm_client_keys *pair, u32 more);

/**
 * bftm_client_take() - take a sequence number
 * @c:    the client
 * @seq:  of its request, at least 1
 * @now:  the clock of leases, ns
 * @from: where it came from; NULL if it was not made for this incarnation of
 *        the server, so that it may be a recorded one that the window has
 *        forgotten: anybody can send that from anywhere
 *
 * Context: softirq. Return: false for one that was taken before.
 */
bool bftm_client_take(struct bftm_client *c, u64 seq, u64 now,
		      const struct bftm_address *from);

/**
 * bftm_client_behind() - bftm_refuse_behind(), by what was taken of this client
 * @c:     the client
 * @req:   its request, whose number was not taken
 * @reply: the answer, only if true
 * Context: softirq.
 */
bool bftm_client_behind(struct bftm_client *c, const struct bftm_msg *req,
			struct bftm_msg *reply);

/**
 * bftm_client_holds() - is a number that was taken still in the window?
 * @c:   the client
 * @seq: a number that was taken of it
 *
 * Context: softirq. Return: false when much later ones were taken since.
 */
bool bftm_client_holds(struct bftm_client *c, u64 seq);

/** bftm_clients_newest() - the highest number that was taken of client @id; 0 if it is unknown. */
u64 bftm_clients_newest(struct bftm_clients *t, u32 id);

/** bftm_client_address() - where to reach it. Context: softirq. */
struct bftm_address bftm_client_address(struct bftm_client *c);

#endif /* BFTM_CLIENTS_H */
