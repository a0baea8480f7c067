/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The body of a state: its version, the number and the response of the last
 * operation of each client, and what the object's type keeps. The response is in
 * the state and not garbage-collected with the next version (Section 6.1 would
 * allow it): a client whose answers were lost could never get it again. Where there
 * is no room for all, the longest responses give way, but not the numbers: what was
 * applied is never applied again, whoever asks.
 */
#ifndef BFTM_CORE_ORDER_STATE_H
#define BFTM_CORE_ORDER_STATE_H

#include "core/ordering/order.h"

/* A body: head, clients in ascending order, responses, the type's bytes. */
struct bftm_state_head {
	__le64 version;
	__le32 clients;
	__le32 app_len;		/* bytes of the type's, at the end */
};

struct bftm_state_client {
	__le32 client;
	__le32 response_len;	/* or BFTM_RESPONSE_GONE */
	__le64 op;
	__le32 response_at;	/* from the start of the body; 0 when it is gone */
	__le32 zero;
};

static_assert(sizeof(struct bftm_state_head) == 16);
static_assert(sizeof(struct bftm_state_client) == 24);

/**
 * struct bftm_applied - the last operation of a client that a state reflects
 * @op:       its number
 * @client:   whose
 * @len:      bytes of @response
 * @response: in the body, for bftm_state_make() anywhere
 * @gone:     it had one, which gave way to others; then @len is 0
 */
struct bftm_applied {
	u64 op;
	u32 client;
	u32 len;
	const u8 *response;
	bool gone;
};

/** bftm_state_ok() - is it a body of this version? No other is looked into. */
bool bftm_state_ok(const u8 *body, u32 len, u64 version);

/**
 * bftm_state_find() - what the state knows of a client
 * @body:   that passed bftm_state_ok(); NULL for σ0
 * @client: its number
 * @ret:    its last operation; only if true
 * Return: false when it reflects no operation of it.
 */
bool bftm_state_find(const u8 *body, u32 client, struct bftm_applied *ret);

/** bftm_state_clients() - how many it knows */
u32 bftm_state_clients(const u8 *body);

/** bftm_state_app() - what the type keeps; NULL with 0 bytes for σ0. */
const u8 *bftm_state_app(const u8 *body, u32 len, u32 *app_len);

/**
 * bftm_state_type() - the name of the object's type, with which begins what the type keeps
 * @body: that passed bftm_state_ok(); NULL for σ0
 * @len:  bytes of @body
 * @ret:  its first byte
 * Return: its bytes, at most BFTM_TYPE_NAME_MAX of them; 0: the object does not exist.
 */
u8 bftm_state_type(const u8 *body, u32 len, const u8 **ret);

/**
 * bftm_state_make() - the body of the next state
 * @old:     body of the state before, NULL for σ0
 * @version: of the new one
 * @applied: what was applied, one entry a client, ascending
 * @count:   entries
 * @app:     what the type keeps now
 * @app_len: bytes of @app
 * @ret:     the body
 * @room:    bytes it may have
 *
 * When that is not enough, responses of @old to clients that are not in @applied
 * give way, longest first, until it is.
 *
 * Return: its length, 0 when even so there is not enough room.
 */
u32 bftm_state_make(const u8 *old, u64 version, const struct bftm_applied *applied,
		    u32 count, const u8 *app, u32 app_len, u8 *ret, u32 room);

#endif /* BFTM_CORE_ORDER_STATE_H */
