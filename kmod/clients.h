/* SPDX-License-Identifier: GPL-2.0 */
/* Clients that a server has authenticated: their keys and what they sent. */
#ifndef BFTM_CLIENTS_H
#define BFTM_CLIENTS_H

#include <linux/list.h>
#include <linux/spinlock.h>

#include "auth.h"
#include "core/replay.h"

/**
 * struct bftm_client - one client
 * @hash:     in its table, under RCU; never removed before the table
 * @id:       number of the client
 * @pair:     keys shared with it, constant
 * @lock:     guards the rest
 * @window:   sequence numbers taken
 * @received: authentic datagrams
 * @replayed: those of them that had been taken before
 * @seen_ns:  time of the last, CLOCK_BOOTTIME
 */
struct bftm_client {
	struct hlist_node hash;
	u32 id;
	struct bftm_pair pair;
	spinlock_t lock;
	struct bftm_window window;
	u64 received;
	u64 replayed;
	u64 seen_ns;
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
 * Context: RCU read side, softirq. Return: the client (also when another CPU
 * was faster) or NULL when the table is full or memory short.
 */
struct bftm_client *bftm_client_add(struct bftm_clients *t, u32 id,
				    const struct bftm_pair *pair);

/**
 * bftm_client_take() - take a sequence number
 * Context: softirq. Return: false for one that was taken before.
 */
bool bftm_client_take(struct bftm_client *c, u64 seq, u64 now);

#endif /* BFTM_CLIENTS_H */
