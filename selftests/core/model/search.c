// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "search.h"
#include "store.h"

static double clock_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/** struct explorer - the visitor that collects */
struct explorer {
	struct visitor visitor;
	const struct system *sys;
	struct store store;
	struct found *found;
	u32 parent;
	u32 bad;		/* number of the violating world */
};

static void collect(struct visitor *v, const struct event *e, const void *world)
{
	struct explorer *x = (struct explorer *)v;
	u8 packed[PACKED_MAX];

	if (x->found->wrong)
		return;
	x->found->moves += e != NULL;
	x->found->wins += e && e->won;
	x->sys->pack(world, packed);
	if (!store_add(&x->store, packed, x->parent, &x->found->full))
		return;
	x->found->wrong = x->sys->wrong(world);
	if (x->found->wrong)
		x->bad = x->store.count - 1;
}

/*
 * struct stepper - the visitor that finds one move again: by its number, or by
 * what it leads to. The store holds worlds whose names were exchanged; a story
 * needs one name for one thing, so its worlds are stepped through once more.
 */
struct stepper {
	struct visitor visitor;
	const struct system *sys;
	const u8 *wanted;	/* packed, NULL to go by @choice */
	u32 choice, seen;
	bool done, has_event;
	struct event event;
	u64 world[WORLD_MAX / sizeof(u64)];
};

static void pick(struct visitor *v, const struct event *e, const void *world)
{
	struct stepper *s = (struct stepper *)v;
	u8 packed[PACKED_MAX];
	u32 number = s->seen++;

	if (s->done)
		return;
	if (s->wanted) {
		s->sys->pack(world, packed);
		if (memcmp(packed, s->wanted, s->sys->packed))
			return;
		s->choice = number;
	} else if (number != s->choice) {
		return;
	}
	s->done = true;
	s->has_event = e != NULL;
	if (e)
		s->event = *e;
	memcpy(s->world, world, s->sys->size);
}

/* One step of a story, told. @world is where it begins and then where it led. */
static u32 step(const struct system *sys, void *world, bool first,
		const u8 *wanted, u32 choice)
{
	struct stepper s = {
		.visitor.see = pick, .sys = sys, .wanted = wanted, .choice = choice,
	};

	if (first)
		sys->starts(&s.visitor);
	else
		sys->moves(world, &s.visitor);
	if (!s.done)
		errx(2, "there is no choice %u here", choice);
	sys->tell(first ? NULL : world, s.has_event ? &s.event : NULL, s.world);
	memcpy(world, s.world, sys->size);
	return s.choice;
}

static void tell_story(const struct explorer *x, const char *command)
{
	u32 *path = NULL, length = 0, number, i;
	u64 world[WORLD_MAX / sizeof(u64)];

	for (number = x->bad; number != STORE_NONE; number = x->store.parent[number]) {
		path = reallocarray(path, length + 1, sizeof(*path));
		if (!path)
			err(2, "no memory");
		path[length++] = number;
	}
	for (i = 0; i < length; i++) {
		const u8 *wanted = store_get(&x->store, path[length - 1 - i]);

		path[length - 1 - i] = step(x->sys, world, !i, wanted, 0);
	}
	printf("VIOLATION: %s\n", x->sys->wrong(world));
	printf("repeat: %s --replay ", command);
	for (i = 0; i < length; i++)
		printf("%s%u", i ? "." : "", path[length - 1 - i]);
	printf("\n");
	free(path);
}

void search(const struct system *sys, u64 memory, const char *command,
	    struct found *ret)
{
	struct explorer x = {
		.visitor.see = collect, .sys = sys, .found = ret,
		.parent = STORE_NONE,
	};
	u64 world[WORLD_MAX / sizeof(u64)];
	double start = clock_seconds();
	u32 next, level_end;

	memset(ret, 0, sizeof(*ret));
	if (sys->size > sizeof(world) || sys->packed > PACKED_MAX)
		errx(2, "a world is larger than WORLD_MAX or PACKED_MAX");
	store_init(&x.store, sys->packed, memory);
	sys->starts(&x.visitor);
	/* In order of number is breadth first. */
	level_end = x.store.count;
	for (next = 0; next < x.store.count && !ret->wrong && !ret->full; next++) {
		if (next == level_end) {
			ret->depth++;
			level_end = x.store.count;
		}
		x.parent = next;
		sys->unpack(store_get(&x.store, next), world);
		sys->moves(world, &x.visitor);
	}
	ret->states = x.store.count;
	ret->bytes = store_bytes(&x.store);
	ret->seconds = clock_seconds() - start;
	if (ret->wrong)
		tell_story(&x, command);
	store_exit(&x.store);
}

static const char *replayed(const struct system *sys, const char *choices)
{
	u64 world[WORLD_MAX / sizeof(u64)];
	bool first = true;
	char *end;

	do {
		u32 choice = (u32)strtoul(choices, &end, 10);

		if (end == choices || (*end && *end != '.'))
			errx(2, "choices are numbers with dots between them");
		step(sys, world, first, NULL, choice);
		first = false;
		choices = end + 1;
	} while (*end);
	/* cppcheck-suppress returnDanglingLifetime; it is a literal that says what is wrong */
	return sys->wrong(world);
}

int replay(const struct system *sys, const char *choices)
{
	const char *wrong = replayed(sys, choices);

	printf("%s\n", wrong ? wrong : "nothing is wrong");
	return wrong ? 1 : 0;
}

int search_report(const struct found *f)
{
	printf("result: %s, %llu states, %llu transitions, depth %u, %llu wins, %.1f s, %llu MiB\n",
	       f->wrong ? "violation" : f->full ? "incomplete" : "complete",
	       (unsigned long long)f->states, (unsigned long long)f->moves, f->depth,
	       (unsigned long long)f->wins, f->seconds, (unsigned long long)(f->bytes >> 20));
	return f->wrong ? 1 : f->full ? 3 : 0;
}
