/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The story of a scenario: one line for each event that matters, in words. It
 * is only written for somebody who reads it; the arguments of tell() are not
 * even looked at otherwise.
 */
#ifndef BFTM_SIM_STORY_H
#define BFTM_SIM_STORY_H

#include <stdio.h>

#include "world.h"

#define NO_LOCK ~0u

/** struct line - of the story */
struct line {
	u64 at;
	u32 lock;	/* it is about, or NO_LOCK */
	bool main;	/* wins, ends, faults: not just a datagram */
	char *text;
};

/**
 * struct story - all lines, or straight to a file
 * @out:  NULL to keep the lines
 */
struct story {
	FILE *out;
	struct line *line;
	size_t count, room;
};

__attribute__((format(printf, 5, 6)))
void story_add(struct world *w, u32 lock, bool is_main, u64 at, const char *format, ...);

/** tell() - a line about a lock; tell_more() - a less important one. */
#define tell(w, lock, ...) \
	do { if ((w)->story) story_add(w, lock, true, (w)->now, __VA_ARGS__); } while (0)
#define tell_at(w, lock, at, ...) \
	do { if ((w)->story) story_add(w, lock, true, at, __VA_ARGS__); } while (0)
#define tell_more(w, lock, ...) \
	do { if ((w)->story) story_add(w, lock, false, (w)->now, __VA_ARGS__); } while (0)

/** story_span() - a time such as "12.500 ms"; good for some calls. */
const char *story_span(u64 ns);
/** story_lock() - "A" … "Z", "L26" …; story_who() - "c1" and so on. */
const char *story_lock(u32 lock);
/** story_mode() - "PR" and so on */
const char *story_mode(enum bftm_mode mode);

/** story_number() - in decimal */
const char *story_number(u64 number);
/** story_servers() - "s1 s2 s5" */
const char *story_servers(const struct world *w, u32 mask);
/** story_attempt() - "#2.1" for the first attempt of the second incarnation. */
const char *story_attempt(const struct world *w, u64 attempt);

/** story_print_end() - what led to the violation, about @lock, shortened. */
void story_print_end(const struct story *s, const struct violation *failed, FILE *out);
void story_free(struct story *s);

#endif /* BFTM_SIM_STORY_H */
