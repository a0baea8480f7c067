// SPDX-License-Identifier: GPL-2.0
/*
 * Plays either side of a submit, for scripts:
 *
 *	submit_play counters	be the helper of this network namespace: every object is
 *				a counter that knows "add N" and "get"
 *	submit_play silent	be one that takes submits and never answers
 *	submit_play ask NAME OP	submit, and print the response
 *
 * A helper prints "ready", then "given NAME" for each submit.
 */
#include <err.h>
#include <sysexits.h>

#include "lib/libbftmutex.h"
#include "submit.h"

#define OBJECTS_MAX 16

static struct object {
	char name[BFTM_NAME_MAX + 1];
	long long value;
	uint64_t version;
} objects[OBJECTS_MAX];

static struct object *find(const char *name)
{
	struct object *o;

	for (o = objects; o < objects + OBJECTS_MAX; o++) {
		if (!o->name[0])
			strcpy(o->name, name);
		if (!strcmp(o->name, name))
			return o;
	}
	errx(EX_SOFTWARE, "too many objects");
}

static void apply(struct bftm_nl *nl, const struct asked *a)
{
	struct object *o = find(a->head.name);
	char op[32] = {}, text[32];
	uint32_t status = 0;
	long long n;

	memcpy(op, a->op, a->op_len < sizeof(op) ? a->op_len : sizeof(op) - 1);
	if (sscanf(op, "add %lld", &n) == 1)
		o->value += n;
	else if (strcmp(op, "get"))
		status = EINVAL;
	snprintf(text, sizeof(text), "%lld", o->value);
	answer(nl, a->head.id, status, ++o->version, status ? "" : text);
}

static int help(bool silent)
{
	static struct asked a;
	struct bftm_nl nl;
	int err;

	if (bftm_nl_open(&nl) || command(&nl, BFTMUTEX_CMD_HELPER_REGISTER, 0))
		errx(EX_UNAVAILABLE, "not the helper");
	setlinebuf(stdout);
	puts("ready");
	for (;;) {
		err = next_asked(&nl, &a);
		if (err == -ENODATA)
			continue;
		if (err)
			errx(EX_UNAVAILABLE, "pull: %s", strerror(-err));
		if (a.head.kind != BFTMUTEX_REQUEST_KIND_SUBMIT)
			continue;
		printf("given %s\n", a.head.name);
		if (!silent)
			apply(&nl, &a);
	}
}

static int ask(const char *name, const char *op)
{
	struct bftmutex_response r;
	int fd = bftmutex_open(NULL), err;

	if (fd < 0)
		errx(EX_UNAVAILABLE, "%s", bftmutex_strerror(fd));
	err = bftmutex_submit_alloc(fd, name, strlen(name), op, strlen(op), NULL, &r);
	if (err < 0)
		errx(EX_UNAVAILABLE, "%s: %s", name, bftmutex_strerror(err));
	if (r.status)
		errx(EX_DATAERR, "%s: %s", name, strerror((int)r.status));
	puts(r.data);
	free(r.data);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && (!strcmp(argv[1], "counters") || !strcmp(argv[1], "silent")))
		return help(!strcmp(argv[1], "silent"));
	if (argc == 4 && !strcmp(argv[1], "ask"))
		return ask(argv[2], argv[3]);
	errx(EX_USAGE, "submit_play counters | silent | ask NAME OP");
}
