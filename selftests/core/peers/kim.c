// SPDX-License-Identifier: GPL-2.0
/* The client of kim.h. */
#include "algorithms.h"
#include "kim.h"

static const char *const kinds[] = { "REQUEST", "OK", "CANCEL", "CANCELLED", "FINISHED", "RAISE" };

/* Q: as many as the paper says, from another one on for each client. */
static u32 choose(const struct peer *p)
{
	u32 size = (p->servers + 3 * p->f + 2) / 2, set = 0, i;	/* ⌈(n + 3f + 1) / 2⌉ */

	for (i = 0; i < size && i < p->servers; i++)
		set |= 1u << (p->id + i) % p->servers;
	return set;
}

static u32 count(u32 set)
{
	return (u32)__builtin_popcount(set);
}

static void tell_set(struct peer *p, u32 set, const struct peer_note *note)
{
	u32 to;

	for (to = 0; to < p->servers; to++)
		if (set >> to & 1)
			peer_tell(p, to, note);
}

static void kim_want(struct peer *p)
{
	struct kim *s = p->state;

	s->is_asking = true;
	s->has_right = false;
	s->number++;
	s->asked = choose(p);
	s->said = 0;
	memset(s->cancelled, 0, sizeof(s->cancelled));
	memset(s->granted, 0, sizeof(s->granted));
	tell_set(p, s->asked, &(struct peer_note){
		.kind = REQUEST, .number = s->number, .stamp = ++p->clock, .who = p->reads });
}

static void kim_leave(struct peer *p)
{
	struct kim *s = p->state;

	s->is_asking = false;
	tell_set(p, s->asked, &(struct peer_note){
		.kind = FINISHED, .number = s->number, .value = p->value,
		.stamp = s->stores && !p->reads ? s->time + 1 : 0 });
}

/* The servers whose OK has the value and the time that server @like told. */
static u32 who_said(const struct kim *s, u32 like)
{
	u32 set = 0, i;

	for (i = 0; i < KIM_SERVERS_MAX; i++)
		if (s->said >> i & 1 && s->values[i] == s->values[like] &&
		    s->times[i] == s->times[like])
			set |= 1u << i;
	return set;
}

/* Figure 2: conditions C1 and C2, from the newest value on. Return: one is read. */
static bool reads_value(struct peer *p)
{
	struct kim *s = p->state;
	u32 left = s->said, silent = count(s->asked & ~s->said), newest, i, set;

	while (left) {
		newest = (u32)__builtin_ctz(left);
		for (i = 0; i < p->servers; i++)
			if (left >> i & 1 && s->times[i] > s->times[newest])
				newest = i;
		set = who_said(s, newest);
		if (count(set) > p->f) {
			s->time = s->times[newest];
			peer_read(p, s->values[newest]);
			return true;
		}
		if (count(set) + silent > p->f)
			return false;
		left &= ~set;
	}
	return false;
}

static void take_ok(struct peer *p, u32 from, const struct peer_note *note)
{
	struct kim *s = p->state;

	if (peer_has(p, REPAIR_NUMBERS) && note->grant <= s->cancelled[from])
		return;
	s->said |= 1u << from;
	s->granted[from] = note->grant;
	s->values[from] = note->value;
	s->times[from] = note->stamp;
	if (count(s->said) < count(s->asked) - p->f)
		return;
	if (!s->stores || reads_value(p))
		peer_enter(p);
	else if (!s->has_right && peer_has(p, REPAIR_RAISE))
		tell_set(p, s->asked & ~s->said, &(struct peer_note){
			.kind = RAISE, .number = s->number, .who = p->reads });
	s->has_right = true;
}

static void take_cancel(struct peer *p, u32 from, const struct peer_note *note)
{
	struct kim *s = p->state;

	if (s->has_right && peer_has(p, REPAIR_INSIDE))
		return;
	/* Figure 1 sends it again with each FINISHED that it hears meanwhile. */
	if (peer_has(p, REPAIR_NUMBERS) &&
	    (note->grant <= s->cancelled[from] || note->grant < s->granted[from]))
		return;
	s->said &= ~(1u << from);
	s->cancelled[from] = note->grant;
	peer_tell(p, from, &(struct peer_note){
		.kind = CANCELLED, .number = note->number, .grant = note->grant });
}

static void kim_hear(struct peer *p, u32 from, const struct peer_note *note)
{
	struct kim *s = p->state;

	if (note->kind != OK && note->kind != CANCEL)
		kim_serve(p, from, note);
	else if (!s->is_asking || note->number != s->number)
		return;
	else if (note->kind == OK)
		take_ok(p, from, note);
	else
		take_cancel(p, from, note);
}

static void kim_storage_start(struct peer *p)
{
	((struct kim *)p->state)->stores = true;
}

const struct peer_algorithm peer_kim = {
	.name = "kim", .section = "KM:3", .kinds = kinds, .task = TASK_MUTEX, .servers = 4,
	.assumes = ASSUME_ONCE | ASSUME_NO_CRASH | ASSUME_MEMORY,
	.repairs = REPAIR_INSIDE | REPAIR_NUMBERS | REPAIR_OVER,
	.promises = RULE_ME1 | RULE_ME2, .size = sizeof(struct kim),
	.hear = kim_hear, .lie = kim_lie, .want = kim_want, .leave = kim_leave,
};

const struct peer_algorithm peer_kim_storage = {
	.name = "kim-storage", .section = "KM:4", .kinds = kinds, .task = TASK_MUTEX, .servers = 4,
	.assumes = ASSUME_ONCE | ASSUME_NO_CRASH | ASSUME_MEMORY,
	.repairs = REPAIR_INSIDE | REPAIR_NUMBERS | REPAIR_OVER | REPAIR_RAISE,
	.promises = RULE_ME1 | RULE_ME2 | RULE_VALUE, .size = sizeof(struct kim),
	.start = kim_storage_start, .hear = kim_hear, .lie = kim_lie, .want = kim_want,
	.leave = kim_leave,
};
