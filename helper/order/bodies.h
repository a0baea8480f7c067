/* SPDX-License-Identifier: GPL-2.0 */
/* Bodies of states and operations, in pieces. */
#ifndef BFTM_ORDER_BODIES_H
#define BFTM_ORDER_BODIES_H

#include "core/limits.h"
#include "core/ordering/client.h"
#include "core/ordering/transfer.h"

struct bftm_order_work;

/** struct bftm_body_here - a body; @data is NULL for none */
struct bftm_body_here {
	struct bftm_body_id id;
	u8 *data;
};

/**
 * struct bftm_put - a body on its way to servers
 * @id:       of the body
 * @data:     its bytes, @id.len of them
 * @to:       servers that it is being sent to
 * @stored:   that have all of it
 * @failed:   that do not answer
 * @transfer: to each server
 */
struct bftm_put {
	struct bftm_body_id id;
	const u8 *data;
	u32 to;
	u32 stored;
	u32 failed;
	struct bftm_transfer transfer[BFTM_SERVERS_MAX];
};

/**
 * struct bftm_fetch - a body on its way from a server
 * @body:     what is fetched; its data is NULL until all of it is here
 * @holders:  who said that they have it
 * @from:     who is asked now
 * @tries:    how many servers were asked
 * @over:     the body is in @body, or no server gives it
 * @transfer: from the server that is asked now
 */
struct bftm_fetch {
	struct bftm_body_here body;
	u32 holders;
	u32 from;
	u32 tries;
	bool over;
	struct bftm_transfer transfer;
};

void bftm_bodies_init(struct bftm_order_work *w);
/** bftm_put_begin() - @data stays until bftm_put_stop() */
void bftm_put_begin(struct bftm_put *put, const struct bftm_body_id *id, const u8 *data);
void bftm_put_stop(struct bftm_put *put);
/** bftm_put_to() - to these servers, too; again to those that have lost it */
void bftm_put_to(struct bftm_order_work *w, struct bftm_put *put, u32 to);
/** bftm_fetch_begin() - body @id, from one of @holders after the other */
void bftm_fetch_begin(struct bftm_order_work *w, struct bftm_fetch *fetch,
		      const struct bftm_body_id *id, u32 holders);
void bftm_fetch_stop(struct bftm_fetch *fetch);
void bftm_bodies_answer(struct bftm_order_work *w, u32 u, const struct bftm_order_msg *msg);

#endif /* BFTM_ORDER_BODIES_H */
