/* SPDX-License-Identifier: GPL-2.0 */
/* The objects, as models: one state that is changed and changed back. */
#ifndef BFTM_LIN_MODEL_H
#define BFTM_LIN_MODEL_H

#include "lin.h"

/** struct lin_text - bytes that were seen; equal ones have one number */
struct lin_text {
	u8 *data;
	u32 len;
	u64 hash;
};

/** struct lin_texts - all of them; number 0 is the empty one */
struct lin_texts {
	struct lin_text *text;
	u32 count;
	u32 *table;
	u32 size;
};

u32 lin_text(struct lin_texts *texts, const void *data, u32 len);

/** lin_mix() - 64 bits from 64 bits, one to one */
u64 lin_mix(u64 x);

enum lin_kind {
	LIN_CREATE,
	LIN_TYPE,
	LIN_BAD_REQUEST,
	LIN_READ,	/* get, read, peek */
	LIN_WRITE,	/* write, set, push, append */
	LIN_CAS,
	LIN_DELETE,	/* delete, pop */
	LIN_LEN,
	LIN_LIST,
	LIN_ADD,
};

/**
 * struct lin_call - an operation, understood
 * @pending: any answer is right
 * @key:     text, for a map
 * @value:   text that is written, looked for, or the type's name
 * @old:     text, for cas
 * @decides: it is a "decide": a cas from the empty text that answers what is there then
 * @answer:  text of the response
 * @a, @b:   numbers: what is added; FROM and COUNT
 * @zobrist: its share in the hash of a set of operations
 */
struct lin_call {
	const struct lin_op *op;
	enum lin_kind kind;
	bool pending;
	bool decides;
	u32 key;
	u32 value;
	u32 old;
	u32 answer;
	int64_t a;
	int64_t b;
	u64 zobrist;
};

/**
 * struct lin_undo - what a step did
 * @old: value of @key before; @what: how to change it back
 */
struct lin_undo {
	enum { LIN_NOTHING, LIN_CREATED, LIN_COUNTED, LIN_PUT, LIN_APPENDED, LIN_REMOVED,
	       LIN_CAME, LIN_WENT } what;
	u32 key;
	int64_t old;
};

#define LIN_ABSENT ((int64_t)-1)

/**
 * struct lin_state - of any object
 * @exists: it was created
 * @number: of a counter
 * @value:  of each key, by its text; LIN_ABSENT for none. A register is key 0
 * @list:   entries of a queue or log, from @head to @tail, as @by wrote them. Of
 *          lin_loose: all that ever came, and @head is how many went
 * @prefix: hash of @list up to each; @power: of its base
 * @hash:   of exists, number and values
 * @key:    texts that are keys, ascending; @keys of them
 */
struct lin_state {
	const struct lin_texts *texts;
	bool exists;
	int64_t number;
	int64_t *value;
	u32 *list;
	const struct lin_call **by;
	u64 *prefix;
	u64 *power;
	u32 head;
	u32 tail;
	u64 hash;
	u32 *key;
	u32 keys;
};

/**
 * struct lin_model - a type
 * @parse: understand words and numbers of a request; false: it is a bad one
 * @step:  apply it; false when the answer cannot be to it, and nothing changed
 */
struct lin_model {
	const char *name;
	bool (*parse)(struct lin_texts *texts, const char *word, const u8 *rest, u32 len,
		      struct lin_call *call);
	bool (*step)(struct lin_state *state, const struct lin_call *call, struct lin_undo *undo);
};

extern const struct lin_model lin_register, lin_counter, lin_map, lin_queue, lin_log;

/**
 * lin_loose - a queue whose entries are in no order but that of their invocations
 *
 * It explains more than a queue does, and has far fewer states: what it does not
 * explain no queue does. For texts that are pushed once only. @number counts what
 * unanswered pops took.
 */
extern const struct lin_model lin_loose;

const struct lin_model *lin_model_find(const char *name, size_t len);

/** lin_parse() - understand @call->op, as a request to an object of that type */
void lin_parse(const struct lin_model *model, struct lin_texts *texts, struct lin_call *call);

/** lin_step() - apply; false when the answer is wrong here, and nothing changed */
bool lin_step(const struct lin_model *model, struct lin_state *state,
	      const struct lin_call *call, struct lin_undo *undo);
void lin_step_back(struct lin_state *state, const struct lin_undo *undo);

/** lin_state_hash() - equal for equal states */
u64 lin_state_hash(const struct lin_state *state);

struct lin_state *lin_state_new(const struct lin_texts *texts, const struct lin_call *call,
				u32 calls, bool exists);
void lin_state_free(struct lin_state *state);

/* For models. */

/** lin_says() - did the answer have this status, and this text unless it is -1? */
bool lin_says(const struct lin_call *call, u32 status, int64_t text);
/** lin_says_number() - good, with this number */
bool lin_says_number(const struct lin_state *state, const struct lin_call *call, int64_t n);
/** lin_put() - give a key a value, or LIN_ABSENT */
void lin_put(struct lin_state *state, u32 key, int64_t value, struct lin_undo *undo);
/** lin_push(), lin_pop() - at the end of the list, from its front */
void lin_push(struct lin_state *state, const struct lin_call *call, struct lin_undo *undo);
void lin_pop(struct lin_state *state, struct lin_undo *undo);
/** lin_word() - cut the next word off; false: nothing is left */
bool lin_word(const u8 **rest, u32 *len, const u8 **ret, u32 *ret_len);
/** lin_number() - a decimal number of 64 bits */
bool lin_number(const u8 *text, u32 len, int64_t *ret);

/* window.c: what follows from answers alone */

/**
 * struct lin_window - when an operation was applied, as far as answers tell
 * @end_ns: at the latest; LIN_NEVER: perhaps not at all
 * @seen_from_ns, @seen_until_ns: what it pushed to a queue was popped after the one
 *          and before the other; 0 and LIN_NEVER when nothing is known, both
 *          LIN_NEVER: it never was
 * @pop:    the answered pop that took what it pushed, LIN_NOBODY when it is not known
 * @unseen: what it pushed to a queue was in no answer
 * @at:     where in a log reads show what it appended, -1 when they do not
 * @shown:  of the entry at this place of a log: some call's @at is here
 * @twin:   an older one that is the same request, when both may be without end;
 *          else LIN_NO_TWIN
 */
#define LIN_NO_TWIN UINT32_MAX
#define LIN_NOBODY UINT32_MAX

struct lin_window {
	u64 end_ns;
	u64 seen_from_ns;
	u64 seen_until_ns;
	u32 pop;
	bool unseen;
	int64_t at;
	bool shown;
	u32 twin;
};

/** lin_windows() - of all calls, whose @pending is set; to be freed */
struct lin_window *lin_windows(const struct lin_model *model, const struct lin_texts *texts,
			       const struct lin_call *call, u32 calls);

/* prune.c: what need not be tried, because something else is as good or nothing is */

/**
 * lin_turns_of_sums() - of a counter to which nothing negative is added, or of a log:
 * answers tell the sum, or length, before them, and those come in their order
 * @call: whose @pending is set
 * Return: NULL when it is no such one.
 */
struct lin_turns *lin_turns_of_sums(const struct lin_model *model,
				    const struct lin_texts *texts,
				    const struct lin_call *call, u32 calls);
/**
 * lin_turns_of_pops() - of a queue: what is popped first came into it first, if
 * versions are as pops claim
 * Return: NULL when it is none.
 */
struct lin_turns *lin_turns_of_pops(const struct lin_model *model,
				    const struct lin_window *window,
				    const struct lin_call *call, u32 calls);
void lin_turns_free(struct lin_turns *t);
/** lin_turn() - the least that has no place yet; INT64_MAX for none */
int64_t lin_turn(struct lin_turns *t, const bool *placed);
/** lin_turn_of() - of call @i; INT64_MIN when it has none */
int64_t lin_turn_of(const struct lin_turns *t, u32 i);
/** lin_turns_back() - call @i has no place any more */
void lin_turns_back(struct lin_turns *t, u32 i);

/**
 * struct lin_run - what was put last to a register or map, without an answer
 * @key: the last one's, its text and 1; 0 for nothing
 * @many: others' keys as well
 *
 * An operation that may come at any time, or never, can as well come just before somebody looks,
 * and need not come if nobody does. So after it comes who looks, or another such one; and only what
 * depends on the one before can follow it at the same key.
 */
struct lin_run {
	u32 key;
	bool many;
};

/**
 * lin_run_on() - may it come next?
 * @open: it has no answer, and may come at any time or never
 * Return: false when it need not be tried; else @run is what comes after it.
 */
bool lin_run_on(struct lin_run *run, const struct lin_model *model,
		const struct lin_call *call, bool open);
/**
 * lin_wants() - may @call's answer depend on just what @by makes?
 * @by: changes a register or a key of a map
 */
bool lin_wants(const struct lin_texts *texts, const struct lin_call *call,
	       const struct lin_call *by);
/** lin_run_hash() - equal for equal ones */
u64 lin_run_hash(const struct lin_run *run);

/* search.c */

/**
 * lin_search() - look for an order
 * @call:  by their invocation, ascending
 * @until: only what returned up to this time has to be explained, and only what was
 *         invoked up to it happened; answers that came later are not looked at
 * @steps: how many more are allowed; counted down
 * @order: NULL, or room for @calls numbers: the order that was found
 */
enum lin_verdict lin_search(const struct lin_model *model, const struct lin_texts *texts,
			    struct lin_call *call, u32 calls, bool exists, u64 until,
			    u64 *steps, u32 *order, u32 *ordered);

/* print.c */

/** lin_print() - why nothing explains what returned up to @until */
void lin_print(FILE *to, const char *object, const struct lin_model *model,
	       const struct lin_texts *texts, struct lin_call *call, u32 calls, bool exists,
	       u64 until);
void lin_print_text(FILE *to, const u8 *data, u32 len);

#endif /* BFTM_LIN_MODEL_H */
