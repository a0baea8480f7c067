/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The objects of the honest server inside every liar: what kmod/objects/objects.c does
 * around the core, with bodies from malloc() and digests by OpenSSL.
 */
#ifndef BFTM_LIAR_NODE_ORDER_H
#define BFTM_LIAR_NODE_ORDER_H

#include "core/ordering/page.h"
#include "core/ordering/server.h"
#include "node.h"

/** struct liar_object - an object that somebody asked for; @key: of bftm_page_add(), from 1 on */
struct liar_object {
	RB_ENTRY(liar_object) node;
	TAILQ_ENTRY(liar_object) later;
	u64 key;
	struct bftm_object object;
	u8 name_len;
	u8 name[BFTM_NAME_LEN_MAX];
};

/** struct liar_push - a RESPONSE that nobody asked for */
struct liar_push {
	TAILQ_ENTRY(liar_push) list;
	struct bftm_order_msg msg;
	u8 data[BFTM_ORDER_ROOM_MAX];
};

TAILQ_HEAD(liar_pushes, liar_push);

/**
 * struct order_decision - what an honest server does about a request
 * @req:    the request
 * @client: who sent it
 * @object: after it; an empty one where there is none
 * @reply:  BFTM_MSG_NONE for silence; BFTM_MSG_STALE; BFTM_MSG_REFUSED with its
 *          reason in @offset
 * @data:   of @reply, as bftm_order_step() has it
 * @pushes: likewise unasked, each to be freed
 */
struct order_decision {
	struct bftm_order_msg req;
	struct liar_client *client;
	const struct bftm_object *object;
	struct bftm_order_msg reply;
	u8 data[BFTM_ORDER_ROOM_MAX];
	struct liar_pushes pushes;
};

/** node_decide_order() - as node_decide(); on success @ret->pushes is set */
bool node_decide_order(struct node *node, const struct liar_from *from, const void *data,
		       size_t len, u64 now, struct order_decision *ret);

/**
 * node_write_order() - an answer as a datagram, sealed
 * @msg: any, also STALE and REFUSED; of type BFTM_MSG_NONE or with too much data
 *       it is none
 * @buf: of BFTM_DATAGRAM_MAX bytes
 * Return: bytes of it, 0 for none.
 */
size_t node_write_order(const struct node *node, const struct liar_client *client,
			const struct bftm_order_msg *msg, void *buf);

/** node_objects_destroy() - all objects and uploads. */
void node_objects_destroy(struct node *node);

/* node_bodies.c: bodies, and those that arrive in pieces. */

/** node_body_for() - the body that a request names, if it is there and wanted
 * @ret_bad: it is there, with another digest
 * Return: the caller's, or NULL.
 */
struct bftm_body *node_body_for(struct node *node, const struct liar_object *of,
				const struct bftm_order_msg *req, bool *ret_bad);

/** node_upload() - a PUT; sets the type of @reply. */
void node_upload(struct node *node, const struct liar_object *of,
		 const struct bftm_order_msg *req, struct bftm_order_msg *reply);

/** node_uploads_destroy() - all of them. */
void node_uploads_destroy(struct node *node);

#endif /* BFTM_LIAR_NODE_ORDER_H */
