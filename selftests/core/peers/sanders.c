// SPDX-License-Identifier: GPL-2.0
/* The candidate of sanders.h. */
#include "algorithms.h"
#include "sanders.h"

static const char *const kinds[] = { "REQUEST", "VOTE", "RELEASE", "INQUIRE", "YIELD", "FAIL" };

/* The candidate gives back the votes of these voters. */
static void give_back(struct peer *p, u64 voters)
{
	struct sanders *s = p->state;
	u32 to;

	for (to = 0; to < p->n; to++) {
		if (!(voters >> to & 1))
			continue;
		s->yielded[to] = s->granted[to];
		s->votes &= ~(1ull << to);
		s->failed |= 1ull << to;
		peer_tell(p, to, &(struct peer_note){
			.kind = YIELD, .number = s->number, .grant = s->granted[to] });
	}
	s->asked &= ~voters;
}

static void take_vote(struct peer *p, u32 from, u32 grant)
{
	struct sanders *s = p->state;

	if (peer_has(p, REPAIR_NUMBERS) && grant <= s->yielded[from])
		return;
	s->votes |= 1ull << from;
	s->failed &= ~(1ull << from);
	if (s->votes != voting_set(p))
		return;
	s->is_inside = true;
	peer_enter(p);
}

static void take_answer(struct peer *p, u32 from, const struct peer_note *note)
{
	struct sanders *s = p->state;

	if (!s->wants || s->is_inside || note->number != s->number)
		return;
	if (note->kind == VOTE) {
		take_vote(p, from, note->grant);
	} else if (note->kind == INQUIRE) {
		s->granted[from] = note->grant;
		s->asked |= 1ull << from;
		if (s->at_once || s->failed)
			give_back(p, 1ull << from);
	} else {
		s->failed |= 1ull << from;
		give_back(p, s->asked);
	}
}

static void sanders_hear(struct peer *p, u32 from, const struct peer_note *note)
{
	if (note->kind == REQUEST)
		voter_request(p, &(struct ballot){ from, note->number, note->stamp });
	else if (note->kind == RELEASE)
		voter_release(p, from, note->number);
	else if (note->kind == YIELD)
		voter_yield(p, from, note);
	else
		take_answer(p, from, note);
}

/* It votes for everybody. */
static void sanders_lie(struct peer *p, u32 from, const struct peer_note *note)
{
	struct sanders *s = p->state;

	if (note->kind == REQUEST)
		peer_tell(p, from, &(struct peer_note){
			.kind = VOTE, .number = note->number, .grant = ++s->grant });
}

static void sanders_want(struct peer *p)
{
	struct sanders *s = p->state;

	s->wants = true;
	s->number++;
	s->stamp = ++p->clock;
	s->votes = s->asked = s->failed = 0;
	memset(s->yielded, 0, sizeof(s->yielded));
	voting_send(p, &(struct peer_note){
		.kind = REQUEST, .number = s->number, .stamp = s->stamp });
}

static void sanders_leave(struct peer *p)
{
	struct sanders *s = p->state;

	s->wants = s->is_inside = false;
	voting_send(p, &(struct peer_note){ .kind = RELEASE, .number = s->number });
}

static void sanders_start(struct peer *p)
{
	((struct sanders *)p->state)->at_once = true;
}

const struct peer_algorithm peer_sanders = {
	.name = "sanders", .section = "15.2.1", .kinds = kinds, .task = TASK_MUTEX,
	.assumes = ASSUME_ONCE | ASSUME_NO_CRASH | ASSUME_HONEST, .repairs = REPAIR_LC2 | REPAIR_NUMBERS,
	.promises = RULE_ME1 | RULE_ME2, .size = sizeof(struct sanders), .start = sanders_start,
	.hear = sanders_hear, .lie = sanders_lie, .want = sanders_want, .leave = sanders_leave,
};

const struct peer_algorithm peer_inquire = {
	.name = "inquire", .section = "15.2.1", .kinds = kinds, .task = TASK_MUTEX,
	.assumes = ASSUME_ONCE | ASSUME_NO_CRASH | ASSUME_HONEST,
	.repairs = REPAIR_LC2 | REPAIR_NUMBERS | REPAIR_FAIL,
	.promises = RULE_ME1 | RULE_ME2, .size = sizeof(struct sanders),
	.hear = sanders_hear, .lie = sanders_lie, .want = sanders_want, .leave = sanders_leave,
};
