/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs share that speak to one server about objects, datagram by
 * datagram:
 *
 *	PROGRAM SERVER CASE ADDRESS CREDENTIALS [ADDRESS CREDENTIALS]...
 *
 * Exit status 0: all was as it must be; what was not is on stderr. They print by
 * how much the server's counters must have grown.
 */
#ifndef BFTM_ORDER_RAW_H
#define BFTM_ORDER_RAW_H

#include "selftests/lib/datagram.h"

#include "crypto/digest.h"
#include "core/ordering/state.h"
#include "core/ordering/wire.h"

#define PEERS_MAX 8
#define FAILURES_MAX 8

/** struct order_counted - what a server counts of objects */
struct order_counted {
	unsigned int submitted, got, proposed, committed, installed, excepted, needbody;
	unsigned int fetched, stored, forgotten, listed;
};

/* Counters that the server must have, besides @expected. */
extern struct order_counted ordered;
/* Name of the object that requests are about. */
extern char name[24];

/** struct answer - one of either shape; @type is of both */
struct answer {
	u8 type;
	struct bftm_msg plain;
	struct bftm_order_msg order;
	u8 raw[2048];
	size_t len;
};

/** struct body - of a state or an operation; freed with the process */
struct body {
	struct bftm_body_id id;
	u8 data[];
};

struct body *body_new(u64 version, const void *data, u32 len);
struct body *op_new(const char *text);

/* A state that reflects operation @op of @p, answered by @response. */
struct body *state_new(u64 version, const struct peer *p, u64 op, const char *response,
		       const void *app, u32 app_len);

struct body *small_state(u64 version, const struct peer *p, u64 op);
struct bftm_order_msg order(u8 type, u64 count);

/* @b in the message, as data too if @whole. */
struct bftm_order_msg about(struct bftm_order_msg m, const struct body *b, bool whole);

struct bftm_order_msg submit_op(u64 op, const struct body *b, bool whole);
struct bftm_order_msg get(u64 count);
struct bftm_order_msg piece(const struct body *b, u32 offset);
struct bftm_order_msg list_from(u64 cursor, u32 room);

/* Fill in what every request has, and the tag. Return: its length. */
size_t prepare_order(struct peer *p, struct bftm_order_msg *m, u8 *buf);

size_t tell_order(struct peer *p, struct bftm_order_msg m);
bool read_answer(struct peer *p, struct answer *a);
bool hear_order(struct peer *p, struct answer *a, int patience_ms);
const char *answer_name(u8 type);

/* Ask, and hear an answer of this type that belongs to it. */
struct answer ask_order(struct peer *p, struct bftm_order_msg m, u8 type, const char *why);

void refused(struct peer *p, struct bftm_order_msg m, enum bftm_refusal reason, const char *why);

/* The next datagram is a push. */
struct answer pushed_response(struct peer *p, u64 op, const char *response, const char *why);

/* The request gets no answer: the next one does, and its answer comes first. */
void silent(struct peer *p, struct bftm_order_msg m, const char *why);

/* Likewise, for its form is wrong. */
void formless(struct peer *p, struct bftm_order_msg m, const char *why);

/* Propose and commit @b in one iteration. */
void decide(struct peer *p, u64 count, const struct body *b, bool whole);

/* All pieces of a body. */
void put(struct peer *p, const struct body *b);

/** struct test - a case, an object of its own in @name; the last has no name */
struct test {
	const char *name;
	void (*run)(struct peer *p);
	int peers;
};

int run_test(int argc, char **argv, const struct test *t);

#endif /* BFTM_ORDER_RAW_H */
