/* SPDX-License-Identifier: GPL-2.0 */
/* The memory of liars: what they heard, and how they make answers of it. */
#ifndef BFTM_LIAR_ORDER_KNOWN_H
#define BFTM_LIAR_ORDER_KNOWN_H

#include "order_strategy.h"

void order_known_signature(struct order_known *k, const struct bftm_order_msg *msg);

/** order_get_rank() - that this request gets with, GET or COMMIT_GET; NULL: it is none */
const struct bftm_rank *order_get_rank(const struct bftm_order_msg *req);

/** order_commits() - is it COMMIT or COMMIT_GET? */
bool order_commits(const struct bftm_order_msg *req);

/** order_accept() - the answer that PROPOSE, COMMIT or COMMIT_GET was done */
void order_accept(struct order_reply *r, const struct bftm_order_msg *req);

/** order_known_note() - an authentic request */
void order_known_note(struct order_known *k, const struct bftm_order_msg *msg);

/** order_copy() - an answer to change */
void order_copy(struct order_reply *r, const struct bftm_order_msg *msg);

/** order_reply_to() - an answer of this type, without data */
void order_reply_to(struct order_reply *r, const struct bftm_order_msg *req, u8 type);

/** order_except() - the answer that @max was seen; @signature: or NULL */
void order_except(struct order_reply *r, const struct bftm_order_msg *req,
		  const struct bftm_rank *max, const u8 *signature);

/**
 * order_got() - the answer that these are σc and σpc, with nothing that waits
 *
 * COMMITTED_GOT, which COMMIT_GET is answered by, tells of no states.
 */
void order_got(struct order_reply *r, const struct bftm_order_msg *req,
	       const struct bftm_body_id *sc, const struct order_proposal *sp);

/** order_got_waits() - … but for this operation; what does not fit is left out */
void order_got_waits(struct order_reply *r, const struct bftm_op *op);

#endif /* BFTM_LIAR_ORDER_KNOWN_H */
