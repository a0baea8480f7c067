// SPDX-License-Identifier: GPL-2.0
#include "order_object.h"

const struct bftm_server_cfg server = { .quarantine_until_ns = QUIET };
struct bftm_object obj;
struct bftm_order_msg reply;
u8 reply_data[BFTM_ORDER_ROOM_MAX];
union order_pending waiting;
struct bftm_body bodies[64];
u8 bytes[64][2 * BFTM_OP_MAX];
static u32 made;

int fresh_object(void **state)
{
	(void)state;
	made = 0;
	bftm_object_init(&obj, false);
	waiting.list.count = 0;
	waiting.list.room = ROOM;
	obj.pend = &waiting.list;
	return 0;
}

struct bftm_body *op_of(u32 len)
{
	struct bftm_body *body = &bodies[made];
	u32 i;

	assert_in_range(made, 0, ARRAY_SIZE(bodies) - 1);
	for (i = 0; i < len; i++)
		bytes[made][i] = (u8)(made + i / 7);
	*body = (struct bftm_body){ .id.len = len, .data = bytes[made] };
	made++;
	body->id.digest[0] = (u8)made;
	return body;
}

struct bftm_body *state_with(u64 version, const struct bftm_applied *applied, u32 count)
{
	struct bftm_body *body = op_of(0);

	body->id.version = version;
	body->id.len = bftm_state_make(NULL, version, applied, count, (const u8 *)"app", 3,
				       (u8 *)body->data, sizeof(bytes[0]));
	assert_true(bftm_state_ok(body->data, body->id.len, version));
	return body;
}

struct bftm_body *state_of(u64 version, u64 op, const char *response)
{
	const struct bftm_applied a = {
		.client = ALICE, .op = op, .len = (u32)strlen(response),
		.response = (const u8 *)response,
	};

	return state_with(version, &a, 1);
}

u8 step_at(u64 now, struct bftm_order_msg req, struct bftm_body *body)
{
	if (!req.room)
		req.room = BFTM_ORDER_ROOM_MAX;
	memset(reply_data, 0x5a, sizeof(reply_data));
	bftm_order_step(&server, &obj, &req, body, now, reply_data, &reply);
	if (bftm_order_form(reply.type))
		assert_true(bftm_order_size(&reply) <= bftm_pad8(req.room));
	if (reply.type != BFTM_MSG_NONE) {
		assert_int_equal(reply.client, req.client);
		assert_int_equal(reply.op, req.op);
		if (reply.type != BFTM_ORDER_RECOVERING)
			assert_int_equal(bftm_rank_cmp(&reply.rank, &req.rank), 0);
		assert_int_equal(reply.room, req.room);
	}
	return reply.type;
}

u8 submit(u32 client, u64 op, struct bftm_body *body)
{
	struct bftm_order_msg req = { .type = BFTM_ORDER_SUBMIT, .client = client, .op = op };

	if (body)
		req.id = body->id;
	return step_at(LATER, req, body);
}

u8 get(u64 count, u32 client)
{
	return step_at(LATER, (struct bftm_order_msg){
		.type = BFTM_ORDER_GET, .client = client, .rank = rank_of(count, client),
	}, NULL);
}

u8 put_state(u8 type, u64 count, u32 client, struct bftm_body *state, bool brought)
{
	struct bftm_order_msg req = {
		.type = type, .client = client, .rank = rank_of(count, client),
	};

	if (state)
		req.id = state->id;
	return step_at(LATER, req, brought ? state : NULL);
}

u8 propose(u64 count, u32 client, struct bftm_body *state)
{
	return put_state(BFTM_ORDER_PROPOSE, count, client, state, true);
}

u8 commit(u64 count, u32 client, struct bftm_body *state)
{
	return put_state(BFTM_ORDER_COMMIT, count, client, state, true);
}

void assert_rank(struct bftm_rank r, u64 count, u32 client)
{
	assert_int_equal(r.count, count);
	assert_int_equal(r.client, client);
}
