/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replicated objects: what the ordering thread does with the operations that it
 * applies (line 2.22). A type is a pure function on bytes; this part, which is
 * the same for all types, knows how requests are packed into operations, which
 * of them a state reflects, and what fits. No globals, no clock, no I/O but by
 * struct bftm_object_exec: linked by the daemon, the simulator and unit tests.
 *
 * Application part of a state: name of the type, a zero byte, then what the type
 * keeps. No bytes at all: the object does not exist.
 */
#ifndef BFTM_OBJECT_H
#define BFTM_OBJECT_H

#include "core/limits.h"
#include "core/types.h"
#include "uapi/linux/bftmutex.h"
#include "config/builtin.h"

#define BFTM_MAP_KEY_MAX	255	/* bytes of a key of a map */

/* Bytes of an answer to "dump", and of a state in a "restore": with what goes before it. */
#define BFTM_DUMP_MAX		16000u

/* Words of a type's answer to a bad request are at most this long. */
#define BFTM_OBJECT_WORDS_MAX	256

/** struct bftm_bytes - bytes that grow; all zero is empty */
struct bftm_bytes {
	u8 *data;
	u32 len;
	u32 size;
};

/**
 * bftm_bytes_add() - append @data, or @len bytes to be written when it is NULL
 * Return: false when there is no memory; then nothing has changed.
 */
bool bftm_bytes_add(struct bftm_bytes *bytes, const void *data, u32 len);
/** bftm_bytes_free() - empty again */
void bftm_bytes_free(struct bftm_bytes *bytes);

/* Operations and responses as servers store them: batch.c */

/**
 * bftm_batch_add() - pack one more request into an operation
 * @op: its body, empty for a new one
 *
 * Return: 0; -EMSGSIZE when it or its bare status does not fit BFTM_OP_MAX any
 * more, -ENOMEM; then nothing has changed.
 */
int bftm_batch_add(struct bftm_bytes *op, const void *request, u32 len);

/**
 * bftm_batch_count() - how many requests a body holds
 * Return: 0 when it is none, or one that no response would fit.
 */
u32 bftm_batch_count(const u8 *op, u32 len);

/** bftm_batch_next() - the next request; *@at is 0 at first. False at the end. */
bool bftm_batch_next(const u8 *op, u32 len, u32 *at, const u8 **ret, u32 *ret_len);

/**
 * struct bftm_object_answer - what became of one request
 * @status: errno of the object, 0 for good
 */
struct bftm_object_answer {
	u32 status;
	u32 len;
	const u8 *data;
};

/**
 * bftm_answers() - look into the body of a response
 * @ret_version: of the state that the operation made
 * Return: how many answers it holds; -EBADMSG when it is no such body.
 */
int bftm_answers(const u8 *response, u32 len, u64 *ret_version);

/**
 * bftm_answers_number() - number of the first request of a response, which bftm_answers()
 * took; those behind it have the next ones
 *
 * Numbers grow from request to request of an object, in the order in which they were done,
 * and are the same whoever computes or reads them: BFTM_NUMBERS times the version that did
 * it, and how many requests that version did before it.
 */
u64 bftm_answers_number(const u8 *response);

/** bftm_answer_get() - the one to request @i (from 0), of those there are. */
void bftm_answer_get(const u8 *response, u32 i, struct bftm_object_answer *ret);

/* The other way round, for object.c: false when there is no memory. */
bool bftm_answers_begin(struct bftm_bytes *response, u64 version, u32 place, u32 count);
bool bftm_answer_add(struct bftm_bytes *response, u32 status, const u8 *data, u32 len);
/** bftm_answers_room() - bytes of a response with so many bare statuses */
u32 bftm_answers_room(u32 count);

/* A type */

/**
 * struct bftm_object_call - one request to one object
 * @word:     its first word, @word_len bytes
 * @rest:     what follows the space after it, @rest_len bytes; NULL when there
 *            is no such space
 * @state:    what the type keeps, @state_len bytes
 * @response: what the answer is so far; empty at first
 * Others are the generic part's.
 */
struct bftm_object_call {
	const u8 *word;
	u32 word_len;
	const u8 *rest;
	u32 rest_len;
	const u8 *state;
	u32 state_len;
	struct bftm_bytes response;
	/* private */
	struct bftm_bytes *app;
	u32 state_at;		/* of @app: where @state begins */
	u32 answer_room;	/* for @response */
	u32 room;		/* for @app and @response */
	u32 spare;		/* of @room, when @app grows */
	bool replaced;
};

/**
 * struct bftm_object_type - a type of objects
 * @type:     which one it is, see bftm_builtin_name
 * @requests: that it knows, for people: "add N, get"
 * @init:     what a new object keeps, @init_len bytes
 * @apply:    do one request. First whatever is to be said, by bftm_respond();
 *            then, at most once and last, bftm_replace(). Any bytes may come as
 *            state: EBADMSG when they are not the type's. Return: status; the
 *            state is unchanged unless 0
 */
struct bftm_object_type {
	enum bftm_builtin type;
	const char *requests;
	const u8 *init;
	u32 init_len;
	u32 (*apply)(struct bftm_object_call *call);
};

extern const struct bftm_object_type bftm_object_register;
extern const struct bftm_object_type bftm_object_counter;
extern const struct bftm_object_type bftm_object_map;
extern const struct bftm_object_type bftm_object_queue;
extern const struct bftm_object_type bftm_object_log;

/** bftm_object_builtin() - a type by its name, NULL for none */
const struct bftm_object_type *bftm_object_builtin(const char *name);

/** enum bftm_object_kind - of an object, by the application part of its state */
enum bftm_object_kind {
	BFTM_OBJECT_NONE,	/* it does not exist, or nothing is known of it */
	BFTM_OBJECT_BUILTIN,
	BFTM_OBJECT_PROGRAM,	/* its type is a program, whether it is configured here or not */
};

enum bftm_object_kind bftm_object_kind(const u8 *app, u32 len);

/** bftm_is() - is the request's first word this one? */
bool bftm_is(const struct bftm_object_call *call, const char *word);

/**
 * bftm_next_word() - take the next argument, up to a space, from @call->rest
 * Return: false when there is none.
 */
bool bftm_next_word(struct bftm_object_call *call, const u8 **ret, u32 *ret_len);

/** bftm_read_number() - "-12", "7": a decimal number of 64 bits. False: none. */
bool bftm_read_number(const u8 *text, u32 len, int64_t *ret);

/** bftm_respond() - append to the answer. 0, EMSGSIZE or ENOMEM. */
u32 bftm_respond(struct bftm_object_call *call, const void *data, u32 len);

/**
 * bftm_replace() - change the state: put @add bytes in the place of @remove
 * @at:  from here on, of what the type keeps
 * @ret: where to write the new bytes; untouched on failure
 * Return: 0; EMSGSIZE when the state would become too large, ENOMEM.
 */
u32 bftm_replace(struct bftm_object_call *call, u32 at, u32 remove, u32 add, u8 **ret);

/** bftm_bad_request() - answer with words; returns EINVAL */
__attribute__((format(printf, 2, 3)))
u32 bftm_bad_request(struct bftm_object_call *call, const char *format, ...);

/** bftm_unknown_request() - likewise: none of @type's requests */
u32 bftm_unknown_request(struct bftm_object_call *call, const struct bftm_object_type *type);

/* Programs as types: exec.c in the daemon, nothing elsewhere */

struct bftm_object_run;

/**
 * struct bftm_object_exec - how programs are run
 * @knows:  is one configured for this type?
 * @start:  run it for one request; @done is called later, never from within, with
 *          status, the new state (NULL: as it was) and response, valid during the
 *          call. NULL: could not be started
 * @cancel: end it; @done is not called any more
 */
struct bftm_object_exec {
	bool (*knows)(const struct bftm_object_exec *exec, const char *type);
	struct bftm_object_run *(*start)(const struct bftm_object_exec *exec, const char *type,
					 const u8 *state, u32 state_len,
					 const u8 *request, u32 request_len,
					 void (*done)(void *arg, u32 status,
						      const struct bftm_bytes *state,
						      const struct bftm_bytes *response),
					 void *arg);
	void (*cancel)(struct bftm_object_run *run);
};

/* The entry for the ordering thread: object.c */

/**
 * struct bftm_object_op - an operation to be applied
 * @body, @len: as servers store it
 * @own:        of this client: it gets an answer even when this daemon does not
 *              know the object's type (ENOPKG); others wait for a client that does
 * @applied:    out: it was, and @response is the body of its response; false: it
 *              stays pending, and is not to be noted in the state
 */
struct bftm_object_op {
	const u8 *body;
	u32 len;
	bool own;
	bool applied;
	struct bftm_bytes response;
};

/**
 * struct bftm_object_job - some operations to be applied to one state
 * @app, @app_len: application part of the old state; none for σ0
 * @version:  of the new state
 * @room:     bytes that the new application part and all responses together may
 *            have: what the servers allow a state, less its head and its table;
 *            responses of other clients give way
 * @spare:    bytes of @room that the application part may not grow into: there shall
 *            be answers when it is full
 * @op:       @count operations, in the order in which they are applied
 * @exec:     how programs are run; NULL: there are none
 * @now:      clock of @until_ns; NULL without programs
 * @until_ns: an operation of another client that would run a program then stays pending,
 *            unless it is the first of another: there shall be progress for all
 * @done:     called once, perhaps before bftm_object_apply() returns
 * @arg:      the caller's
 * @error:    out: 0, or -ENOMEM; then nothing was applied
 * @applied:  out: how many operations were, and @others how many of other clients
 * @state:    out: the new application part
 */
struct bftm_object_job {
	const u8 *app;
	u32 app_len;
	u64 version;
	u32 room;
	u32 spare;
	struct bftm_object_op *op;
	u32 count;
	const struct bftm_object_exec *exec;
	u64 (*now)(void);
	u64 until_ns;
	void (*done)(struct bftm_object_job *job);
	void *arg;
	int error;
	u32 applied;
	u32 others;
	struct bftm_bytes state;
	/* private */
	u32 at;			/* operation that is worked on */
	u32 answers;		/* it takes; 0: it is not begun */
	u32 next;		/* where its next request is */
	u32 place;		/* requests of operations that were begun before */
	u32 spent;		/* bytes of all responses, with room for bare ones */
	u32 rest;		/* status of all that is left of it, 0: as it comes */
	const u8 *request;
	u32 request_len;
	struct bftm_object_run *run;
};

/**
 * bftm_object_apply() - apply operations
 *
 * A request that does not fit, and those after it in its operation, are not
 * applied and get EMSGSIZE. An operation that is none gets a response without
 * answers, and so does the first one when not even bare statuses fit; one behind
 * others has to wait then. In @job, fields up to @arg are set, the others zero; it and what it
 * points to must stay until @done.
 */
void bftm_object_apply(struct bftm_object_job *job);

/** bftm_object_cancel() - give up; @done is not called any more. Fine at any time. */
void bftm_object_cancel(struct bftm_object_job *job);

/** bftm_object_free() - what a job has made: state and responses */
void bftm_object_free(struct bftm_object_job *job);

/* Between object.c and whole.c */

/** bftm_object_type_of() - the name of an object's type, NULL when there is none */
const char *bftm_object_type_of(const struct bftm_bytes *app);

/** bftm_object_runs() - is it a type with a program here? */
bool bftm_object_runs(const struct bftm_object_job *job, const char *type);

/** bftm_object_knows() - is it that, or built in? */
bool bftm_object_knows(const struct bftm_object_job *job, const char *type);

/**
 * bftm_object_whole() - do what all types are asked for alike: create, type, dump, restore,
 * delete-object; or say that there is no object
 * @ret: status
 * Return: false when it is a request for the type.
 */
bool bftm_object_whole(struct bftm_object_job *job, struct bftm_object_call *call, u32 *ret);

/** bftm_object_makes_unknown() - would it make an object of a type that is not known here? */
bool bftm_object_makes_unknown(const struct bftm_object_job *job, struct bftm_object_call *call);

#endif /* BFTM_OBJECT_H */
