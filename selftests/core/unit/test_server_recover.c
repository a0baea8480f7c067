// SPDX-License-Identifier: GPL-2.0
/*
 * RECOVER at a server that forgot its fencing tokens: from whom, when and how much it
 * takes. Servers and clients here are what they know of tokens, and no more.
 */
#include "unit.h"

#include <string.h>

#include "core/access.h"
#include "core/backoff/client.h"
#include "core/backoff/server.h"
#include "core/quorum.h"
#include "core/serve.h"

#define WALL	(1800000000ull * BFTM_NS_PER_SEC)
#define END	(50 * BFTM_NS_PER_SEC)	/* of the quarantine */
#define N	6			/* = 5b + 1 */
#define B	1
#define JOBS	50			/* the client that may take locks of one prefix */

#define ALL	.client_first = 1, .client_last = BFTM_CLIENT_ID_MAX
#define PREFIX(text) .prefix_len = sizeof(text) - 1, .prefix = text

/* Client 50 may have "jobs/…", others everything. */
static const struct bftm_rule rules[] = {
	{ .client_first = JOBS, .client_last = JOBS, PREFIX("jobs/") },
	{ .client_first = JOBS, .client_last = JOBS, .deny = true },
	{ ALL },
};

struct server {
	struct bftm_server_cfg cfg;
	struct bftm_tokens tokens;
	struct bftm_lock lock;		/* the one that client 2 wants */
	const struct bftm_rule *rule;
	u32 rules;
	u64 wall;
};

static struct bftm_msg reply;

static void start(struct server *s, u64 floor)
{
	*s = (struct server){
		.cfg = { .cluster = 1, .id = 1, .epoch = s->cfg.epoch + 1, .rho_ppm = 2000,
			 .lease_max_ns = 10 * BFTM_NS_PER_SEC, .quarantine_until_ns = END,
			 .waiters_max = 8 },
		.tokens.floor = floor, .rule = rules, .rules = ARRAY_SIZE(rules), .wall = WALL,
	};
	bftm_lock_init(&s->lock, 0, floor);
}

static bool shell_permit(void *arg, const struct bftm_msg *req, struct bftm_server_cfg *cfg,
			 struct bftm_msg *answer)
{
	struct server *s = arg;

	return bftm_access_admit(s->rule, s->rules, req, cfg, answer);
}

static void shell_tokens(void *arg, const struct bftm_msg *req, u64 now, struct bftm_msg *answer)
{
	struct server *s = arg;

	bftm_tokens_answer(&s->tokens, &s->cfg, req, now, s->wall, answer);
}

static bool shell_may_be_stamped(void *arg, const struct bftm_msg *req, u64 now)
{
	struct server *s = arg;

	return bftm_tokens_may_be(&s->tokens, req->token, s->wall, now);
}

static bool shell_enter(void *arg, const struct bftm_protocol *protocol,
			const struct bftm_msg *req, bool make, u64 *now, void **ret)
{
	struct server *s = arg;

	(void)protocol, (void)req, (void)make, (void)now;
	*ret = &s->lock;
	return true;
}

static void shell_leave(void *arg, const struct bftm_protocol *protocol, void *lock,
			const struct bftm_msg *req, u64 now, const struct bftm_sends *sends)
{
	struct server *s = arg;

	(void)protocol, (void)lock, (void)req, (void)now;
	if (sends->reply.type == BFTM_MSG_SACK)
		bftm_tokens_stamped(&s->tokens, sends->reply.gno);
}

static const struct bftm_shell shell = {
	.permit = shell_permit,
	.tokens = shell_tokens,
	.may_be_stamped = shell_may_be_stamped,
	.enter = shell_enter,
	.leave = shell_leave,
};

/* Return: the answer's type. */
static u8 hears(struct server *s, struct bftm_msg req, u64 now)
{
	struct bftm_sends sends;

	req.proto = BFTM_PROTO_BACKOFF;
	req.cluster = s->cfg.cluster;
	req.server = s->cfg.id;
	req.mode = BFTM_MODE_EX;
	assert_int_equal(bftm_serve(&shell, s, &s->cfg, &req, now, &sends), BFTM_SERVED);
	reply = sends.reply;
	return reply.type;
}

static u8 told(struct server *s, u32 client, u64 token, u64 now)
{
	return hears(s, (struct bftm_msg){ .type = BFTM_MSG_RECOVER, .client = client,
					   .server_epoch = s->cfg.epoch, .token = token }, now);
}

/* An honest helper's work for a server: ask the others, when it may, and tell. */
static bool recovers(struct server *cluster, u32 u, u64 now)
{
	const struct bftm_client_cfg cfg = { .n = N, .b = B };
	u64 top[N] = {}, floor;
	u32 i, known = 0;

	for (i = 0; i < N; i++) {
		hears(&cluster[i], (struct bftm_msg){ .type = BFTM_MSG_HELLO, .client = 2 }, now);
		if (i == u || reply.token == BFTM_TOKEN_UNKNOWN)
			continue;
		top[i] = reply.token;
		known++;
	}
	return bftm_recovered_token(&cfg, top, known, &floor) &&
	       told(&cluster[u], 2, floor, now) == BFTM_MSG_CHALLENGE &&
	       reply.token == floor;
}

/* Return: the token that client 2 is fenced with, 0 for none: as fence.c, without a network. */
static u64 fenced(struct server *cluster, u64 attempt, u32 silent, u64 now)
{
	u64 hi[N] = {}, token;
	u32 u, stamps = 0;

	for (u = 0; u < N; u++) {
		bftm_lock_learn(&cluster[u].lock, cluster[u].tokens.floor);
		if (u != silent && cluster[u].lock.hi != BFTM_TOKEN_UNKNOWN)
			hi[u] = cluster[u].lock.hi;	/* as FREE says it */
	}
	token = bftm_kth_largest(hi, N, B + 1) + 1;
	for (u = 0; u < N; u++)
		stamps += u != silent &&
			  hears(&cluster[u],
				(struct bftm_msg){ .type = BFTM_MSG_STAMP, .client = 2,
						   .attempt = attempt, .token = token,
						   .server_epoch = cluster[u].cfg.epoch,
						   .name_len = 1, .name = "a" },
				now) == BFTM_MSG_SACK;
	return stamps >= bftm_fence_quorum(N, B) ? token : 0;
}

static void all_start(struct server *cluster)
{
	u32 u;

	for (u = 0; u < N; u++) {
		cluster[u].cfg.epoch = 0;
		start(&cluster[u], 0);
	}
	for (u = 1; u <= 6; u++)
		assert_int_equal(fenced(cluster, u, N, END + u), u);
}

/* One after the other is restarted, and client 50 is the first to say something. */
static void a_client_of_one_prefix_lowers_nothing(void **state)
{
	struct server cluster[N];
	u32 u;

	(void)state;
	all_start(cluster);
	for (u = 0; u < N; u++) {
		start(&cluster[u], BFTM_TOKEN_UNKNOWN);
		assert_int_equal(told(&cluster[u], JOBS, 0, END - 1), BFTM_MSG_REFUSED);
		assert_int_equal(reply.arg, BFTM_REFUSED_ACCESS);
		assert_int_equal(told(&cluster[u], JOBS, 0, END + 100), BFTM_MSG_REFUSED);
		assert_true(recovers(cluster, u, END + 101));
	}
	assert_int_equal(fenced(cluster, 7, N, END + 200), 7);
}

/* All servers are up and honest, and so with one that is silent. */
static void no_client_uses_up_all_tokens(void **state)
{
	static const u64 much[] = {
		WALL + 1, 1ull << 62, BFTM_TOKEN_FLOOR_MAX, BFTM_TOKEN_FLOOR_MAX + 1, ~0ull - 1,
	};
	struct server cluster[N];
	size_t i;
	u32 u;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(much); i++) {
		all_start(cluster);
		for (u = 0; u <= B; u++) {
			start(&cluster[u], BFTM_TOKEN_UNKNOWN);
			assert_int_equal(told(&cluster[u], 3, much[i], END - 1),
					 BFTM_MSG_CHALLENGE);
			assert_int_equal(reply.token, BFTM_TOKEN_UNKNOWN);
			assert_int_equal(told(&cluster[u], 3, much[i], END + 1),
					 BFTM_MSG_REFUSED);
			assert_int_equal(reply.arg, BFTM_REFUSED_CLOCK);
			assert_true(recovers(cluster, u, END + 2));
		}
		assert_int_equal(fenced(cluster, 7, u + 1, END + 3), 7);
	}
}

/* As far as the clock allows they jump, and go on from there. */
static void tokens_jump_to_the_clock_and_go_on(void **state)
{
	struct server cluster[N];
	u32 u;

	(void)state;
	all_start(cluster);
	for (u = 0; u <= B; u++) {
		start(&cluster[u], BFTM_TOKEN_UNKNOWN);
		assert_int_equal(told(&cluster[u], 3, WALL, END + 1), BFTM_MSG_CHALLENGE);
		assert_int_equal(reply.token, WALL);
	}
	assert_int_equal(fenced(cluster, 7, N, END + 2), 0);	/* for the others' clocks */
	for (u = 0; u < N; u++)
		cluster[u].wall += BFTM_NS_PER_SEC;
	/* Two have stamped WALL + 1 by now. */
	assert_int_equal(fenced(cluster, 8, N, END + 2), WALL + 2);
	assert_int_equal(fenced(cluster, 9, N, END + 3), WALL + 3);
}

/* It refuses, and takes it when the clock is right. */
static void a_clock_of_1970_learns_nothing(void **state)
{
	struct server cluster[N];

	(void)state;
	all_start(cluster);
	start(&cluster[2], BFTM_TOKEN_UNKNOWN);
	cluster[2].wall = 5;
	assert_false(recovers(cluster, 2, END + 1));
	assert_int_equal(reply.type, BFTM_MSG_REFUSED);
	assert_int_equal(reply.arg, BFTM_REFUSED_CLOCK);
	assert_int_equal(cluster[2].tokens.floor, BFTM_TOKEN_UNKNOWN);
	assert_int_equal(fenced(cluster, 7, N, END + 2), 7);	/* by the five others */
	cluster[2].wall = 7;
	assert_true(recovers(cluster, 2, END + 3));
}

/* The judge's own word for it: may this client take each lock there is? */
static bool may_take_all(const struct bftm_rule *rule, u32 count, u32 client)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (client < rule[i].client_first || client > rule[i].client_last)
			continue;
		if (rule[i].deny)
			return false;
		if (!rule[i].prefix_len)
			return true;
	}
	return !count;
}

/* Each combination of rules, time, start, knowledge and token. */
static void what_is_taken(void **state)
{
	static const struct bftm_rule one[] = {
		{ .client_first = 7, .client_last = 7 },
		{ .client_first = 7, .client_last = 9, .deny = true },
		{ .client_first = 7, .client_last = 7, PREFIX("jobs/") },
		{ .client_first = 1, .client_last = 7, PREFIX("jobs/"), .deny = true },
		{ .client_first = 8, .client_last = 9 },
		{ .client_first = 1, .client_last = 6, .deny = true },
	};
	static const u64 token[] = {
		0, 1, WALL - 1, WALL, WALL + 1, BFTM_TOKEN_FLOOR_MAX, BFTM_TOKEN_FLOOR_MAX + 1,
		BFTM_TOKEN_UNKNOWN,
	};
	static const u64 when[] = { END - 1, END, END + 1 };
	static const u64 floor[] = { BFTM_TOKEN_UNKNOWN, 0, 4 };
	static const u64 wall[] = { 0, WALL };
	u32 lists = 0, taken = 0, i, x;
	struct bftm_rule rule[3];

	(void)state;
	/* 0 … 3 rules: digits to base 7, 6 for none. */
	for (i = 0; i < 343; i++) {
		const u32 digit[] = { i / 49, i / 7 % 7, i % 7 };
		u32 count = 0, d;

		for (d = 0; d < 3; d++)
			if (digit[d] < 6)
				rule[count++] = one[digit[d]];
		lists++;
		for (x = 0; x < 2 * 3 * ARRAY_SIZE(token) * ARRAY_SIZE(when) * ARRAY_SIZE(floor); x++) {
			u32 c = x % 2, e = x / 2 % 3, t = x / 6 % ARRAY_SIZE(token);
			u32 at = x / 6 / ARRAY_SIZE(token) % ARRAY_SIZE(when);
			u32 f = x / 6 / ARRAY_SIZE(token) / ARRAY_SIZE(when);
			struct server s = { .cfg.epoch = 8 };
			bool right = may_take_all(rule, count, 7), take;
			struct bftm_msg m = {
				.type = BFTM_MSG_RECOVER, .client = 7, .token = token[t],
			};

			start(&s, floor[f]);
			s.wall = wall[c];
			s.rule = rule;
			s.rules = count;
			m.server_epoch = e == 2 ? 0 : s.cfg.epoch ^ e;
			hears(&s, m, when[at]);
			take = right && !e && floor[f] == BFTM_TOKEN_UNKNOWN &&
			       when[at] > END && token[t] <= wall[c];
			assert_int_equal(s.tokens.floor, take ? token[t] : floor[f]);
			taken += take;
			if (!e && !right) {
				assert_int_equal(reply.type, BFTM_MSG_REFUSED);
				assert_int_equal(reply.arg, BFTM_REFUSED_ACCESS);
			} else if (reply.type == BFTM_MSG_REFUSED) {
				assert_true(!e && when[at] > END && token[t] > wall[c] &&
					    floor[f] == BFTM_TOKEN_UNKNOWN);
				assert_int_equal(reply.arg, BFTM_REFUSED_CLOCK);
			} else {
				assert_int_equal(reply.type, BFTM_MSG_CHALLENGE);
				assert_int_equal(reply.token, s.tokens.floor);
			}
		}
	}
	assert_true(lists == 343 && taken > 100);
}

/* The first word counts, and what is stamped since. */
static void the_first_word_counts(void **state)
{
	struct server s = {};
	u64 token;

	(void)state;
	start(&s, BFTM_TOKEN_UNKNOWN);
	assert_int_equal(bftm_tokens_top(&s.tokens), BFTM_TOKEN_UNKNOWN);
	assert_int_equal(told(&s, 2, 40, END + 1), BFTM_MSG_CHALLENGE);
	assert_int_equal(reply.token, 40);
	for (token = 0; token < 100; token += 30) {
		assert_int_equal(told(&s, 2, token, END + 1), BFTM_MSG_CHALLENGE);
		assert_int_equal(reply.token, 40);
	}
	bftm_tokens_stamped(&s.tokens, 39);
	assert_int_equal(bftm_tokens_top(&s.tokens), 40);
	bftm_tokens_stamped(&s.tokens, 41);
	assert_int_equal(bftm_tokens_top(&s.tokens), 41);
	bftm_tokens_stamped(&s.tokens, 4);
	hears(&s, (struct bftm_msg){ .type = BFTM_MSG_HELLO, .client = 2 }, END + 2);
	assert_int_equal(reply.token, 41);
}

/* An answer that is no CHALLENGE is left alone. */
static void refusals_say_nothing_of_tokens(void **state)
{
	struct bftm_tokens t = { .floor = BFTM_TOKEN_UNKNOWN };
	struct server s = {};
	struct bftm_msg req = {
		.type = BFTM_MSG_TRY, .proto = 9, .token = 5, .server_epoch = 1,
	};

	(void)state;
	start(&s, BFTM_TOKEN_UNKNOWN);
	assert_true(bftm_admit(&s.cfg, &req, END + 1, &reply));
	bftm_refuse(&req, &reply, BFTM_REFUSED_PROTO);
	bftm_tokens_answer(&t, &s.cfg, &req, END + 1, WALL, &reply);
	assert_int_equal(reply.token, 0);
	assert_int_equal(t.floor, BFTM_TOKEN_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_word_counts),
		cmocka_unit_test(what_is_taken),
		cmocka_unit_test(a_client_of_one_prefix_lowers_nothing),
		cmocka_unit_test(no_client_uses_up_all_tokens),
		cmocka_unit_test(tokens_jump_to_the_clock_and_go_on),
		cmocka_unit_test(a_clock_of_1970_learns_nothing),
		cmocka_unit_test(refusals_say_nothing_of_tokens),
	};

	return cmocka_run_group_tests_name("server recovery", tests, NULL, NULL);
}
