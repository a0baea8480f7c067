// SPDX-License-Identifier: GPL-2.0
/*
 * Every message of the ordering protocol in every state of an object: what is
 * answered, what is committed and proposed after it, under which highest rank,
 * and how many operations wait.
 */
#include "order_object.h"

/* S reflects operation 1 of Alice, T is the next version, by Bob. */
static struct bftm_body *S, *T, *first, *second;

static void nothing(void) { }
static void forgot(void) { bftm_object_init(&obj, true); obj.pend = &waiting.list; }
static void forgot_and_told(void) { forgot(); get(5, ALICE); }
static void forgot_and_told_bob(void) { forgot_and_told(); get(9, BOB); }
static void got(void) { get(5, ALICE); }
static void got_by_bob(void) { get(9, BOB); }
static void proposed(void) { propose(5, ALICE, S); }
static void proposed_then_bob(void) { proposed(); get(9, BOB); }
static void committed(void) { commit(5, ALICE, S); }
static void next(void)
{
	struct bftm_order_msg req = {
		.type = BFTM_ORDER_COMMIT_GET, .client = ALICE, .rank = rank_of(5, ALICE),
		.then = rank_of(7, ALICE), .id = S->id,
	};

	step_at(LATER, req, S);
}

static void committed_then_bob(void) { committed(); propose(9, BOB, T); }
static void waits(void) { submit(ALICE, 1, first); }
static void newer_waits(void) { submit(ALICE, 2, second); }
static void committed_and_waits(void) { committed(); newer_waits(); }

/* States; the messages of the table below are Alice's, with rank 5, and 7 next, or none. */
static const struct {
	const char *what;
	void (*enter)(void);
	u64 now;
} states[] = {
	{ "nothing was before", nothing, 1 },
	{ "memory lost, in silence", forgot, QUIET },
	{ "memory lost", forgot, LATER },
	{ "memory lost and told", forgot_and_told, LATER },
	{ "memory lost and told, then Bob", forgot_and_told_bob, LATER },
	{ "she has got", got, LATER },
	{ "Bob has got", got_by_bob, LATER },
	{ "S is proposed", proposed, LATER },
	{ "S is proposed, Bob has got", proposed_then_bob, LATER },
	{ "S is committed", committed, LATER },
	{ "S is committed, T is proposed by Bob", committed_then_bob, LATER },
	{ "S is committed, and her next is got", next, LATER },
	{ "operation 1 waits", waits, LATER },
	{ "operation 2 waits", newer_waits, LATER },
	{ "S is committed, operation 2 waits", committed_and_waits, LATER },
};

static const struct {
	const char *what;
	u8 type;
	struct bftm_body **id, **body;
	u32 rank_client;
	u64 op;
} messages[] = {
	{ "SUBMIT 1", BFTM_ORDER_SUBMIT, &first, &first, 0, 1 },
	{ "SUBMIT 1 without body", BFTM_ORDER_SUBMIT, &first, NULL, 0, 1 },
	{ "SUBMIT 2", BFTM_ORDER_SUBMIT, &second, &second, 0, 2 },
	{ "GET", BFTM_ORDER_GET, NULL, NULL, ALICE, 0 },
	{ "GET with Bob's rank", BFTM_ORDER_GET, NULL, NULL, BOB, 0 },
	{ "PROPOSE S", BFTM_ORDER_PROPOSE, &S, &S, ALICE, 0 },
	{ "PROPOSE S without body", BFTM_ORDER_PROPOSE, &S, NULL, ALICE, 0 },
	{ "COMMIT S", BFTM_ORDER_COMMIT, &S, &S, ALICE, 0 },
	{ "COMMIT S without body", BFTM_ORDER_COMMIT, &S, NULL, ALICE, 0 },
	{ "COMMIT σ0", BFTM_ORDER_COMMIT, NULL, NULL, ALICE, 0 },
	{ "INSTALL S", BFTM_ORDER_INSTALL, &S, &S, ALICE, 0 },
	{ "INSTALL S without body", BFTM_ORDER_INSTALL, &S, NULL, ALICE, 0 },
	{ "COMMIT_GET S", BFTM_ORDER_COMMIT_GET, &S, &S, ALICE, 0 },
	{ "COMMIT_GET S without body", BFTM_ORDER_COMMIT_GET, &S, NULL, ALICE, 0 },
	{ "FETCH S", BFTM_ORDER_FETCH, &S, NULL, 0, 0 },
	{ "FETCH operation 1", BFTM_ORDER_FETCH, &first, NULL, 0, 0 },
};

/* The answer, "-" for silence; σc and σpc; highest rank; how many wait. */
static const char *const matrix[ARRAY_SIZE(states)][ARRAY_SIZE(messages)] = {
	{ /* nothing was before */
	  "PENDING 00 0 1", "NEEDBODY 00 0 0", "PENDING 00 0 1", "GOT 00 5A 0", "- 00 0 0",
	  "PROPOSED 0S 5A 0", "NEEDBODY 00 0 0", "COMMITTED SS 5A 0", "NEEDBODY 00 0 0",
	  "COMMITTED 00 5A 0", "- 00 0 0", "- 00 0 0", "COMMITTED_GOT SS 7A 0", "NEEDBODY 00 0 0",
	  "NOBODY 00 0 0", "NOBODY 00 0 0",
	},
	{ /* memory lost, in silence */
	  "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost",
	  "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost",
	  "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost",
	  "- 00 0 0 lost",
	},
	{ /* memory lost */
	  "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost", "RECOVERING 00 0 0 lost",
	  "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost",
	  "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost", "RECOVERING 00 0 0 lost",
	  "RECOVERING 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost",
	},
	{ /* memory lost and told */
	  "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost", "RECOVERING 00 0 0 lost",
	  "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost",
	  "- 00 0 0 lost", "INSTALLED SS 5A 0", "NEEDBODY 00 0 0 lost", "RECOVERING 00 0 0 lost",
	  "RECOVERING 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost",
	},
	{ /* memory lost and told, then Bob */
	  "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost",
	  "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost",
	  "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost", "- 00 0 0 lost",
	  "- 00 0 0 lost",
	},
	{ /* she has got */
	  "PENDING 00 5A 1", "NEEDBODY 00 5A 0", "PENDING 00 5A 1", "GOT 00 5A 0", "- 00 5A 0",
	  "PROPOSED 0S 5A 0", "NEEDBODY 00 5A 0", "COMMITTED SS 5A 0", "NEEDBODY 00 5A 0",
	  "COMMITTED 00 5A 0", "- 00 5A 0", "- 00 5A 0", "COMMITTED_GOT SS 7A 0",
	  "NEEDBODY 00 5A 0", "NOBODY 00 5A 0", "NOBODY 00 5A 0",
	},
	{ /* Bob has got */
	  "PENDING 00 9B 1", "NEEDBODY 00 9B 0", "PENDING 00 9B 1", "EXCEPTION 00 9B 0",
	  "- 00 9B 0", "EXCEPTION 00 9B 0", "EXCEPTION 00 9B 0", "EXCEPTION 00 9B 0",
	  "EXCEPTION 00 9B 0", "EXCEPTION 00 9B 0", "- 00 9B 0", "- 00 9B 0", "EXCEPTION 00 9B 0",
	  "EXCEPTION 00 9B 0", "NOBODY 00 9B 0", "NOBODY 00 9B 0",
	},
	{ /* S is proposed */
	  "PENDING 0S 5A 1", "NEEDBODY 0S 5A 0", "PENDING 0S 5A 1", "GOT 0S 5A 0", "- 0S 5A 0",
	  "PROPOSED 0S 5A 0", "PROPOSED 0S 5A 0", "COMMITTED SS 5A 0", "COMMITTED SS 5A 0",
	  "COMMITTED 00 5A 0", "- 0S 5A 0", "- 0S 5A 0", "COMMITTED_GOT SS 7A 0",
	  "COMMITTED_GOT SS 7A 0", "BODY 0S 5A 0", "NOBODY 0S 5A 0",
	},
	{ /* S is proposed, Bob has got */
	  "PENDING 0S 9B 1", "NEEDBODY 0S 9B 0", "PENDING 0S 9B 1", "EXCEPTION 0S 9B 0",
	  "- 0S 9B 0", "EXCEPTION 0S 9B 0", "EXCEPTION 0S 9B 0", "EXCEPTION 0S 9B 0",
	  "EXCEPTION 0S 9B 0", "EXCEPTION 0S 9B 0", "- 0S 9B 0", "- 0S 9B 0", "EXCEPTION 0S 9B 0",
	  "EXCEPTION 0S 9B 0", "BODY 0S 9B 0", "NOBODY 0S 9B 0",
	},
	{ /* S is committed */
	  "RESPONSE SS 5A 0", "RESPONSE SS 5A 0", "PENDING SS 5A 1", "GOT SS 5A 0", "- SS 5A 0",
	  "PROPOSED SS 5A 0", "PROPOSED SS 5A 0", "COMMITTED SS 5A 0", "COMMITTED SS 5A 0",
	  "COMMITTED 00 5A 0", "INSTALLED SS 5A 0", "INSTALLED SS 5A 0", "COMMITTED_GOT SS 7A 0",
	  "COMMITTED_GOT SS 7A 0", "BODY SS 5A 0", "NOBODY SS 5A 0",
	},
	{ /* S is committed, T is proposed by Bob */
	  "RESPONSE ST 9B 0", "RESPONSE ST 9B 0", "PENDING ST 9B 1", "EXCEPTION ST 9B 0",
	  "- ST 9B 0", "EXCEPTION ST 9B 0", "EXCEPTION ST 9B 0", "EXCEPTION ST 9B 0",
	  "EXCEPTION ST 9B 0", "EXCEPTION ST 9B 0", "INSTALLED ST 9B 0", "INSTALLED ST 9B 0",
	  "EXCEPTION ST 9B 0", "EXCEPTION ST 9B 0", "BODY ST 9B 0", "NOBODY ST 9B 0",
	},
	{ /* S is committed, and her next is got */
	  "RESPONSE SS 7A 0", "RESPONSE SS 7A 0", "PENDING SS 7A 1", "EXCEPTION SS 7A 0",
	  "- SS 7A 0", "EXCEPTION SS 7A 0", "EXCEPTION SS 7A 0", "EXCEPTION SS 7A 0",
	  "EXCEPTION SS 7A 0", "EXCEPTION SS 7A 0", "INSTALLED SS 7A 0", "INSTALLED SS 7A 0",
	  "COMMITTED_GOT SS 7A 0", "COMMITTED_GOT SS 7A 0", "BODY SS 7A 0", "NOBODY SS 7A 0",
	},
	{ /* operation 1 waits */
	  "PENDING 00 0 1", "PENDING 00 0 1", "PENDING 00 0 1", "GOT 00 5A 1", "- 00 0 1",
	  "PROPOSED 0S 5A 1", "NEEDBODY 00 0 1", "COMMITTED SS 5A 0", "NEEDBODY 00 0 1",
	  "COMMITTED 00 5A 1", "- 00 0 1", "- 00 0 1", "COMMITTED_GOT SS 7A 0", "NEEDBODY 00 0 1",
	  "NOBODY 00 0 1", "BODY 00 0 1",
	},
	{ /* operation 2 waits */
	  "- 00 0 1", "- 00 0 1", "PENDING 00 0 1", "GOT 00 5A 1", "- 00 0 1", "PROPOSED 0S 5A 1",
	  "NEEDBODY 00 0 1", "COMMITTED SS 5A 1", "NEEDBODY 00 0 1", "COMMITTED 00 5A 1",
	  "- 00 0 1", "- 00 0 1", "COMMITTED_GOT SS 7A 1", "NEEDBODY 00 0 1", "NOBODY 00 0 1",
	  "NOBODY 00 0 1",
	},
	{ /* S is committed, operation 2 waits */
	  "RESPONSE SS 5A 1", "RESPONSE SS 5A 1", "PENDING SS 5A 1", "GOT SS 5A 1", "- SS 5A 1",
	  "PROPOSED SS 5A 1", "PROPOSED SS 5A 1", "COMMITTED SS 5A 1", "COMMITTED SS 5A 1",
	  "COMMITTED 00 5A 1", "INSTALLED SS 5A 1", "INSTALLED SS 5A 1", "COMMITTED_GOT SS 7A 1",
	  "COMMITTED_GOT SS 7A 1", "BODY SS 5A 1", "NOBODY SS 5A 1",
	},
};

static const char *name_of(const struct bftm_body *state)
{
	return !state ? "0" : state == S ? "S" : state == T ? "T" : "?";
}

static void check(size_t s, size_t m)
{
	struct bftm_order_msg req = {
		.type = messages[m].type, .client = ALICE, .op = messages[m].op,
	};
	char said[64];
	u8 type;

	fresh_object(NULL);
	S = state_of(1, 1, "one");
	T = state_of(2, 1, "one");
	first = op_of(40);
	second = op_of(50);
	states[s].enter();
	if (messages[m].rank_client)
		req.rank = rank_of(5, messages[m].rank_client);
	if (req.type == BFTM_ORDER_COMMIT_GET)
		req.then = rank_of(7, ALICE);
	if (messages[m].id)
		req.id = (*messages[m].id)->id;
	type = step_at(states[s].now, req, messages[m].body ? *messages[m].body : NULL);
	snprintf(said, sizeof(said), "%s %s%s %llu%s %u%s",
		 type == BFTM_MSG_NONE ? "-" :
		 type == BFTM_MSG_REFUSED ? "REFUSED" : bftm_order_name(type),
		 name_of(obj.sc), name_of(obj.sp), (unsigned long long)obj.max.count,
		 obj.max.client == ALICE ? "A" : obj.max.client == BOB ? "B" : "",
		 waiting.list.count, obj.recovering ? " lost" : "");
	if (!matrix[s][m] || strcmp(said, matrix[s][m]))
		fail_msg("%s, %s: \"%s\" for \"%s\"", states[s].what, messages[m].what, said,
			 matrix[s][m] ?: "");
}

static void every_message_in_every_state(void **state)
{
	size_t s, m;

	(void)state;
	for (s = 0; s < ARRAY_SIZE(states); s++)
		for (m = 0; m < ARRAY_SIZE(messages); m++)
			check(s, m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_message_in_every_state),
	};

	return cmocka_run_group_tests_name("order_server_matrix", tests, NULL, NULL);
}
