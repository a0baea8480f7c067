// SPDX-License-Identifier: GPL-2.0
/*
 * The ordering client's core under any answers at any time. The oracle: it makes
 * a state of one that b + 1 servers say they have, and of operations that b + 1
 * tell of; it is done when q have said COMMITTED after q said PROPOSED after q
 * said GOT, all to this rank and state; or q have said COMMITTED_GOT, and then their words
 * are those of the next iteration; it is outranked by b + 1, or by one with
 * a signature; ranks and what is completed only grow. The messages that it asks to be
 * sent are bounded. And the vote: b + 1 that say the same.
 */
#include "core/ordering/client.h"
#include "core/quorum.h"
#include "core/servers.h"
#include "fuzz.h"

#define ME	3

/** struct oracle - who has said what to the iteration that is under way */
struct oracle {
	struct bftm_rank rank, then;
	u32 got, proposed, committed, excepted, recovering, recovering_then;
	u32 refusal[BFTM_SERVERS_MAX];
	bool genuine;
	u32 sends;
	struct bftm_body_id sc[BFTM_SERVERS_MAX], sp[BFTM_SERVERS_MAX];
	u64 completed;
};

static struct oracle seen;
static struct bftm_order order;
static struct bftm_order_cfg cfg;

static struct bftm_body_id read_id(struct fuzz_bytes *in)
{
	u64 bits = fuzz_take(in, 1);
	struct bftm_body_id id = { .version = bits & 7, .digest = { (u8)(bits >> 3 & 3) } };

	if (bits >> 5 == 7)
		id.version = ~0ull - id.version;
	if (bits >> 5 == 6)
		id = order.next;
	return id;
}

/* A list of operations, and how many there are said to be. */
static void read_waiting(struct fuzz_bytes *in, struct bftm_order_msg *got, u8 *ret)
{
	u32 count = (u32)fuzz_take(in, 1) % (BFTM_ORDER_NEXT_WAITING_MAX + 1), i;

	got->pending = (u32)fuzz_take(in, 1) << 24 | count;
	for (i = 0; i < count; i++) {
		u64 bits = fuzz_take(in, 1);
		struct bftm_order_waiting w = {
			.client = cpu_to_le32(bits & 7), .op = cpu_to_le64(bits >> 3 & 3),
			.len = cpu_to_le32(bits >> 5 & 1), .digest = { (u8)(bits >> 6) },
		};

		memcpy(ret + i * sizeof(w), &w, sizeof(w));
	}
	got->data_len = (u16)(count * sizeof(struct bftm_order_waiting));
}

static void read_got(struct fuzz_bytes *in, struct bftm_order_msg *got, u8 *data)
{
	got->prop.count = fuzz_take(in, 1);
	got->prop.client = fuzz_take(in, 1) & 3;
	got->sp = read_id(in);
	read_waiting(in, got, data);
}

static void read_exception(struct fuzz_bytes *in, struct bftm_order_msg *e)
{
	u64 bits = fuzz_take(in, 1);

	e->max = (struct bftm_rank){
		order.rank.count + (bits & 15) - 4, ME + (u32)(bits >> 4 & 3) - 1,
		(u32)(bits >> 6),
	};
}

/* Before the core sees it, and only what fits the phase. */
static void note(u32 u, const struct bftm_order_msg *msg)
{
	bool fits = order.phase == BFTM_ORDER_COMMITTING &&
		    msg->type == (order.then ? BFTM_ORDER_COMMITTED_GOT : BFTM_ORDER_COMMITTED);
	u32 bit = 1u << u;

	if (msg->type == BFTM_ORDER_RECOVERING && order.then &&
	    !bftm_rank_cmp(&msg->rank, &seen.then))
		seen.recovering_then |= bit;
	if (bftm_rank_cmp(&msg->rank, &seen.rank))
		return;
	if (msg->type == BFTM_ORDER_GOT && order.phase == BFTM_ORDER_GETTING &&
	    !(seen.got & bit)) {
		seen.got |= bit;
		seen.sc[u] = msg->id;
		seen.sp[u] = msg->sp;
	}
	if (msg->type == BFTM_ORDER_RECOVERING)
		seen.recovering |= bit;
	if (msg->type == BFTM_ORDER_PROPOSED && order.phase == BFTM_ORDER_PROPOSING)
		seen.proposed |= bit;
	if (fits && (!order.then || !bftm_rank_cmp(&msg->then, &seen.then)))
		seen.committed |= bit;
}

static void note_exception(u32 u, const struct bftm_order_msg *msg, bool genuine)
{
	if (bftm_rank_cmp(&msg->rank, &seen.rank) || bftm_rank_cmp(&msg->max, &seen.rank) <= 0 ||
	    msg->max.count > BFTM_RANK_COUNT_MAX)
		return;
	seen.excepted |= 1u << u;
	seen.genuine |= genuine && cfg.signed_ranks;
}

static u32 have(const struct bftm_body_id *id)
{
	u32 u, sum = 0;

	for (u = 0; u < cfg.n; u++)
		sum += seen.got >> u & 1 && (bftm_body_same(&seen.sc[u], id) ||
					     bftm_body_same(&seen.sp[u], id));
	return sum;
}

static void check_ops(void)
{
	struct bftm_op ops[9];
	u32 holders[9], count, i;

	count = bftm_order_ops(&order, &cfg, ops, holders, 9);
	for (i = 0; i < count; i++) {
		must(!i || ops[i - 1].client < ops[i].client);
		must(bftm_count(holders[i]) > cfg.b && !(holders[i] & ~seen.got));
	}
	must(count <= 8);
}

static void check_make(void)
{
	must(order.phase == BFTM_ORDER_MAKING);
	must(bftm_count(seen.got) >= bftm_order_quorum(cfg.n, cfg.b));
	must(have(&order.base) > cfg.b && bftm_count(order.holders) == have(&order.base));
	if (order.applies || (order.refresh && order.base.version == order.completed))
		must(order.base.version == order.completed);
	else
		must(order.base.version > order.completed);
	check_ops();
}

/* The same servers, with what they were told is committed, have answered the next get. */
static void check_next(void)
{
	struct oracle next = {
		.rank = seen.then, .got = seen.committed, .recovering = seen.recovering_then,
		.completed = seen.completed,
	};
	u32 u;

	must(!bftm_rank_cmp(&order.rank, &seen.then) && !order.then);
	must(bftm_count(seen.proposed) >= bftm_order_quorum(cfg.n, cfg.b));
	for (u = 0; u < cfg.n; u++)
		next.sc[u] = next.sp[u] = order.next;
	seen = next;
	check_make();
	must(order.applies && bftm_body_same(&order.base, &order.next));
}

static u32 refused_for(u32 reason)
{
	u32 u, servers = 0;

	for (u = 0; u < cfg.n; u++)
		servers += seen.refusal[u] == reason;
	return servers;
}

static void check(const struct bftm_order_out *out, u64 now)
{
	u32 q = bftm_order_quorum(cfg.n, cfg.b);

	must(!(out->to & ~bftm_all(cfg.n)) && (out->send || !out->to));
	must(!out->send || order.phase != BFTM_ORDER_IDLE);
	must(order.phase == BFTM_ORDER_IDLE ? !order.wake_ns : order.wake_ns > 0);
	must(order.completed >= seen.completed);
	seen.completed = order.completed;
	switch (out->verdict) {
	case BFTM_ORDER_ON:
		break;
	case BFTM_ORDER_MAKE:
		check_make();
		break;
	case BFTM_ORDER_DONE:
		must(bftm_count(seen.proposed) >= q && bftm_count(seen.committed) >= q);
		must(order.completed >= order.next.version);
		break;
	case BFTM_ORDER_DONE_MAKE:
		check_next();
		break;
	case BFTM_ORDER_OUTRANKED:
		must(seen.genuine || bftm_count(seen.excepted) > cfg.b);
		break;
	case BFTM_ORDER_DENIED:
		must(out->refusal && refused_for(out->refusal) > cfg.b);
		break;
	case BFTM_ORDER_TIMEOUT:
		must(now >= order.begun_ns + cfg.resend_ns);
		break;
	case BFTM_ORDER_UNSURE:
		must(bftm_count(seen.got) >= q);
	}
	if (out->verdict > BFTM_ORDER_DONE_MAKE)
		must(order.phase == BFTM_ORDER_IDLE && !out->send);
	must(order.phase < BFTM_ORDER_COMMITTING || bftm_count(seen.proposed) >= q);
	if (order.then) {
		must(order.phase == BFTM_ORDER_COMMITTING);
		must(!seen.then.count || seen.then.count == order.then);
		must(order.then > order.rank.count);
		/* None recovered at first: those that do have said so to the get of the next rank. */
		must(!(order.recovering & ~seen.recovering_then));
		seen.then = bftm_order_then(&order);
		must(!out->send || out->send == BFTM_ORDER_COMMIT_GET);
	}
	must(order.phase != BFTM_ORDER_INSTALLING || !(order.recovering & ~seen.recovering));
	/* Repeats, and a body for each server in each of three phases. */
	seen.sends += !!out->send;
	must(seen.sends <= 3 * BFTM_ORDER_SENDS + BFTM_INSTALL_SENDS + 4 * cfg.n);
}

static void act_begin(struct fuzz_bytes *in, u64 now, struct bftm_order_out *out)
{
	u64 bits = fuzz_take(in, 1);
	bool refresh = bits % 16 == 0;
	struct bftm_rank last = order.rank;
	u64 completed = seen.completed;

	bftm_order_begin(&order, &cfg, refresh, now, out);
	must(bftm_rank_cmp(&order.rank, &last) > 0 && bftm_rank_cmp(&order.rank, &seen.rank) > 0);
	must(bftm_rank_cmp(&order.rank, &seen.then) > 0);
	order.more = bits & 16;
	must(order.phase == BFTM_ORDER_GETTING && out->to == bftm_all(cfg.n));
	seen = (struct oracle){ .rank = order.rank, .completed = refresh ? 0 : completed };
}

static void act_answer(struct fuzz_bytes *in, u32 u, u64 now, struct bftm_order_out *out)
{
	static const u8 expected[] = {
		[BFTM_ORDER_GETTING] = BFTM_ORDER_GOT,
		[BFTM_ORDER_PROPOSING] = BFTM_ORDER_PROPOSED,
		[BFTM_ORDER_COMMITTING] = BFTM_ORDER_COMMITTED,
		[BFTM_ORDER_INSTALLING] = BFTM_ORDER_INSTALLED,
	};
	struct bftm_rank then = bftm_order_then(&order);
	u64 bits = fuzz_take(in, 1);
	struct bftm_order_msg msg = {
		.type = BFTM_ORDER_RESPONSE + (u8)(bits & 15), .rank = order.rank, .then = then,
	};
	u8 data[BFTM_ORDER_ROOM_MAX], *exact;

	msg.rank.count -= bits >> 7;
	if (bits & 16)
		msg.type = order.then ? BFTM_ORDER_COMMITTED_GOT : expected[order.phase];
	if (bits & 64 && order.then) {
		msg.then.count++;
		if (msg.type == BFTM_ORDER_RECOVERING)
			msg.rank = then;
	}
	msg.id = read_id(in);
	if (msg.type == BFTM_ORDER_EXCEPTION)
		read_exception(in, &msg);
	else
		read_got(in, &msg, data);
	if (bits & 64 && msg.type != BFTM_ORDER_GOT)
		msg.data_len = (u16)(fuzz_take(in, 1) % (msg.data_len + 1));
	note(u, &msg);
	if (msg.type == BFTM_ORDER_EXCEPTION)
		note_exception(u, &msg, bits & 32);
	/* Just as many bytes, so that reading more is found. */
	exact = malloc(msg.data_len ?: 1);
	if (!exact)
		abort();
	memcpy(exact, data, msg.data_len);
	msg.data = exact;
	bftm_order_answer(&order, &cfg, u, &msg, bits & 32, now, out);
	free(exact);
}

static void act_made(struct fuzz_bytes *in, u64 now, struct bftm_order_out *out)
{
	struct bftm_body_id id = order.base;

	if (order.phase == BFTM_ORDER_MAKING && order.applies) {
		id.version++;
		id.digest[0] = (u8)fuzz_take(in, 1);
	}
	bftm_order_made(&order, &cfg, &id, now, out);
}

static void act(struct fuzz_bytes *in, u64 *now)
{
	u8 what = (u8)fuzz_take(in, 1);
	u32 u = (u32)(what >> 3) % cfg.n;
	struct bftm_order_out out = {};

	*now += fuzz_take(in, 1);
	switch (what % 8) {
	case 0:
		if (order.phase == BFTM_ORDER_IDLE || what > 200)
			act_begin(in, *now, &out);
		break;
	case 1:
		if (order.wake_ns > *now)
			*now = order.wake_ns;
		bftm_order_wake(&order, &cfg, *now, &out);
		/* Nothing may be due again at once, or a shell would spin. */
		must(!order.wake_ns || order.wake_ns > *now);
		break;
	case 2:
		act_made(in, *now, &out);
		break;
	case 3:
		if (what > 200) {
			bftm_order_unmade(&order);
			break;
		}
		seen.refusal[u] = what;
		bftm_order_refused(&order, &cfg, u, what, *now, &out);
		break;
	default:
		act_answer(in, u, *now, &out);
	}
	check(&out, *now);
}

/* The other core: it counts what servers say of a response. */
static void vote(struct fuzz_bytes *in)
{
	static struct bftm_vote v;
	u8 said[BFTM_SERVERS_MAX] = {}, text[4];
	u32 i, same, u;
	int who;

	memset(&v, 0x5a, sizeof(v));
	bftm_vote_begin(&v, 5, 0);
	while (in->left) {
		u64 bits = fuzz_take(in, 2);
		struct bftm_order_msg msg = {
			.type = BFTM_ORDER_RESPONSE, .op = bits & 8 ? 5 : 6, .id.len = 1,
			.data = text, .data_len = 1 + (bits & 1),
		};

		u = (u32)(bits >> 4) % cfg.n;
		memset(text, 1 + (bits >> 1 & 1), sizeof(text));
		who = bftm_vote_count(&v, &cfg, u, &msg);
		must(who < 0 || ((u32)who == u && msg.op == 5));
		if (msg.op != 5)
			continue;
		said[u] = (u8)(4 | (bits & 3));
		for (i = 0, same = 0; i < cfg.n; i++)
			same += said[i] == said[u];
		must((who >= 0) == (same > cfg.b));
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct fuzz_bytes in = { data, len };
	u64 now = 1000, bits = fuzz_take(&in, 1);

	cfg = (struct bftm_order_cfg){
		.b = (u32)(bits & 7) % 4, .signed_ranks = bits >> 3 & 1, .resend_ns = 16,
		.limit_ns = 2000,
	};
	cfg.n = bftm_servers_needed_order(cfg.b, true) + (u32)fuzz_take(&in, 1) % 5;
	memset(&order, 0, sizeof(order));
	memset(&seen, 0, sizeof(seen));
	order.rank = (struct bftm_rank){ 0, ME, 1 };
	if (bits >> 5 == 7)
		vote(&in);
	while (in.left)
		act(&in, &now);
	return 0;
}
