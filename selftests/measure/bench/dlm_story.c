// SPDX-License-Identifier: GPL-2.0
/*
 * One story, told by bftmutex through bftmutex_dlm.h and, with STORY_LIBDLM, by a DLM through
 * libdlm: two locks, "left" and "right", for one resource.
 *
 *	dlm_story SPACE LOCK                     one program has both locks
 *	dlm_story SPACE LOCK left|right FOLDER   two programs, of two hosts, have one each
 *
 * SPACE is a cluster, or a lockspace. Each line tells the result of a request, when it is known.
 * All programs print the same lines, also each of two: the steps of the story come one after the
 * other, and the program that does step N leaves its line in the file N of FOLDER, which both see.
 * Only one line is missing where there are two programs; see main().
 *
 * selftests/module/device/dlm.sh and selftests/measure/bench/dlm_hosts compare the lines.
 */
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "dlm_calls.h"

#define VALUE_LEN	32
#define LINE_MAX_LEN	128
#define PATIENCE_MS	20000
#define OTHER_MS	60000	/* until the program on the other host has done its step */

/** struct side - one of the two locks */
struct side {
	const char *name;
	struct dlm_lksb lksb;
	char value[VALUE_LEN];
	bool is_done;		/* the last request has its result */
	bool is_wanted;		/* somebody waits for what is held */
};

static struct side left = { .name = "left" }, right = { .name = "right" };
static const char *resource;

static struct {
	const struct side *only;	/* the side of this program, NULL: it plays both */
	const char *folder;
	unsigned int step;
} play;

static void done(void *arg)
{
	((struct side *)arg)->is_done = true;
}

static void wanted(void *arg)
{
	((struct side *)arg)->is_wanted = true;
}

/* Return: false when nothing came in @ms. */
static bool look(int ms)
{
	struct pollfd p = { .fd = story_fd(), .events = POLLIN };

	if (poll(&p, 1, ms) <= 0)
		return false;
	story_dispatch();
	return true;
}

static void wait_until(const bool *flag, const struct side *s, const char *what)
{
	while (!*flag)
		if (!look(PATIENCE_MS))
			errx(EX_SOFTWARE, "%s: no %s", s->name, what);
}

static const char *step_file(const char *suffix)
{
	static char path[2][256];
	char *to = path[!!*suffix];

	if (snprintf(to, sizeof(path[0]), "%s/%u%s", play.folder, play.step, suffix) >=
	    (int)sizeof(path[0]))
		errx(EX_USAGE, "the name of the folder is too long");
	return to;
}

/* The other program has done this step: its line is printed. */
static bool heard(void)
{
	char line[LINE_MAX_LEN];
	FILE *file = fopen(step_file(""), "r");

	if (!file)
		return false;
	if (fgets(line, sizeof(line), file))
		fputs(line, stdout);
	fclose(file);
	return true;
}

/* The story goes on: does this program do the next step? If not, the other one has done it. */
static bool next_by(const struct side *s)
{
	int ms;

	play.step++;
	if (!play.only || play.only == s)
		return true;
	for (ms = 0; !heard(); ms++) {
		if (ms == OTHER_MS)
			errx(EX_SOFTWARE, "the other host does not come to step %u", play.step);
		usleep(1000);
	}
	return false;
}

/* This program has done the step; the line ends with a newline, or is empty. */
__attribute__((format(printf, 1, 2)))
static void tell(const char *format, ...)
{
	char line[LINE_MAX_LEN];
	va_list args;
	FILE *file;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fputs(line, stdout);
	if (!play.only)
		return;
	file = fopen(step_file(".new"), "w");
	if (!file || fputs(line, file) < 0 || fclose(file) || rename(step_file(".new"), step_file("")))
		err(EX_IOERR, "%s", step_file(""));
}

static const char *meaning(int status)
{
	switch (status) {
	case 0:
		return "granted";
	case ECANCEL:
		return "canceled";
	case EUNLOCK:
		return "unlocked";
	}
	return strerror(status);
}

static void ask(struct side *s, uint32_t mode, uint32_t flags)
{
	s->is_done = false;
	s->is_wanted = false;
	s->lksb.sb_lvbptr = s->value;
	if (story_lock(mode, &s->lksb, flags, resource, done, wanted, s) < 0)
		err(EX_SOFTWARE, "%s: lock", s->name);
}

/* A step: a request of which nobody knows the result yet. */
static void begin(struct side *s, uint32_t mode, uint32_t flags)
{
	if (!next_by(s))
		return;
	ask(s, mode, flags);
	tell("%s", "");
}

/* A step: the result of the request is there; @what: NULL: it goes without saying. */
static void result(struct side *s, const char *what)
{
	if (!next_by(s))
		return;
	wait_until(&s->is_done, s, "result");
	if (what)
		tell("%s %s: %s\n", s->name, what, meaning(s->lksb.sb_status));
	else
		tell("%s", "");
}

static void lock(struct side *s, uint32_t mode, uint32_t flags, const char *what)
{
	begin(s, mode, flags);
	result(s, what);
}

static void convert(struct side *s, uint32_t mode, uint32_t flags, const char *what)
{
	lock(s, mode, flags | LKF_CONVERT, what);
}

static void give_up(struct side *s, uint32_t flags, const char *what)
{
	if (next_by(s)) {
		s->is_done = false;
		if (story_unlock(s->lksb.sb_lkid, flags, &s->lksb, s) < 0)
			err(EX_SOFTWARE, "%s: unlock", s->name);
		tell("%s", "");
	}
	result(s, what);
}

static void hear_of_waiter(struct side *s)
{
	if (!next_by(s))
		return;
	wait_until(&s->is_wanted, s, "word of one that waits");
	tell("%s is told that somebody waits\n", s->name);
}

static void still_waits(struct side *s, const char *who)
{
	if (!next_by(s))
		return;
	while (look(0))
		;
	tell("%s %s\n", who, s->is_done ? "has a result" : "waits");
}

static bool has_failed(const struct side *s)
{
	return s->is_done && s->lksb.sb_status;
}

/* A step of the side that is told of the deadlock. Return: that side. */
static struct side *loser(void)
{
	struct side *other = play.only == &left ? &right : &left;
	int ms;

	play.step++;
	for (ms = 0; ms < PATIENCE_MS; ms++) {
		struct side *s = has_failed(&left) ? &left : has_failed(&right) ? &right : NULL;

		if (s) {
			tell("both PR to EX, one: %s\n", meaning(s->lksb.sb_status));
			return s;
		}
		if (play.only && heard())
			return other;
		look(1);
	}
	errx(EX_SOFTWARE, "nobody is told of the deadlock");
}

/* Two holders convert to EX; the story does not say which of the two is told of the deadlock. */
static void deadlock(void)
{
	struct side *one, *other;

	begin(&left, LKM_EXMODE, LKF_CONVERT);
	begin(&right, LKM_EXMODE, LKF_CONVERT);
	one = loser();
	other = one == &left ? &right : &left;
	still_waits(other, "the other");
	convert(one, LKM_NLMODE, 0, NULL);
	if (next_by(other)) {
		wait_until(&other->is_done, other, "result");
		tell("one to NL, the other: %s\n", meaning(other->lksb.sb_status));
	}
	/* From here on the left side has EX, and the right one NL. */
	if (other == &left)
		return;
	convert(&right, LKM_NLMODE, 0, NULL);
	convert(&left, LKM_EXMODE, 0, NULL);
}

static void choose_side(char **argv)
{
	play.only = strcmp(argv[0], "left") ? &right : &left;
	play.folder = argv[1];
	if (strcmp(argv[0], play.only->name))
		errx(EX_USAGE, "'%s': must be left or right", argv[0]);
}

int main(int argc, char **argv)
{
	if (argc != 3 && argc != 5)
		errx(EX_USAGE, "usage: dlm_story SPACE LOCK [left|right FOLDER]");
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 5)
		choose_side(argv + 3);
	story_open(argv[1]);
	resource = argv[2];

	lock(&left, LKM_NLMODE, 0, "NL");
	convert(&left, LKM_PRMODE, 0, "NL to PR");
	lock(&right, LKM_PRMODE, LKF_VALBLK, "PR");

	begin(&right, LKM_EXMODE, LKF_CONVERT | LKF_VALBLK);
	hear_of_waiter(&left);
	still_waits(&right, "right");
	convert(&left, LKM_NLMODE, 0, "PR to NL");
	result(&right, "PR to EX");

	strcpy(right.value, "seventeen");
	convert(&right, LKM_PRMODE, LKF_VALBLK, "EX to PR, with a value");
	convert(&left, LKM_PRMODE, LKF_VALBLK, "NL to PR, with the value");
	if (next_by(&left))
		tell("it is %s\n", left.value);
	deadlock();

	convert(&right, LKM_PRMODE, LKF_NOQUEUE, "NL to PR, at once or not");
	begin(&right, LKM_PRMODE, LKF_CONVERT);
	/* bftmutex does not promise word of a program of another host that holds nothing. */
	if (!play.only)
		hear_of_waiter(&left);
	give_up(&right, LKF_CANCEL, "NL to PR, given up");
	give_up(&right, 0, "NL");
	give_up(&left, 0, "EX");
	return 0;
}
