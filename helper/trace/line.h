/* SPDX-License-Identifier: GPL-2.0 */
/* A line of a recording, whose fields are read one by one. */
#ifndef BFTM_TRACE_LINE_H
#define BFTM_TRACE_LINE_H

#include "trace/trace.h"

/**
 * struct trace_line - a line, and the first thing that is wrong with it
 * @object: the line
 * @key:    the field that is wrong; NULL: none
 * @must:   what the field must be; NULL: a number up to @max
 * @max:    see @must
 */
struct trace_line {
	struct json_object *object;
	const char *key, *must;
	u64 max;
};

/** trace_line_wrong() - note that field @key is wrong, unless one before it was */
void trace_line_wrong(struct trace_line *l, const char *key, const char *must);
/** trace_line_has() - is there a field @key that is not null? */
bool trace_line_has(const struct trace_line *l, const char *key);
/** trace_line_number() - a number of at most @max, or a string of its digits; @missing: none */
u64 trace_line_number(struct trace_line *l, const char *key, u64 max, u64 missing);
/**
 * trace_line_word() - the place of a word in a list
 * @l:       the line
 * @key:     the field
 * @list:    the words
 * @count:   number of these
 * @missing: is returned when there is no such field
 * @must:    what the field must be, in words
 * Return: the place of the word.
 */
u8 trace_line_word(struct trace_line *l, const char *key, const char *const *list, u8 count,
		   u8 missing, const char *must);

/* cluster.c */

/** trace_cluster_read() - a line that says what a cluster is like, instead of an event */
void trace_cluster_read(struct trace *t, struct trace_line *l);

#endif /* BFTM_TRACE_LINE_H */
