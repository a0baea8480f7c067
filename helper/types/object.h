/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replicated objects: the application of operations (line 2.22). A type is a pure function on
 * bytes; this part, which is the same for all types, knows how requests are packed into operations,
 * which of them a state reflects, and which ones fit. It has no globals, no clock, and I/O only by
 * struct bftm_object_exec: it is linked by the daemon, the simulator and unit tests.
 *
 * Application part of a state: name of the type, a zero byte, then the content of the type. If it
 * has no bytes, the object does not exist.
 */
#ifndef BFTM_OBJECT_H
#define BFTM_OBJECT_H

#include "core/limits.h"
#include "core/types.h"
#include "uapi/linux/bftmutex.h"
#include "config/builtin.h"
#include "types/batch.h"

#define BFTM_MAP_KEY_MAX	255	/* bytes of a key of a map */

/* Bytes of an answer to "dump", and of a "restore", with the words before the content. */
#define BFTM_DUMP_MAX		16000u

/* Words of a type's answer to a bad request are at most this long. */
#define BFTM_OBJECT_WORDS_MAX	256

/* A type */

/**
 * struct bftm_object_call - one request to one object
 * @word:      its first word
 * @word_len:  bytes of @word
 * @rest:      what follows the space after it; NULL when there is no such space
 * @rest_len:  bytes of @rest
 * @state:     the content of the type
 * @state_len: bytes of @state
 * @response:  the answer so far; empty at first
 * The other members belong to the generic part.
 */
struct bftm_object_call {
	const u8 *word;
	u32 word_len;
	const u8 *rest;
	u32 rest_len;
	const u8 *state;
	u32 state_len;
	struct bftm_bytes response;
	/* private: */
	struct bftm_bytes *app;
	u32 state_at;		/* offset of @state in @app */
	u32 answer_room;	/* for @response */
	u32 room;		/* for @app and @response */
	u32 spare;		/* of @room, when @app grows */
	bool replaced;
};

/**
 * struct bftm_object_type - a type of objects
 * @type:     its number, see bftm_builtin_name
 * @requests: the requests that it knows, for people: "add N, get"
 * @init:     content of a new object
 * @init_len: bytes of @init
 * @apply:    do one request. First write the answer, by bftm_respond(); then, at most once and
 *            last, call bftm_replace(). Any bytes may come as state: EBADMSG when they are not
 *            valid for the type. Return: status; the state is unchanged unless it is 0
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

/** enum bftm_object_kind - kind of an object, by the application part of its state */
enum bftm_object_kind {
	BFTM_OBJECT_NONE,	/* it does not exist, or is not known */
	BFTM_OBJECT_BUILTIN,
	BFTM_OBJECT_PROGRAM,	/* its type is a program, which need not be configured here */
};

enum bftm_object_kind bftm_object_kind(const u8 *app, u32 len);

/** bftm_is() - is the request's first word this one? */
bool bftm_is(const struct bftm_object_call *call, const char *word);

/**
 * bftm_next_word() - take the next argument, up to a space, from @call->rest
 * @call:    the request
 * @ret:     the argument, no copy; untouched without one
 * @ret_len: bytes of @ret
 * Return: false when there is none.
 */
bool bftm_next_word(struct bftm_object_call *call, const u8 **ret, u32 *ret_len);

/**
 * bftm_read_number() - "-12", "7": a decimal number of 64 bits. False: the text is no such number.
 * @text: the number in decimal
 * @len:  bytes of @text
 * @ret:  the number; untouched if false
 */
bool bftm_read_number(const u8 *text, u32 len, int64_t *ret);

/** bftm_respond() - append to the answer. 0, EMSGSIZE or ENOMEM. */
u32 bftm_respond(struct bftm_object_call *call, const void *data, u32 len);

/**
 * bftm_replace() - change the state: replace @remove bytes by @add bytes
 * @call:   the request
 * @at:     offset in the content of the type
 * @remove: bytes that go, from @at on
 * @add:    bytes that take their place
 * @ret:    place for the new bytes; untouched on failure
 * Return: 0; EMSGSIZE when the state would become too large, ENOMEM.
 */
u32 bftm_replace(struct bftm_object_call *call, u32 at, u32 remove, u32 add, u8 **ret);

/** bftm_bad_request() - answer with words; returns EINVAL */
__attribute__((format(printf, 2, 3)))
u32 bftm_bad_request(struct bftm_object_call *call, const char *format, ...);

/** bftm_unknown_request() - answer that @type has no such request; returns EINVAL */
u32 bftm_unknown_request(struct bftm_object_call *call, const struct bftm_object_type *type);

/* Programs as types: exec.c in the daemon, nothing elsewhere */

struct bftm_object_run;

/**
 * struct bftm_object_exec - functions that run programs
 * @knows:  is a program configured for this type?
 * @start:  run the program for one request; @done is called later, never by @start itself,
 *          with status, the new state (NULL: unchanged) and response, valid during the
 *          call. NULL: it could not be started
 * @cancel: end the program; @done is not called any more
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
 * @body:     in the form that servers store
 * @len:      bytes of @body
 * @own:      the operation of this client: it gets an answer even when this daemon does not know
 *            the object's type (ENOPKG); others wait for a client that does
 * @applied:  out: it was applied; false: it stays pending, and is not to be noted in the state
 * @response: out: the body of its response, when it was applied
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
 * @app:      application part of the old state
 * @app_len:  bytes of @app; 0 for σ0
 * @version:  of the new state
 * @room:     bytes that the new application part and all responses together may have: the
 *            servers' limit for a state, less its head and its table; responses of other
 *            clients are dropped for them
 * @spare:    bytes of @room that are reserved for answers
 * @op:       the operations, in the order in which they are applied
 * @count:    of @op
 * @exec:     functions that run programs; NULL: there are no programs
 * @now:      clock of @until_ns; NULL without programs
 * @until_ns: after this time, an operation of another client that would run a program stays
 *            pending, unless it is the first of another client, so that all make progress
 * @done:     called once, perhaps before bftm_object_apply() returns
 * @arg:      the caller's
 * @error:    out: 0, or -ENOMEM; then nothing was applied
 * @applied:  out: number of applied operations
 * @others:   out: those of @applied that are other clients'
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
	/* private: */
	u32 at;			/* present operation */
	u32 answers;		/* that it takes; 0: it has not begun */
	u32 next;		/* offset of its next request */
	u32 place;		/* requests of operations that began before */
	u32 spent;		/* bytes of all responses, with room for bare ones */
	u32 rest;		/* status of all its further requests, 0: not decided */
	const u8 *request;
	u32 request_len;
	struct bftm_object_run *run;
};

/**
 * bftm_object_apply() - apply operations
 * @job: the job
 *
 * A request that does not fit, and those after it in its operation, are not applied and get
 * EMSGSIZE. An operation that is not valid gets a response without answers, and so does the first
 * one when not even bare statuses fit; a later one has to wait then. In @job, fields up to @arg are
 * set, the others zero; @job and the memory that it points to must stay until @done.
 */
void bftm_object_apply(struct bftm_object_job *job);

/** bftm_object_cancel() - end the job; @done is not called any more. Allowed at any time. */
void bftm_object_cancel(struct bftm_object_job *job);

/** bftm_object_free() - free the results of a job: state and responses */
void bftm_object_free(struct bftm_object_job *job);

/* Between object.c and whole.c */

/** bftm_object_type_of() - the name of an object's type, NULL when there is none */
const char *bftm_object_type_of(const struct bftm_bytes *app);

/** bftm_object_runs() - does the type have a program here? */
bool bftm_object_runs(const struct bftm_object_job *job, const char *type);

/** bftm_object_knows() - does the type have a program here, or is it built in? */
bool bftm_object_knows(const struct bftm_object_job *job, const char *type);

/**
 * bftm_object_whole() - do a request that all types have: create, type, dump, restore,
 * delete-object; or answer that there is no object
 * @job:  the job
 * @call: the request
 * @ret:  status
 * Return: false when it is a request for the type.
 */
bool bftm_object_whole(struct bftm_object_job *job, struct bftm_object_call *call, u32 *ret);

/**
 * bftm_object_makes_unknown() - would the request make an object of a type that is not known here?
 * @job:  the job
 * @call: the request
 */
bool bftm_object_makes_unknown(const struct bftm_object_job *job, struct bftm_object_call *call);

#endif /* BFTM_OBJECT_H */
