/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The honest server inside every liar. It does what the kernel's does, in the
 * same order: authenticate, take the sequence number, compare the epoch, let
 * the core decide.
 */
#ifndef BFTM_LIAR_NODE_H
#define BFTM_LIAR_NODE_H

#include <sys/queue.h>

#include "../../helper/keys.h"
#include "../../helper/tree.h"
#include "../../kmod/core/backoff_server.h"
#include "../../kmod/core/replay.h"

/** struct liar_client - a client that has authenticated itself */
struct liar_client {
	RB_ENTRY(liar_client) node;
	u32 id;
	struct bftm_mac *request;
	struct bftm_mac *reply;
	struct bftm_window window;
};

/** struct liar_lock - a lock that somebody asked for */
struct liar_lock {
	RB_ENTRY(liar_lock) node;
	TAILQ_ENTRY(liar_lock) list;
	u64 touched_ns;
	struct bftm_lock lock;
	u8 name_len;
	u8 name[];
};

RB_HEAD(liar_clients, liar_client);
RB_HEAD(liar_locks, liar_lock);

/**
 * struct node - the server
 * @master: its number and its key
 * @cfg:    what the core wants to know
 * @gno:    highest grant number of a lock that was forgotten
 * @idle:   locks, the longest untouched first
 */
struct node {
	struct bftm_master master;
	struct bftm_server_cfg cfg;
	u64 gno;
	struct liar_clients clients;
	u32 client_count;
	struct liar_locks locks;
	u32 lock_count;
	TAILQ_HEAD(, liar_lock) idle;
};

/** node_init() - @node->master, cfg.lease_max_ns and cfg.rho_ppm are set. */
void node_init(struct node *node, u64 now, bool quarantine);
void node_destroy(struct node *node);

/**
 * node_decide() - what an honest server answers
 * @data:   the datagram
 * @len:    its length
 * @now:    CLOCK_BOOTTIME, not before any earlier call's
 * @req:    out: the request
 * @client: out: who sent it
 * @reply:  out: the answer, type BFTM_MSG_NONE for silence
 *
 * Return: false when it is not authentic or was seen before: nobody answers
 * that, for it may come from anybody.
 */
bool node_decide(struct node *node, const void *data, size_t len, u64 now, struct bftm_msg *req,
		 struct liar_client **client, struct bftm_msg *reply);

#endif /* BFTM_LIAR_NODE_H */
