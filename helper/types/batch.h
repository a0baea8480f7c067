/* SPDX-License-Identifier: GPL-2.0 */
/* Operations and responses as servers store them: requests, and answers to them, in one body. */
#ifndef BFTM_BATCH_H
#define BFTM_BATCH_H

#include "core/limits.h"
#include "core/types.h"

/** struct bftm_bytes - bytes that grow; all zero is empty */
struct bftm_bytes {
	u8 *data;
	u32 len;
	u32 size;
};

/**
 * bftm_bytes_add() - append @data, or @len bytes to be filled in when it is NULL
 * @bytes: gets them
 * @data:  what is appended; NULL: the caller fills them in
 * @len:   bytes of @data
 * Return: false when there is no memory; then nothing has changed.
 */
bool bftm_bytes_add(struct bftm_bytes *bytes, const void *data, u32 len);
/** bftm_bytes_free() - empty again */
void bftm_bytes_free(struct bftm_bytes *bytes);

/**
 * bftm_batch_add() - pack one more request into an operation
 * @op:      its body, empty for a new one
 * @request: bytes of the request
 * @len:     bytes of @request
 *
 * Return: 0; -EMSGSIZE when the request or its bare status does not fit BFTM_OP_MAX any more,
 * -ENOMEM; then nothing has changed.
 */
int bftm_batch_add(struct bftm_bytes *op, const void *request, u32 len);

/**
 * bftm_batch_count() - number of requests in a body
 * @op:  body of an operation
 * @len: bytes of it
 * Return: 0 when it is no valid body, or no response to it would fit.
 */
u32 bftm_batch_count(const u8 *op, u32 len);

/** bftm_batch_next() - the next request; *@at is 0 at first. False at the end. */
bool bftm_batch_next(const u8 *op, u32 len, u32 *at, const u8 **ret, u32 *ret_len);

/**
 * struct bftm_object_answer - the answer to one request
 * @status: errno of the object, 0 for good
 * @len:    bytes of @data
 * @data:   what the object answers
 */
struct bftm_object_answer {
	u32 status;
	u32 len;
	const u8 *data;
};

/**
 * bftm_answers() - parse the body of a response
 * @response:    body of a response
 * @len:         bytes of it
 * @ret_version: of the state that the operation made
 * Return: number of its answers; -EBADMSG when the body is not valid.
 */
int bftm_answers(const u8 *response, u32 len, u64 *ret_version);

/**
 * bftm_answers_number() - number of the first request of a response that bftm_answers() accepted;
 * the following requests have the next numbers
 * @response: its body
 *
 * Numbers grow from request to request of an object, in the order in which they were done, and are
 * the same for all clients: BFTM_NUMBERS times the version that did the request, plus the number of
 * requests that were done before it in that version.
 */
u64 bftm_answers_number(const u8 *response);

/** bftm_answer_get() - the answer to request @i (from 0), which must exist. */
void bftm_answer_get(const u8 *response, u32 i, struct bftm_object_answer *ret);

/* Packs answers, for object.c: false when there is no memory. */
bool bftm_answers_begin(struct bftm_bytes *response, u64 version, u32 place, u32 count);
bool bftm_answer_add(struct bftm_bytes *response, u32 status, const u8 *data, u32 len);
/** bftm_answers_room() - bytes of a response with @count bare statuses */
u32 bftm_answers_room(u32 count);

#endif /* BFTM_BATCH_H */
