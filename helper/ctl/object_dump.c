// SPDX-License-Identifier: GPL-2.0
/*
 * bftmutexctl object dump, restore: a line of JSON for each object, with its content in
 * hexadecimal. Both commands send one part after the other, by the requests dump and restore.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/conf.h"
#include "ctl/object.h"
#include "text/json.h"
#include "types/object.h"

#define TRIES 10	/* to read one state of an object that changes meanwhile */

/**
 * struct whole - the content of an object, part by part
 * @bytes:  that were read so far
 * @len:    of the whole content, bytes
 * @sum:    of the state; parts with another sum belong to another state
 * @number: of the last request for a part
 */
struct whole {
	struct bftm_bytes bytes;
	u32 len;
	u64 sum;
	u64 number;
};

/* Reads one more part. *@ret_status: of the object; ESTALE: it has changed. */
static int take_part(struct object *o, struct whole *w, u32 *ret_status)
{
	struct bftmutex_response r = {};
	char request[32];
	u32 len, n = (u32)snprintf(request, sizeof(request), "dump %u", w->bytes.len);
	int code = object_ask(o, request, n, &r), head = 0;
	u64 sum;

	*ret_status = r.status;
	if (!code && !r.status) {
		if (sscanf(r.data, "%" SCNu32 " %" SCNx64 "\n%n", &len, &sum, &head) != 2 || !head)
			code = ctl_fail(EX_PROTOCOL, "object '%s': the answer is no dump; are all hosts "
					"of the same version?", o->name);
		else if (w->bytes.len && (len != w->len || sum != w->sum))
			*ret_status = ESTALE;
		else if (!bftm_bytes_add(&w->bytes, (char *)r.data + head, (u32)r.len - (u32)head))
			code = ctl_fail(EX_OSERR, "no memory");
		w->len = len;
		w->sum = sum;
		w->number = r.number;
	}
	free(r.data);
	return code;
}

static int dump_take(struct object *o, struct whole *w, u32 *ret_status)
{
	int code, tries = 0;

	do {
		code = take_part(o, w, ret_status);
		if (!code && (*ret_status == ESTALE || *ret_status == ERANGE) && ++tries < TRIES) {
			w->bytes.len = 0;
			*ret_status = 0;
		}
	} while (!code && !*ret_status && w->bytes.len < w->len);
	return code;
}

static void print_line(const struct object *o, const struct whole *w)
{
	struct json_object *line = json_object_new_object();
	char *hex = calloc(2, w->len + 1);
	u32 i;

	for (i = 0; hex && i < w->len; i++)
		snprintf(hex + 2 * (size_t)i, 3, "%02x", w->bytes.data[i]);
	bftm_json_add_bytes(line, "object", o->name, o->name_len);
	bftm_json_add_text(line, "type", (const char *)w->bytes.data);
	object_add_number(line, w->number);
	bftm_json_add_text(line, "state", hex ?: "");
	ctl_print_json_line(line);
	json_object_put(line);
	free(hex);
}

/* @named: the user has named the object, so it must exist. */
static int dump_one(struct object *o, bool named)
{
	struct whole w = {};
	u32 status;
	int code = dump_take(o, &w, &status);

	if (!code && status == ESTALE)
		code = ctl_fail(EX_TEMPFAIL, "object '%s': it changes too often to be read in parts",
				o->name);
	else if (!code && status && (named || status != ENOENT))
		code = ctl_fail(1, "object '%s': %s", o->name, object_refusal(status));
	else if (!code && !status)
		print_line(o, &w);
	bftm_bytes_free(&w.bytes);
	return code;
}

int ctl_object_dump(int argc, char **argv)
{
	static const struct argp argp = {
		.children = object_children,
		.args_doc = "[NAME...]",
		.doc = "Print the objects NAME, or all objects of the cluster that this client may use, "
		       "for 'object restore': a line of JSON for each. A line has the object's state at "
		       "one time; the times of two lines differ. Options come before NAME.",
	};
	struct object o = { .names_max = UINT_MAX };
	struct json_object *names = NULL;
	char **word;
	size_t i;
	int code;

	object_parse(&argp, argc, argv, &o);
	code = object_open(&o);
	if (!code && !o.name) {
		code = object_names(&o, &names);
		for (i = 0; !code && i < json_object_array_length(names); i++) {
			if (object_name(&o, json_object_object_get(json_object_array_get_idx(names, i),
								   "name")))
				code = dump_one(&o, false);
		}
	} else if (!code) {
		code = dump_one(&o, true);
		for (word = o.words; !code && *word; word++) {
			o.name = *word;
			o.name_len = strlen(*word);
			code = dump_one(&o, true);
		}
	}
	if (!code && (fflush(stdout) || ferror(stdout)))
		code = ctl_fail(EX_IOERR, "cannot write");
	json_object_put(names);
	return code;
}

/* Hexadecimal digits as bytes. False: the text has other characters. */
static bool read_hex(const char *hex, struct bftm_bytes *ret)
{
	size_t i, len = strlen(hex);
	char pair[3] = {};
	u8 byte;

	for (i = 0; i < len; i += 2) {
		memcpy(pair, hex + i, 2);
		if (len % 2 || strspn(pair, "0123456789abcdefABCDEF") != 2)
			return false;
		byte = (u8)strtoul(pair, NULL, 16);
		if (!bftm_bytes_add(ret, &byte, 1))
			return false;
	}
	return len;
}

static int put_part(struct object *o, const struct bftm_bytes *state, u32 at,
		    struct bftmutex_response *ret)
{
	u32 len = state->len - at < BFTM_DUMP_MAX ? state->len - at : BFTM_DUMP_MAX, n;
	struct bftmutex_response r = {};
	char request[32 + BFTM_DUMP_MAX];
	int code;

	n = (u32)snprintf(request, 32, "restore %u ", at);
	memcpy(request + n, state->data + at, len);
	code = object_ask(o, request, n + len, &r);
	if (!code && r.status)
		code = ctl_fail(1, "object '%s': %s%s%.*s", o->name, object_refusal(r.status),
				r.len ? ": " : "", (int)r.len, r.len ? (const char *)r.data : "");
	if (code && at)
		ctl_fail(0, "object '%s': was restored in part; delete it before you try again", o->name);
	free(r.data);
	*ret = r;
	ret->data = NULL;
	return code;
}

/* Prints the answer to the last part of an object. */
static void print_restored(const struct object *o, const struct bftmutex_response *r)
{
	struct json_object *line = json_object_new_object();

	bftm_json_add_bytes(line, "object", o->name, o->name_len);
	bftm_json_add_number(line, "status", r->status);
	bftm_json_add_text(line, "refusal", r->status ? object_refusal(r->status) : NULL);
	object_add_number(line, r->number);
	ctl_print_json_line(line);
	json_object_put(line);
}

static int restore_line(struct object *o, const char *text, u32 number)
{
	struct json_object *line = json_tokener_parse(text);
	struct json_object *name = json_object_object_get(line, "object");
	struct json_object *hex = json_object_object_get(line, "state");
	struct bftmutex_response r = {};
	struct bftm_bytes state = {};
	int code = 0;
	u32 at;

	if (!object_name(o, name) || !json_object_is_type(hex, json_type_string) ||
	    !read_hex(json_object_get_string(hex), &state)) {
		code = ctl_fail(EX_DATAERR, "line %u: not a line of 'object dump'",
				number);
	} else {
		for (at = 0; !code && at < state.len; at += BFTM_DUMP_MAX)
			code = put_part(o, &state, at, &r);
		if (ctl_json && (!code || code == 1))
			print_restored(o, &r);
	}
	bftm_bytes_free(&state);
	json_object_put(line);
	return code;
}

int ctl_object_restore(int argc, char **argv)
{
	static const struct argp argp = {
		.children = object_children,
		.doc = "Make the objects that standard input describes, in the form of 'object dump'. An "
		       "object that exists stays as it is, and the exit status is 1 then. Versions and "
		       "numbers begin anew. With --json a line for each object says the result.",
	};
	struct object o = { .names_max = 0 };
	char *text = NULL;
	size_t size = 0;
	u32 number = 0;
	int code, r;

	object_parse(&argp, argc, argv, &o);
	code = object_open(&o);
	while ((!code || code == 1) && getline(&text, &size, stdin) >= 0) {
		r = restore_line(&o, text, ++number);
		if (r)
			code = r;
	}
	if (!code && ferror(stdin))
		code = ctl_fail(EX_IOERR, "cannot read standard input");
	free(text);
	return code;
}
