/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The honest server inside every liar. It does what the kernel's does, in the
 * same order: authenticate, take the sequence number, compare the epoch, let
 * the core decide.
 */
#ifndef BFTM_LIAR_NODE_H
#define BFTM_LIAR_NODE_H

#include <netinet/in.h>
#include <sys/queue.h>

#include "crypto/keys.h"
#include "loop/tree.h"
#include "core/replay.h"
#include "core/serve.h"

/** struct liar_from - a peer, and which of our addresses it knows us by */
struct liar_from {
	int fd;
	struct sockaddr_in6 peer;	/* or the shorter one of IPv4 */
	socklen_t peer_len;
	union {
		struct in_pktinfo v4;
		struct in6_pktinfo v6;
	} local;
};

/** struct liar_client - a client that has authenticated itself */
struct liar_client {
	RB_ENTRY(liar_client) node;
	u32 id;
	struct liar_from from;		/* of its last datagram that was fresh */
	struct bftm_mac *request;
	struct bftm_mac *reply;
	struct bftm_window window;
};

/** struct liar_lock - a lock that somebody asked for */
struct liar_lock {
	RB_ENTRY(liar_lock) node;
	RB_ENTRY(liar_lock) due;
	TAILQ_ENTRY(liar_lock) list;
	u64 touched_ns;
	u64 due_ns;		/* when its protocol wants to look at it, 0 for never */
	const struct bftm_protocol *protocol;
	void *state;		/* of the protocol */
	u8 name_len;
	u8 name[];
};

RB_HEAD(liar_clients, liar_client);
RB_HEAD(liar_locks, liar_lock);
RB_HEAD(liar_dues, liar_lock);
RB_HEAD(liar_objects, liar_object);
TAILQ_HEAD(liar_object_list, liar_object);
TAILQ_HEAD(liar_uploads, liar_upload);

/**
 * struct node - the server
 * @master: its number and its key
 * @cfg:    what the core wants to know
 * @gno:    highest grant number of a lock that was forgotten
 * @hi:     highest token of one
 * @tokens: of all locks
 * @dues:   locks that are granted, the first to end first
 * @idle:   locks, the longest untouched first
 * @objects: see node_order.h; @by_key: the same, in the order in which they were made
 * @uploads: bodies that arrive, the last touched first
 * @recovering: what was promised before this start is not known
 */
struct node {
	struct bftm_master master;
	struct bftm_server_cfg cfg;
	u64 gno;
	u64 hi;
	struct bftm_tokens tokens;
	struct liar_clients clients;
	u32 client_count;
	struct liar_locks locks;
	u32 lock_count;
	struct liar_dues dues;
	TAILQ_HEAD(, liar_lock) idle;
	struct liar_objects objects;
	struct liar_object_list by_key;
	u32 object_count;
	struct liar_uploads uploads;
	u32 upload_count;
	bool recovering;
};

/**
 * node_init() - @node->master and what is left of @node->cfg are set
 * @token_floor: no higher token was stamped before; may be BFTM_TOKEN_UNKNOWN, then
 *               objects may have been before, too
 */
void node_init(struct node *node, u64 now, bool quarantine, u64 token_floor);
void node_destroy(struct node *node);

/**
 * node_admit() - may the ordering protocol see this datagram?
 * @head:      what it says of itself
 * @ret_admit: it may; else @ret_reply is the answer
 * Return: the client, which now is heard from there; NULL when it is not its client's, or old.
 */
struct liar_client *node_admit(struct node *node, const struct liar_from *from, const void *data,
			       size_t len, const struct bftm_msg *head, u64 now,
			       bool *ret_admit, struct bftm_msg *ret_reply);

/** struct decision - what an honest server does about a request */
struct decision {
	struct bftm_msg req;
	struct liar_client *client;
	struct bftm_msg reply;		/* type BFTM_MSG_NONE for silence */
	struct bftm_msg push;		/* likewise */
};

/**
 * node_decide() - a datagram has come
 * @from: from there
 * @data: the datagram
 * @len:  its length
 * @now:  CLOCK_BOOTTIME, not before any earlier call's
 *
 * Return: false when it is not authentic or was seen before: nobody answers
 * that, for it may come from anybody.
 */
bool node_decide(struct node *node, const struct liar_from *from, const void *data, size_t len,
		 u64 now, struct decision *ret);

/** node_client() - a client that was heard, or NULL. */
struct liar_client *node_client(struct node *node, u32 id);

/** node_due() - when a lease ends next, 0 for never. */
u64 node_due(struct node *node);

/**
 * node_expire() - a lease that has ended by @now
 * @push: for the next in the queue, type BFTM_MSG_NONE for nobody
 * Return: false when there is none.
 */
bool node_expire(struct node *node, u64 now, struct bftm_msg *push);

#endif /* BFTM_LIAR_NODE_H */
