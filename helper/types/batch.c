// SPDX-License-Identifier: GPL-2.0
/*
 * Requests packed into operations, and answers into responses:
 *
 *	operation: le32 count, then each request: le32 len, bytes
 *	response:  le64 version, le32 count + place << COUNT_BITS, then each answer:
 *		   le32 status, le32 len, bytes
 *
 * Place is the number of requests that were done before in the same version.
 */
#include <errno.h>
#include <stdlib.h>

#include "types/object.h"

#define RESPONSE_HEAD	12
#define ANSWER_HEAD	8
#define COUNT_BITS	12

static_assert(BFTM_OP_MAX / ANSWER_HEAD < 1 << COUNT_BITS);
static_assert(BFTM_NUMBERS <= 1u << (32 - COUNT_BITS));

bool bftm_bytes_add(struct bftm_bytes *bytes, const void *data, u32 len)
{
	u32 size = bytes->size ?: 256;
	u8 *more;

	if (len > UINT32_MAX / 4 || bytes->len > UINT32_MAX / 4)
		return false;
	while (size - bytes->len < len)
		size *= 2;
	if (size != bytes->size) {
		more = realloc(bytes->data, size);
		if (!more)
			return false;
		bytes->data = more;
		bytes->size = size;
	}
	if (len && data)
		memcpy(bytes->data + bytes->len, data, len);
	bytes->len += len;
	return true;
}

void bftm_bytes_free(struct bftm_bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bftm_bytes){};
}

static u32 get_le32(const u8 *at)
{
	__le32 value;

	memcpy(&value, at, sizeof(value));
	return le32_to_cpu(value);
}

int bftm_batch_add(struct bftm_bytes *op, const void *request, u32 len)
{
	__le32 head = cpu_to_le32(len), count = cpu_to_le32(0);
	struct bftm_bytes old = *op;
	u32 n;

	n = op->len ? get_le32(op->data) + 1 : 1;
	if (len > BFTM_OP_MAX || (op->len ?: sizeof(count)) + sizeof(head) + len > BFTM_OP_MAX ||
	    RESPONSE_HEAD + n * ANSWER_HEAD > BFTM_OP_MAX)
		return -EMSGSIZE;
	if ((!op->len && !bftm_bytes_add(op, &count, sizeof(count))) ||
	    !bftm_bytes_add(op, &head, sizeof(head)) || !bftm_bytes_add(op, request, len)) {
		op->len = old.len;
		return -ENOMEM;
	}
	count = cpu_to_le32(n);
	memcpy(op->data, &count, sizeof(count));
	return 0;
}

bool bftm_batch_next(const u8 *op, u32 len, u32 *at, const u8 **ret, u32 *ret_len)
{
	u32 from = *at ?: sizeof(__le32), request;

	if (len < from || len - from < sizeof(__le32))
		return false;
	request = get_le32(op + from);
	from += sizeof(__le32);
	if (request > len - from)
		return false;
	*ret = op + from;
	*ret_len = request;
	*at = from + request;
	return true;
}

u32 bftm_batch_count(const u8 *op, u32 len)
{
	u32 count, at = 0, n = 0, request_len;
	const u8 *request;

	if (len < sizeof(__le32) || len > BFTM_OP_MAX)
		return 0;
	count = get_le32(op);
	while (n <= count && bftm_batch_next(op, len, &at, &request, &request_len))
		n++;
	if (n != count || at != len || RESPONSE_HEAD + n * ANSWER_HEAD > BFTM_OP_MAX)
		return 0;
	return count;
}

int bftm_answers(const u8 *response, u32 len, u64 *ret_version)
{
	u32 count, n, at = RESPONSE_HEAD, answer;
	__le64 version;

	if (len < RESPONSE_HEAD)
		return -EBADMSG;
	count = get_le32(response + sizeof(version)) & ((1u << COUNT_BITS) - 1);
	for (n = 0; n < count; n++) {
		if (len - at < ANSWER_HEAD)
			return -EBADMSG;
		answer = get_le32(response + at + 4);
		at += ANSWER_HEAD;
		if (answer > len - at)
			return -EBADMSG;
		at += answer;
	}
	if (at != len)
		return -EBADMSG;
	memcpy(&version, response, sizeof(version));
	*ret_version = le64_to_cpu(version);
	return (int)count;
}

u64 bftm_answers_number(const u8 *response)
{
	__le64 version;

	memcpy(&version, response, sizeof(version));
	return le64_to_cpu(version) * BFTM_NUMBERS +
	       (get_le32(response + sizeof(version)) >> COUNT_BITS);
}

void bftm_answer_get(const u8 *response, u32 i, struct bftm_object_answer *ret)
{
	const u8 *at = response + RESPONSE_HEAD;

	while (i--)
		at += ANSWER_HEAD + get_le32(at + 4);
	ret->status = get_le32(at);
	ret->len = get_le32(at + 4);
	ret->data = at + ANSWER_HEAD;
}

bool bftm_answers_begin(struct bftm_bytes *response, u64 version, u32 place, u32 count)
{
	__le64 le_version = cpu_to_le64(version);
	__le32 le_count = cpu_to_le32(place << COUNT_BITS | count);

	return bftm_bytes_add(response, &le_version, sizeof(le_version)) &&
	       bftm_bytes_add(response, &le_count, sizeof(le_count));
}

bool bftm_answer_add(struct bftm_bytes *response, u32 status, const u8 *data, u32 len)
{
	__le32 head[2] = { cpu_to_le32(status), cpu_to_le32(len) };

	return bftm_bytes_add(response, head, sizeof(head)) &&
	       bftm_bytes_add(response, data, len);
}

u32 bftm_answers_room(u32 count)
{
	return RESPONSE_HEAD + count * ANSWER_HEAD;
}
