// SPDX-License-Identifier: GPL-2.0
/*
 * Byzantine generals with oral messages, OM(f): Section 15.5.3 shows it for f = 1, Lamport et al.
 * for any f. Process 0 is the commander. In round r each lieutenant passes on what came in round
 * r - 1; after f + 1 rounds it takes the majority, level by level. A missing order and no majority
 * mean 0: retreat. It needs N > 3f.
 */
#include "algorithms.h"

#define ROUND_TICKS	(PEER_TRANSIT + 1)
#define GENERALS_MAX	8
#define BASE		(GENERALS_MAX + 1)
#define PATHS		(BASE * BASE * BASE)	/* up to four generals, the commander left out */

enum { ORDER };

static const char *const kinds[] = { "ORDER" };

/** struct generals - a lieutenant: by path, the commander left out, the order that came by it */
struct generals {
	u32 round;
	u8 value[PATHS];
};

static u32 path_index(const u8 *path, u32 length)
{
	u32 index = 0, i;

	for (i = 1; i < length; i++)
		index = index * BASE + path[i] + 1;
	return index;
}

static bool is_on(const u8 *path, u32 length, u32 id)
{
	return memchr(path, (int)id, length);
}

/* To all that the order has not passed through. */
static void pass_order(struct peer *p, const u8 *path, u32 length, u32 value)
{
	struct peer_note note = { .kind = ORDER, .length = (u8)(length + 1), .value = value };
	u32 to;

	memcpy(note.path, path, length);
	note.path[length] = (u8)p->id;
	for (to = 1; to < p->n; to++)
		if (!is_on(note.path, note.length, to))
			peer_tell(p, to, &note);
}

/* All paths of this length that do not have this lieutenant, below @path. */
static void pass_level(struct peer *p, u8 *path, u32 length, u32 wanted)
{
	const struct generals *s = p->state;
	u32 next;

	if (length == wanted) {
		pass_order(p, path, length, s->value[path_index(path, length)]);
		return;
	}
	for (next = 1; next < p->n; next++) {
		if (next == p->id || is_on(path, length, next))
			continue;
		path[length] = (u8)next;
		pass_level(p, path, length + 1, wanted);
	}
}

static u32 majority(const struct peer *p, u8 *path, u32 length)
{
	const struct generals *s = p->state;
	u32 votes = s->value[path_index(path, length)], count = 1, next;

	if (length == p->f + 1)
		return votes;
	for (next = 1; next < p->n; next++) {
		if (next == p->id || is_on(path, length, next))
			continue;
		path[length] = (u8)next;
		votes += majority(p, path, length + 1);
		count++;
	}
	return 2 * votes > count;
}

static void generals_propose(struct peer *p, u32 value)
{
	struct generals *s = p->state;

	s->round = 1;
	if (!p->id) {
		pass_order(p, (const u8 *)"", 0, value);
		peer_decide(p, value);
	} else {
		peer_wake_after(p, ROUND_TICKS);
	}
}

static void generals_hear(struct peer *p, u32 from, const struct peer_note *note)
{
	struct generals *s = p->state;

	(void)from;
	s->value[path_index(note->path, note->length)] = note->value & 1;
}

static void generals_wake(struct peer *p)
{
	struct generals *s = p->state;
	u8 path[PEER_PATH_MAX + 1] = { 0 };

	if (s->round > p->f) {
		peer_decide(p, majority(p, path, 1));
		return;
	}
	pass_level(p, path, 1, s->round++);
	peer_wake_after(p, ROUND_TICKS);
}

const struct peer_algorithm peer_generals = {
	.name = "generals", .section = "15.5.3", .kinds = kinds, .task = TASK_AGREEMENT,
	.assumes = ASSUME_ONCE | ASSUME_SYNC,
	.promises = RULE_TERMINATION | RULE_AGREEMENT | RULE_INTEGRITY,
	.servers = 1, .most = GENERALS_MAX, .size = sizeof(struct generals),
	.hear = generals_hear, .wake = generals_wake, .propose = generals_propose,
};
