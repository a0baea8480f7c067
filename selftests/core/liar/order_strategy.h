/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ways of a lying server in the ordering protocol, as strategy.h has them for
 * locks. The honest server inside has taken the request and decided it by
 * kmod/core/ordering/server.h; a strategy says what is sent, when and how often. It
 * sees what the honest one keeps of the object, and what all liars have seen.
 *
 * bftmutex-liar and the simulator both stand around these files. Each provides
 * the functions declared below, besides liar_lied(), liar_random() and
 * liar_delay() of strategy.h; before a strategy is asked each calls
 * order_known_note().
 */
#ifndef BFTM_LIAR_ORDER_STRATEGY_H
#define BFTM_LIAR_ORDER_STRATEGY_H

#include "core/ordering/client.h"
#include "core/ordering/server.h"
#include "strategy.h"

/**
 * struct order_request - a request, authentic and never seen before; not PUT
 * @msg:    what it says
 * @honest: the honest answer, type BFTM_MSG_NONE for silence; BFTM_MSG_REFUSED
 *          has enum bftm_refusal in @offset
 * @object: of the honest server, after it has decided
 * @client: who sent it
 * @from:   where it came from
 * @now_ns: CLOCK_BOOTTIME
 */
struct order_request {
	const struct bftm_order_msg *msg;
	const struct bftm_order_msg *honest;
	const struct bftm_object *object;
	struct liar_client *client;
	const struct liar_from *from;
	u64 now_ns;
};

/**
 * struct order_strategy - a way to lie, one file each, order_*.c
 * @name:   for --strategy
 * @what:   for --help
 * @state:  bytes that each liar keeps for it, see order_liar_state()
 * @answer: answers one request
 * @push:   what becomes of an honest RESPONSE that nobody asked for; NULL: it is
 *          sent
 */
struct order_strategy {
	const char *name;
	const char *what;
	size_t state;
	void (*answer)(struct liar *l, const struct order_request *req);
	void (*push)(struct liar *l, const struct bftm_order_msg *push, u64 now_ns);
};

/* So many of the last ones of each kind are known. */
#define ORDER_KNOWN 8

/** struct order_proposal - a state that somebody proposed or committed */
struct order_proposal {
	struct bftm_body_id id;
	struct bftm_rank rank;
};

/** struct order_signature - of a rank, as its client made it */
struct order_signature {
	struct bftm_rank rank;
	u8 bytes[BFTM_SIGNATURE_LEN];
};

/**
 * struct order_known - what the liars of a cluster tell each other
 * @proposal:  the last states, @proposals is how many there were ever
 * @op:        the last operations, likewise
 * @signature: the last signatures, likewise
 * @max:       the highest rank that was asked with
 * @mood:      changes when they agree on another face
 */
struct order_known {
	struct order_proposal proposal[ORDER_KNOWN];
	struct bftm_op op[ORDER_KNOWN];
	struct order_signature signature[ORDER_KNOWN];
	u32 proposals;
	u32 ops;
	u32 signatures;
	struct bftm_rank max;
	u32 mood;
};

/** struct order_reply - an answer that is being made up, with room for any data */
struct order_reply {
	struct bftm_order_msg msg;
	u8 data[BFTM_ORDER_ROOM_MAX];
	u8 signature[BFTM_SIGNATURE_LEN];
};

/** order_liar_state() - @state bytes of the strategy in use, zeroed at first. */
void *order_liar_state(struct liar *l);

/** order_liar_known() - what all liars know; of one that lies alone, its own. */
struct order_known *order_liar_known(struct liar *l);

/**
 * order_liar_say() - seal and send; type BFTM_MSG_NONE is not sent
 * @msg: any answer; REFUSED with its reason in @offset
 */
void order_liar_say(struct liar *l, const struct order_request *req,
		    const struct bftm_order_msg *msg, u64 delay_ns);

/** order_liar_push() - the same to @msg->client, who did not ask; @seq is 0. */
void order_liar_push(struct liar *l, const struct bftm_order_msg *msg, u64 delay_ns);

/** order_liar_digest() - as everybody computes it. */
void order_liar_digest(const u8 *data, size_t len, u8 ret[BFTM_DIGEST_LEN]);

#endif /* BFTM_LIAR_ORDER_STRATEGY_H */
