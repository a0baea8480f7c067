/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A strategy is what a lying server does with the answer that an honest one would give. The
 * server (node.c) has authenticated the request and decided it by the
 * protocol's core; a strategy says what is sent, when and how often.
 *
 * An honest server also speaks unasked: FREE to the next in the queue, INQUIRE
 * to an owner. It does so while it answers somebody else, or when a lease ends.
 * A strategy is shown each such push, after the answer, and may keep it to
 * itself; and it may push whatever it likes at any time, with liar_push().
 *
 * bftmutex-liar and the simulator both stand around these files. Each provides
 * the functions declared below, and shows strategies what happens.
 */
#ifndef BFTM_LIAR_STRATEGY_H
#define BFTM_LIAR_STRATEGY_H

#include "core/backoff/server.h"

struct liar;
struct liar_client;
struct liar_from;

/**
 * struct liar_request - a request, authentic and never seen before
 * @msg:    what it says
 * @honest: the honest answer, type BFTM_MSG_NONE for silence
 * @client: who sent it, for liar_seal()
 * @from:   where it came from, for liar_send()
 * @now_ns: CLOCK_BOOTTIME
 */
struct liar_request {
	const struct bftm_msg *msg;
	const struct bftm_msg *honest;
	struct liar_client *client;
	const struct liar_from *from;
	u64 now_ns;
};

/**
 * struct strategy - a way to lie, one file each
 * @name:   for --strategy
 * @what:   for --help
 * @state:  bytes that each liar keeps for it, see liar_state()
 * @answer: answers one request
 * @push:   what becomes of an honest push, FREE or INQUIRE for @push->client;
 *          NULL: it is sent
 */
struct strategy {
	const char *name;
	const char *what;
	size_t state;
	void (*answer)(struct liar *l, const struct liar_request *req);
	void (*push)(struct liar *l, const struct bftm_msg *push, u64 now_ns);
};

/** struct liar_rival - an attempt that liars know of */
struct liar_rival {
	u64 attempt;
	u64 seen_ns;
	u32 client;
};

#define LIAR_RIVALS 4

/**
 * struct liar_shared - what the liars of a cluster tell each other
 * @hash:  of the lock's name that @rival is about
 * @rival: who asked for it lately, newest first
 * @mood:  changes when they agree on another face
 */
struct liar_shared {
	u32 hash;
	struct liar_rival rival[LIAR_RIVALS];
	u32 mood;
};

/** liar_state() - @state bytes of the strategy in use, zeroed at first. */
void *liar_state(struct liar *l);

/** liar_shared() - what all liars know; of one that lies alone, its own. */
struct liar_shared *liar_shared(struct liar *l);

/** liar_cfg() - the honest server inside. */
const struct bftm_server_cfg *liar_cfg(const struct liar *l);

/* Among the flags of an answer, which are not sent: its epoch is to stay as it is. */
#define LIAR_OTHER_EPOCH (1u << 15)

/** liar_keeps_epoch() - may this answer name another epoch than ours? CHALLENGE and STALE may. */
static inline bool liar_keeps_epoch(const struct bftm_msg *msg)
{
	return msg->type == BFTM_MSG_CHALLENGE || msg->type == BFTM_MSG_STALE || msg->flags & LIAR_OTHER_EPOCH;
}

/**
 * liar_seal() - write an answer to this client, with a good tag
 *
 * And with our epoch, unless liar_keeps_epoch().
 */
void liar_seal(struct liar *l, const struct liar_request *req, const struct bftm_msg *msg,
	       struct bftm_wire *wire);

/** liar_send() - send these bytes back after this delay. */
void liar_send(struct liar *l, const struct liar_request *req, const void *data, size_t len,
	       u64 delay_ns);

/** liar_say() - seal and send; a message of type BFTM_MSG_NONE is not sent. */
void liar_say(struct liar *l, const struct liar_request *req, const struct bftm_msg *msg,
	      u64 delay_ns);

/**
 * liar_push() - seal and send to client @msg->client, who did not ask
 * @msg: any message; clients hear FREE and INQUIRE with @seq 0
 *
 * To where that client was heard last; nothing for one that never was.
 */
void liar_push(struct liar *l, const struct bftm_msg *msg, u64 delay_ns);

/** liar_lied() - count a lie: something sent, late or not sent at all. */
void liar_lied(struct liar *l);

/** liar_random() - 64 bits of what --seed determines. */
u64 liar_random(struct liar *l);

/** liar_delay() - of --delay, in ns. */
u64 liar_delay(const struct liar *l);

#endif /* BFTM_LIAR_STRATEGY_H */
