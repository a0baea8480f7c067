/* SPDX-License-Identifier: GPL-2.0 */
/* bftmutexctl top: the data of its screen. */
#ifndef BFTM_CTL_TOP_H
#define BFTM_CTL_TOP_H

#include "ctl/ctl.h"

/**
 * struct top_look - the state at a moment; all members except @handles and @locks may be NULL
 * @at_ns:   the moment, on CLOCK_MONOTONIC
 * @error:   why bftmutexd did not answer, -errno, or 0
 * @servers: the daemon's answer to "servers"
 * @local:   counters of the locks of programs here
 * @server:  the server that runs here
 * @handles: array of the handles that hold or wait for locks here
 * @locks:   array of the locks in the server's table
 */
struct top_look {
	u64 at_ns;
	int error;
	struct json_object *servers;
	struct json_object *local;
	struct json_object *server;
	struct json_object *handles;
	struct json_object *locks;
};

/**
 * struct top_order - order of the tables, and first shown row
 * @by:      index of a key, see top_key()
 * @reverse: largest first
 * @first:   row
 */
struct top_order {
	unsigned int by;
	bool reverse;
	u32 first;
};

/* top_look.c */

/** top_look() - look now; 0, or -errno of the module; call top_forget() in any case */
int top_look(struct top_look *ret);
void top_forget(struct top_look *look);

/** top_key() - of a column by which tables are sorted; NULL beyond the last one */
const char *top_key(unsigned int by);

/** top_sort() - an array of rows; those without a value come last, and equal ones by their names */
void top_sort(struct json_object *rows, const struct top_order *order);

/**
 * top_rate() - growth of a counter in a second
 * @now:        object that has it now
 * @before:     the same at an earlier look, NULL for none
 * @key:        name of the counter
 * @elapsed_ns: time between the two looks, ns
 *
 * Return: the rate, or a negative number when it is not known: one of the objects lacks the
 * counter, or the counter was reset.
 */
double top_rate(struct json_object *now, struct json_object *before, const char *key,
		u64 elapsed_ns);

/** top_same() - the element of an array with the same member @key as @element; NULL for none */
struct json_object *top_same(struct json_object *array, struct json_object *element,
			     const char *key);

/* top_draw.c */

/** top_draw() - fill the screen; @before may be empty, all zero */
void top_draw(const struct top_look *now, const struct top_look *before,
	      const struct top_order *order);

#endif /* BFTM_CTL_TOP_H */
