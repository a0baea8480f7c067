// SPDX-License-Identifier: GPL-2.0
#include <time.h>

#include "crypto/digest.h"
#include "core/ordering/state.h"
#include "kfuzz.h"

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (u64)now.tv_sec * BFTM_NS_PER_SEC + (u64)now.tv_nsec;
}

u64 kfuzz_value(void)
{
	u8 byte = kfuzz_byte();

	switch (byte) {
	case V_NOW:
		return now_ns();
	case V_SOON:
		return now_ns() + 3 * BFTM_NS_PER_MS;
	case V_LATER:
		return now_ns() + 60 * BFTM_NS_PER_SEC;
	case V_ID:
		return kfuzz.id;
	case V_ID_BEFORE:
		return kfuzz.id_before;
	case V_EPOCH:
		return kfuzz.epoch;
	case V_GNO:
		return kfuzz.gno;
	case V_TOKEN:
		return kfuzz.token;
	case V_CHANGE:
		return kfuzz.change;
	case V_COUNTERS:
		return (uintptr_t)kfuzz.counters;
	case V_SOCKET:
		return (u64)kfuzz.socket;
	case V_SOCKET_V4:
		return (u64)kfuzz.socket_v4;
	case V_MS:
		return BFTM_NS_PER_MS;
	case V_10_MS:
		return 10 * BFTM_NS_PER_MS;
	case V_SEC:
		return BFTM_NS_PER_SEC;
	case V_HOUR:
		return BFTM_LEASE_MAX_NS;
	case V_DAY:
		return 24 * BFTM_LEASE_MAX_NS;
	case V_MAX:
		return ~0ull;
	case V_MAX_LESS:
		return ~0ull - 1;
	case V_HALF:
		return 1ull << 63;
	case V_I64:
		return (1ull << 63) - 1;
	case V_U32:
		return 1ull << 32;
	case V_LIAR:
		return KFUZZ_LIAR_PORT;
	case V_PORT:
		return BFTM_PORT_DEFAULT;
	case V_STATE_LEN:
		return kfuzz_body(2)->len;
	case V_LONG_LEN:
		return kfuzz_body(4)->len;
	case V_OP_1:
		return 1ull << 32 | 1;
	case V_OP_2:
		return 1ull << 32 | 2;
	case V_KIB:
		return 1024;
	case V_16_KIB:
		return BFTM_OP_MAX;
	case V_MIB:
		return BFTM_STATE_MAX;
	case V_16_MIB:
		return BFTM_OBJECT_MEMORY_MIN;
	case V_JOURNAL:
		return 77;
	}
	if (byte >= V_RAW)
		return fuzz_take(&kfuzz.in, 8);
	return byte - V_SMALL;
}

const u8 *kfuzz_bytes(size_t most, size_t *ret_len)
{
	const u8 *at = kfuzz.in.at;
	size_t len = most < kfuzz.in.left ? most : kfuzz.in.left;

	kfuzz.in.at += len;
	kfuzz.in.left -= len;
	*ret_len = len;
	return at;
}

/* Few, so that they meet. The second is the mutex of the first, as an object. */
u8 kfuzz_name(u8 ret[BFTM_NAME_LEN_MAX])
{
	static const struct {
		const char *name;
		u8 len;
	} names[] = {
		{ "a", 1 }, { "a\0", 2 }, { "lock", 4 }, { "object", 6 },
		{ "a name of sixty-four bytes, which is all that a lock's may have..", 64 },
		{ "a name of sixty-three bytes, which is what an object's may have", 63 },
	};
	u8 byte = kfuzz_byte();
	const u8 *raw;
	size_t len;

	memset(ret, 0, BFTM_NAME_LEN_MAX);
	if (byte < sizeof(names) / sizeof(names[0])) {
		memcpy(ret, names[byte].name, names[byte].len);
		return names[byte].len;
	}
	raw = kfuzz_bytes(byte % (BFTM_NAME_LEN_MAX + 1), &len);
	if (len)
		memcpy(ret, raw, len);
	return (u8)len;
}

static void describe(struct kfuzz_body *b, u64 version, u32 len)
{
	struct bftm_body_id id;

	if (!len || bftm_body_describe(version, b->data, len, &id))
		abort();
	b->version = version;
	b->len = len;
	memcpy(b->digest, id.digest, sizeof(b->digest));
}

/* A state that reflects the first operation of @clients clients. */
static void make_state(struct kfuzz_body *b, u64 version, u32 clients, u32 app_len)
{
	static const u8 response[] = "done", app[3500] = "counter";
	struct bftm_applied a[KFUZZ_CLIENTS];
	u32 i;

	for (i = 0; i < clients; i++)
		a[i] = (struct bftm_applied){
			.op = 1ull << 32 | 1,
			.client = i + 1,
			.len = sizeof(response) - 1,
			.response = response,
		};
	describe(b, version, bftm_state_make(NULL, version, a, clients, app, app_len, b->data,
					     sizeof(b->data)));
}

static void make_op(struct kfuzz_body *b, const char *text)
{
	memcpy(b->data, text, strlen(text));
	describe(b, 0, (u32)strlen(text));
}

const struct kfuzz_body *kfuzz_body(u8 n)
{
	static struct kfuzz_body body[KFUZZ_BODIES];

	if (!body[0].len) {
		make_op(&body[0], "add 1");
		make_op(&body[1], "get");
		make_state(&body[2], 1, 1, 8);
		make_state(&body[3], 2, 2, 8);
		make_state(&body[4], 3, 1, 3500);
	}
	return &body[n % KFUZZ_BODIES];
}
