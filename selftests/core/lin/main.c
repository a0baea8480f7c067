// SPDX-License-Identifier: GPL-2.0
/*
 * bftmutex-lin: are histories linearizable? Lines of JSON, as "bftmutexctl object
 * history --json" prints them:
 *
 *	{"client":1,"process":7,"object":"x","request":"add 1","invoke_ns":"5",
 *	 "return_ns":"9","status":0,"response":"1","version":2}
 *
 * return_ns and status null: no answer came. version may be missing. Any number may be a string.
 *
 * bftmutex-lin --serial: are transactions serializable? See serial.h.
 */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <sysexits.h>

#include "text/json.h"
#include "lin.h"
#include "serial.h"

static struct {
	const char *model;
	u64 steps;
	bool quiet;
	bool serial;
	enum serial_level level;
	char **file;
	int files;
} args;

static struct lin_history *history;
static struct serial *schedule;

static bool number(struct json_object *line, const char *key, bool may_be_null, u64 *ret)
{
	struct json_object *value = NULL;
	const char *text;
	char *end;

	if (!json_object_object_get_ex(line, key, &value))
		return may_be_null;
	if (!value)
		return may_be_null;
	if (json_object_is_type(value, json_type_string)) {
		text = json_object_get_string(value);
		errno = 0;
		*ret = strtoull(text, &end, 10);
		return isdigit((unsigned char)*text) && !*end && !errno;
	}
	if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 0)
		return false;
	*ret = json_object_get_uint64(value);
	return true;
}

/* Bytes, to be freed; NULL: there are none. */
static u8 *text(struct json_object *line, const char *key, u32 *ret_len)
{
	struct json_object *value = NULL;
	size_t len = 0;
	char *bytes;

	json_object_object_get_ex(line, key, &value);
	bytes = bftm_json_read_bytes(value, &len);
	*ret_len = (u32)len;
	return (u8 *)bytes;
}

/* Adds a line with these bytes, NULL for none; or says which of its fields is wrong. */
static const char *add_op(struct json_object *line, struct lin_op *op, const u8 *object, u32 len)
{
	u64 client, status = 0, never = LIN_NEVER;

	op->return_ns = LIN_NEVER;
	if (!number(line, "client", false, &client) || client > UINT32_MAX)
		return "client: must be 0 to 4294967295";
	if (!number(line, "process", true, &op->process))
		return "process: must be a number";
	if (!object || !len)
		return "object: must be a name";
	if (!op->request)
		return "request: must be a string";
	if (!number(line, "invoke_ns", false, &op->invoke_ns))
		return "invoke_ns: must be ns";
	if (!number(line, "return_ns", true, &op->return_ns) || op->return_ns < op->invoke_ns)
		return "return_ns: must be ns, not before invoke_ns, or null";
	if (!number(line, "version", true, &op->version))
		return "version: must be a number";
	if (op->return_ns != never &&
	    (!number(line, "status", false, &status) || status > 4095))
		return "status: must be 0 to 4095 when there is a return_ns";
	if (op->return_ns != never && !op->response)
		return "response: must be a string when there is a return_ns";
	if (!op->response)
		op->response = (const u8 *)"";
	op->client = client;
	op->status = status;
	lin_add(history, object, len, op);
	return NULL;
}

static const char *add(struct json_object *line)
{
	struct lin_op op = {};
	u8 *object, *request, *response;
	const char *wrong;
	u32 len;

	if (!json_object_is_type(line, json_type_object))
		return "not an object";
	object = text(line, "object", &len);
	op.request = request = text(line, "request", &op.request_len);
	op.response = response = text(line, "response", &op.response_len);
	wrong = add_op(line, &op, object, len);
	free(object);
	free(request);
	free(response);
	return wrong;
}

static int read_lines(const char *name, FILE *file)
{
	char *line = NULL;
	const char *wrong;
	size_t size = 0;
	u32 at = 0;

	if (args.serial)
		return serial_read(schedule, name, file) ? 0 : EX_DATAERR;
	while (getline(&line, &size, file) > 0) {
		struct json_object *object;

		at++;
		if (line[strspn(line, " \t\r\n")] == '\0')
			continue;
		object = lin_json(line);
		wrong = object ? add(object) : "not JSON";
		json_object_put(object);
		if (wrong) {
			fprintf(stderr, "bftmutex-lin: %s:%u: %s\n", name, at, wrong);
			free(line);
			return EX_DATAERR;
		}
	}
	free(line);
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	char *end;

	switch (key) {
	case 'm':
		if (!lin_model(history, arg))
			argp_error(state, "--model '%s': must be register, counter, map, queue or log",
				   arg);
		return 0;
	case 's':
		errno = 0;
		args.steps = strtoull(arg, &end, 10);
		if (*end || end == arg || *arg == '-' || errno || !args.steps)
			argp_error(state, "--steps '%s': must be 1 to %llu", arg,
				   (unsigned long long)UINT64_MAX);
		return 0;
	case 'q':
		args.quiet = true;
		return 0;
	case 'S':
		args.serial = true;
		for (args.level = 0; arg && strcmp(arg, serial_levels[args.level]);)
			if (++args.level == SERIAL_LEVELS)
				argp_error(state, "--serial '%s': must be serializable, recoverable, cascadeless or strict",
					   arg);
		return 0;
	case ARGP_KEY_ARGS:
		args.file = state->argv + state->next;
		args.files = state->argc - state->next;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
	{ "model", 'm', "TYPE", 0, "Type of objects that nobody creates: they exist from the start", 0 },
	{ "steps", 's', "N", 0, "Steps to search at most, for each object (5000000)", 0 },
	{ "serial", 'S', "LEVEL", OPTION_ARG_OPTIONAL, "Are transactions serializable, and (LEVEL) also "
	  "recoverable, cascadeless or strict? Lines {\"transaction\":\"T\",\"does\":\"read\","
	  "\"object\":\"x\"}, in their order; or write, update, commit, abort", 0 },
	{ "quiet", 'q', NULL, 0, "Only the exit status", 0 },
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[FILE...]",
	.doc = "Is each object's history in these files, or on standard input, that of one "
	       "object that does one request at a time?\v"
	       "Exit status: 0 yes, 1 no, 2 undecided, 64 wrong usage, 65 a line is wrong or "
	       "does not tell what an object is, 66 a file cannot be read.",
};

/* Is the schedule serializable, and has it the property that was asked for? */
static int judge_schedule(void)
{
	u32 want = 1u << SERIAL_SERIALIZABLE | 1u << args.level;
	u32 holds = serial_check(schedule, args.quiet ? NULL : stdout);

	serial_free(schedule);
	lin_free(history);
	return (holds & want) == want ? 0 : 1;
}

int main(int argc, char **argv)
{
	static const int codes[] = {
		[LIN_GOOD] = 0, [LIN_VIOLATED] = 1, [LIN_UNDECIDED] = 2,
		[LIN_NO_MODEL] = EX_DATAERR,
	};
	enum lin_verdict verdict;
	u32 ops, objects;
	int i, r = 0;

	history = lin_new();
	schedule = serial_new();
	argp_err_exit_status = EX_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (!args.files)
		r = read_lines("stdin", stdin);
	for (i = 0; i < args.files && !r; i++) {
		FILE *file = fopen(args.file[i], "re");

		if (!file) {
			fprintf(stderr, "bftmutex-lin: %s: %s\n", args.file[i], strerror(errno));
			return EX_NOINPUT;
		}
		r = read_lines(args.file[i], file);
		fclose(file);
	}
	if (r)
		return r;
	if (args.serial)
		return judge_schedule();
	serial_free(schedule);
	verdict = lin_check(history, args.steps, args.quiet ? NULL : stdout);
	ops = lin_count(history, &objects);
	if (verdict == LIN_GOOD && !args.quiet)
		printf("%u operations on %u objects: linearizable\n", ops, objects);
	lin_free(history);
	return codes[verdict];
}
