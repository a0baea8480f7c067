// SPDX-License-Identifier: GPL-2.0
#include "order_iteration.h"

struct bftm_order_cfg order_cfg;
struct bftm_order o;
struct bftm_order_out order_out;
u64 now;

int fresh_iteration(void **state)
{
	(void)state;
	order_cfg = (struct bftm_order_cfg){
		.n = 7, .b = 1, .resend_ns = RESEND, .limit_ns = LIMIT,
	};
	memset(&o, 0, sizeof(o));
	o.rank.client = ME;
	o.rank.incarnation = 1;
	now = T0;
	return 0;
}

struct bftm_body_id state_id(u64 version, char letter)
{
	struct bftm_body_id id = { .version = version, .len = version ? 100 : 0 };

	id.digest[0] = (u8)letter;
	return id;
}

struct bftm_op op_id(u32 client, u64 op, char letter)
{
	struct bftm_op p = { .client = client, .op = op, .id = { .len = 10 } };

	p.id.digest[0] = (u8)letter;
	return p;
}

enum bftm_order_verdict begin(void)
{
	bftm_order_begin(&o, &order_cfg, false, now, &order_out);
	return order_out.verdict;
}

enum bftm_order_verdict answer(u32 u, struct bftm_order_msg msg)
{
	msg.rank = o.rank;
	msg.then = bftm_order_then(&o);
	bftm_order_answer(&o, &order_cfg, u, &msg, false, now, &order_out);
	return order_out.verdict;
}

enum bftm_order_verdict order_says(u32 u, u8 type)
{
	return answer(u, (struct bftm_order_msg){ .type = type });
}

enum bftm_order_verdict got(u32 u, struct told t)
{
	u8 data[BFTM_ORDER_ROOM_MAX];
	u32 i;

	for (i = 0; i < t.count; i++) {
		struct bftm_order_waiting p = {
			.client = cpu_to_le32(t.op[i].client), .op = cpu_to_le64(t.op[i].op),
			.len = cpu_to_le32(t.op[i].id.len),
		};

		memcpy(p.digest, t.op[i].id.digest, sizeof(p.digest));
		memcpy(data + i * sizeof(p), &p, sizeof(p));
	}
	return answer(u, (struct bftm_order_msg){
		.type = BFTM_ORDER_GOT, .id = t.sc, .sp = t.sp, .prop = t.prop,
		.pending = t.pending ?: t.count, .data = data,
		.data_len = (u16)(t.count * sizeof(struct bftm_order_waiting)),
	});
}

enum bftm_order_verdict got_one(u32 u, struct bftm_body_id s, u64 prop)
{
	return got(u, (struct told){ .sc = s, .sp = s, .prop = { prop, ME + 1, 1 } });
}

enum bftm_order_verdict says_exception(u32 u, struct bftm_rank max, bool genuine)
{
	struct bftm_order_msg msg = {
		.type = BFTM_ORDER_EXCEPTION, .rank = o.rank, .max = max,
	};

	bftm_order_answer(&o, &order_cfg, u, &msg, genuine, now, &order_out);
	return order_out.verdict;
}

enum bftm_order_verdict made(struct bftm_body_id id)
{
	bftm_order_made(&o, &order_cfg, &id, now, &order_out);
	return order_out.verdict;
}

enum bftm_order_verdict order_wake(u64 at)
{
	now = at;
	bftm_order_wake(&o, &order_cfg, now, &order_out);
	return order_out.verdict;
}

void order_time_out(void)
{
	while (order_wake(o.wake_ns) == BFTM_ORDER_ON)
		assert_int_not_equal(o.phase, BFTM_ORDER_IDLE);
	assert_int_equal(order_out.verdict, BFTM_ORDER_TIMEOUT);
}

void get_nothing(void)
{
	u32 u;

	begin();
	for (u = 0; u < bftm_order_quorum(order_cfg.n, order_cfg.b); u++)
		got_one(u, state_id(0, 0), 0);
	assert_int_equal(order_out.verdict, BFTM_ORDER_MAKE);
}

void reach(enum bftm_order_phase phase)
{
	u32 u, q = bftm_order_quorum(order_cfg.n, order_cfg.b);

	if (phase == BFTM_ORDER_GETTING) {
		begin();
		return;
	}
	get_nothing();
	if (phase >= BFTM_ORDER_PROPOSING)
		made(state_id(1, 'A'));
	for (u = 0; phase >= BFTM_ORDER_COMMITTING && u < q; u++)
		order_says(u, BFTM_ORDER_PROPOSED);
	assert_int_equal(o.phase, phase);
}
