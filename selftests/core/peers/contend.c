// SPDX-License-Identifier: GPL-2.0
/*
 * contend() of Chockler, Malkhi, Reiter: Backoff Protocols for Distributed Mutual Exclusion and
 * Ordering (2001), Figure 1, word by word. b = f servers may lie and may crash, of at least 5b + 1.
 * Nothing is given back: a lock is over when its time Δ is, which begins when contend() returns.
 *
 * With ASSUME_SYNC taken away two clients are inside: an answer that took longer than δ is of a
 * lease that is over by then. REPAIR_SEND lets Δ count from when the client asked.
 */
#include "algorithms.h"

#define DELAY PEER_TRANSIT	/* δ */
#define DOUBLINGS 10		/* of the longest sleep */

enum { TRY, FREE, LOCKED };

static const char *const kinds[] = { "TRY", "FREE", "LOCKED" };

/**
 * struct contend - a server, or a client
 * @granted_at: lastGranted, and 1, so that 0 is never
 * @sent_at:    when the round began
 * @retries:    s
 * @answered:   Q1
 */
struct contend {
	u64 granted_at, sent_at;
	bool is_asking;
	u32 number, retries, answered, locked;
};

/* Δ: the longest stay and, so that some of it is left when the answers are there, a round trip. */
static u64 lease(const struct peer *p)
{
	return p->hold + 2 * DELAY;
}

static void begin_round(struct peer *p)
{
	struct contend *s = p->state;

	s->is_asking = true;
	s->answered = s->locked = 0;
	s->number++;
	s->sent_at = peer_now(p);
	peer_send_servers(p, &(struct peer_note){ .kind = TRY, .number = s->number });
}

static void contend_want(struct peer *p)
{
	((struct contend *)p->state)->retries = 0;
	begin_round(p);
}

static void sleep_and_retry(struct peer *p)
{
	struct contend *s = p->state;
	u64 base = lease(p) + 4 * DELAY;

	s->retries += s->retries < DOUBLINGS;
	peer_wake_after(p, base + peer_random(p, (base << s->retries) - base + 1));
}

static void take_answer(struct peer *p, u32 from, const struct peer_note *note)
{
	struct contend *s = p->state;
	u32 quorum = (p->servers + 3 * p->f + 2) / 2;	/* ⌈(n + 3b + 1) / 2⌉ */
	bool is_over = peer_has(p, REPAIR_SEND) &&
		       peer_now(p) + p->hold > s->sent_at + lease(p);

	if (!s->is_asking || note->number != s->number)
		return;
	s->answered |= 1u << from;
	if (note->kind == LOCKED)
		s->locked |= 1u << from;
	if ((u32)__builtin_popcount(s->answered) < quorum)
		return;
	s->is_asking = false;
	if ((u32)__builtin_popcount(s->locked) <= p->f && !is_over)
		peer_enter(p);
	else
		sleep_and_retry(p);
}

static void contend_hear(struct peer *p, u32 from, const struct peer_note *note)
{
	struct contend *s = p->state;
	bool is_free = !s->granted_at || peer_now(p) + 1 - s->granted_at > lease(p) + 2 * DELAY;

	if (note->kind != TRY) {
		take_answer(p, from, note);
		return;
	}
	if (is_free)
		s->granted_at = peer_now(p) + 1;
	peer_tell(p, from, &(struct peer_note){
		.kind = is_free ? FREE : LOCKED, .number = note->number });
}

static void contend_leave(struct peer *p)
{
	(void)p;
}

static void contend_lie(struct peer *p, u32 from, const struct peer_note *note)
{
	peer_tell(p, from, &(struct peer_note){
		.kind = peer_random(p, 4) ? FREE : LOCKED, .number = note->number });
}

const struct peer_algorithm peer_contend = {
	.name = "contend", .section = "CMR:4", .kinds = kinds, .task = TASK_MUTEX, .servers = 6,
	.assumes = ASSUME_ONCE | ASSUME_SYNC | ASSUME_MEMORY, .repairs = REPAIR_SEND,
	.promises = RULE_ME1 | RULE_ME2, .size = sizeof(struct contend),
	.hear = contend_hear, .lie = contend_lie, .wake = begin_round, .want = contend_want,
	.leave = contend_leave,
};
