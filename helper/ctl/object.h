/* SPDX-License-Identifier: GPL-2.0 */
/* bftmutexctl object: objects that all clients share. */
#ifndef BFTM_CTL_OBJECT_H
#define BFTM_CTL_OBJECT_H

#include "ctl/ctl.h"
#include "lib/libbftmutex.h"

/**
 * struct object - the command line
 * @fd:       handle, -1 before object_open()
 * @name:     the first name, NULL for none; the others are in @words
 * @name_len: bytes of @name
 * @names_max: number of names that the command takes: 0, 1, or UINT_MAX for any number
 * @words:    the words behind NAME, ended by NULL
 * @words_min: least number of words behind NAME
 * @words_max: most of them, UINT_MAX for any number
 * @options:  for bftmutex_submit()
 * @input:    standard input is the last argument
 * @raw:      print only the response
 * @interval_ns: between two looks
 * @local:    only what this host has used
 * @named:    storage of @name after object_name()
 */
struct object {
	int fd;
	const char *name;
	size_t name_len;
	u32 names_max;
	char **words;
	u32 words_min;
	u32 words_max;
	struct bftmutex_options options;
	bool input;
	bool raw;
	u64 interval_ns;
	bool local;
	char named[BFTM_SUBMIT_NAME_MAX + 1];
};

/** object_children - the options that all commands have, for a struct object */
extern const struct argp_child object_children[];

/** object_option() - parser of the options that a command has besides: -i, -l, -n and -r */
error_t object_option(int key, char *arg, struct argp_state *state);

/** object_parse() - read the command line into @o; options come before NAME */
void object_parse(const struct argp *argp, int argc, char **argv, struct object *o);

/** object_open() - 0, or an exit code after an error message */
int object_open(struct object *o);

/**
 * object_ask() - submit a request
 * @o:       the command line, after object_open()
 * @request: bytes of the request
 * @len:     bytes of @request
 * @ret:     the response, to be freed
 *
 * Return: 0 when it was applied, even if the object refused it; else an exit code after an error
 * message.
 */
int object_ask(struct object *o, const void *request, size_t len,
	       struct bftmutex_response *ret);

/** object_submit() - open the device, submit a request and print the result; exit code */
int object_submit(struct object *o, const char *request, size_t len);

/**
 * object_names() - the objects of @o's cluster, or with @o->local those that this host has used
 * @o:   the command line; it need not be open
 * @ret: array of objects with a "name", to be put; without @o->local with "type", null if it is
 *       not known whether the object exists, and "version"
 *
 * Return: 0, or an exit code after saying why.
 */
int object_names(const struct object *o, struct json_object **ret);

/** object_name() - make @o the object with this name in JSON; false: it is no valid name */
bool object_name(struct object *o, struct json_object *name);

/** object_refusal() - words for a status of an object other than 0 */
const char *object_refusal(u32 status);

/** object_add_number() - "version" and "number" of a request */
void object_add_number(struct json_object *o, u64 number);

/** object_reading() - the request that reads all of an object of a type; NULL: none */
const char *object_reading(const char *type);

/* object_read.c: entry by entry */

/** OBJECT_NO_ENTRY - no entry has that number; no message was printed */
#define OBJECT_NO_ENTRY (-1)

/**
 * object_read_entry() - one entry of a log
 * @o:      the command line, after object_open()
 * @number: of the entry, from 0
 * @ret:    the entry, to be freed, unless this fails
 *
 * Return: 0, OBJECT_NO_ENTRY, or an exit code after an error message.
 */
int object_read_entry(struct object *o, u64 number, struct bftmutex_response *ret);

/**
 * object_read_entries() - all entries of a map or log
 * @o:          the command line, after object_open()
 * @type:       name of the object's type
 * @count:      number of entries of the log
 * @ret:        of a log an array of bytes, of a map one of { "key": bytes, "value": bytes }, keys
 *              ascending; NULL when it is too long for a response, and of other types
 * @ret_number: number of the request that the entries were read by
 *
 * Return: 0, or an exit code after saying why.
 */
int object_read_entries(struct object *o, const char *type, u64 count, struct json_object **ret,
			u64 *ret_number);

#endif /* BFTM_CTL_OBJECT_H */
