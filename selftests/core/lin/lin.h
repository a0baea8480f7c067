/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Were the answers of an object those of one object that does one request at a
 * time, each between its invocation and its return? Wing and Gong's search for
 * such an order, with Lowe's memory of what was tried (Testing for
 * linearizability, 2017). Models are written anew here, and share nothing with
 * the types of the daemon.
 *
 * lin.c keeps histories, search.c searches, window.c, prune.c and worth.c say what need
 * not be tried, model*.c are the objects, print.c is for people, main.c and json.c read files.
 */
#ifndef BFTM_LIN_H
#define BFTM_LIN_H

#include <stdio.h>

#include "core/types.h"

#define LIN_NEVER UINT64_MAX

/**
 * struct lin_op - a request and what was answered
 * @client, @process: whose, for people
 * @invoke_ns: not applied before
 * @return_ns: nor after; LIN_NEVER: no answer came, so it may have been applied at
 *             any time, or not
 * @version:   of the state that it made, 0 for unknown; tells where to look first
 *             and decides nothing
 * @status:    errno of the object, when there was an answer
 */
struct lin_op {
	u32 client;
	u64 process;
	u64 invoke_ns;
	u64 return_ns;
	u64 version;
	u32 status;
	u32 request_len;
	u32 response_len;
	const u8 *request;
	const u8 *response;
};

enum lin_verdict {
	LIN_GOOD,
	LIN_VIOLATED,
	LIN_UNDECIDED,	/* more steps than allowed */
	LIN_NO_MODEL,	/* what kind of object it is, is not said; or it was dumped, restored,
			 * deleted or changed by a txn, which no model knows
			 */
};

struct lin_history;

/** lin_new() - an empty history, of any number of objects */
struct lin_history *lin_new(void);
void lin_free(struct lin_history *history);

/** lin_add() - one more operation, copied; any order, but see lin_check() */
void lin_add(struct lin_history *history, const u8 *object, u32 len, const struct lin_op *op);

/** lin_model() - objects of which no "create" is told exist from the beginning. */
bool lin_model(struct lin_history *history, const char *type);

/**
 * lin_check() - is there an order for each object?
 * @steps: to search at most, for each object; 0 for a default
 * @to:    where a violation is told, and what is undecided; NULL for nowhere
 *
 * Operations that were refused whatever the state was (EIO, EMSGSIZE, EAGAIN,
 * ENOPKG, ENOMEM) say nothing and are left out.
 *
 * Return: the worst of all objects, in the order of the enumeration.
 */
enum lin_verdict lin_check(struct lin_history *history, u64 steps, FILE *to);

/** lin_count() - operations; *@objects gets how many objects they are of */
u32 lin_count(const struct lin_history *history, u32 *objects);

struct json_object;

/** lin_json() - the one value of a line; NULL: it is not JSON, or more than one value */
struct json_object *lin_json(const char *line);

#endif /* BFTM_LIN_H */
