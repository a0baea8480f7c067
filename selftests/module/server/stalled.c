// SPDX-License-Identifier: GPL-2.0
/*
 * A processor that has taken a YIELD as new stands still before it obeys; see queue.h, and
 * stall.c. Meanwhile the daemon that sent it is killed, and its successor counts a grant.
 */
#include <sched.h>
#include <sys/wait.h>

#include "core/replay.h"
#include "cases.h"

#define PARAMETERS "/sys/module/stall/parameters/"

static void set(const char *path, char value)
{
	FILE *file = fopen(path, "w");

	check(file && fputc(value, file) == value && !fclose(file), "%s: %s", path,
	      strerror(errno));
}

static bool stands(void)
{
	FILE *file = fopen(PARAMETERS "stands", "r");
	int value = file ? fgetc(file) : EOF;

	if (file)
		fclose(file);
	return value == '1';
}

static void use_processor(int number)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(number, &set);
	check(!sched_setaffinity(0, sizeof(set), &set), "processor %d: %s", number,
	      strerror(errno));
}

/* Return: the child that sends it, and whose processor stands before it is obeyed. */
static pid_t yield_late(struct peer *p, u64 attempt, u64 gno)
{
	u64 until = clock_ns(CLOCK_BOOTTIME) + PATIENCE_MS * BFTM_NS_PER_MS;
	pid_t child;

	set(PARAMETERS "armed", '1');
	child = fork();
	if (!child) {
		use_processor(1);
		yield(p, attempt, gno);
		_exit(failures != 0);
	}
	expected.received++;
	p->seq++;
	while (!stands() && clock_ns(CLOCK_BOOTTIME) < until)
		sched_yield();
	check(stands(), "nobody stands still");
	return child;
}

/* @p: a daemon, its successor, and another client, which waits with a better priority. */
static struct bftm_msg begin(struct peer *p, struct bftm_msg *own, struct bftm_msg *other)
{
	struct bftm_msg r;

	use_processor(0);
	p[0].seq = p[1].seq;	/* one client, whose numbers go on */
	*own = queue_try(fresh(), 1, 5);
	*other = queue_try(fresh(), 1, 4);
	r = want_reply(&p[0], *own, BFTM_MSG_FREE, "TRY with priority 5");
	want_wait(&p[2], *other, 1, "TRY with priority 4");
	pushed(&p[0], BFTM_MSG_INQUIRE, own, r.gno, "a better priority");
	return r;
}

static void end(pid_t child)
{
	int status = -1;

	check(stands(), "it went on too early");
	set(PARAMETERS "armed", '0');
	set(PARAMETERS "stands", '0');
	check(waitpid(child, &status, 0) == child && !status, "the YIELD: status %d", status);
}

/* The successor keeps the grants that it counts. */
static void of_a_predecessor(struct peer *p)
{
	struct bftm_msg own, other, r = begin(p, &own, &other);
	pid_t child = yield_late(&p[0], own.attempt, r.gno);

	p[1].seq = p[0].seq + BFTM_WINDOW_BITS;
	own.k = 2;
	check(want_reply(&p[1], own, BFTM_MSG_FREE, "successor").gno == r.gno, "another grant");
	end(child);
	expected.silent++;
	want_wait(&p[2], other, 1, "poll after the YIELD of a predecessor");
	pushed(&p[1], BFTM_MSG_INQUIRE, &own, r.gno, "poll");
	own.k = 3;
	check(want_reply(&p[1], own, BFTM_MSG_FREE, "successor again").gno == r.gno, "another grant");
	want_released(&p[1], own.attempt);
	pushed(&p[2], BFTM_MSG_FREE, &other, r.gno + 1, "RELEASE");
	want_released(&p[2], other.attempt);
}

/* Without a successor it counts, however late it is. */
static void of_its_own(struct peer *p)
{
	struct bftm_msg own, other, r = begin(p, &own, &other);
	pid_t child = yield_late(&p[0], own.attempt, r.gno);

	p[1].seq = p[0].seq;
	hello(&p[1]);
	want_wait(&p[2], other, 1, "poll");
	pushed(&p[1], BFTM_MSG_INQUIRE, &own, r.gno, "poll");
	end(child);
	expected.yielded++;
	pushed(&p[2], BFTM_MSG_FREE, &other, r.gno + 1, "YIELD");
	want_released(&p[2], other.attempt);
	/* It was heard last as the other. */
	pushed(&p[1], BFTM_MSG_FREE, &own, r.gno + 2, "RELEASE");
	want_released(&p[1], own.attempt);
}

static const struct test tests[] = {
	{ "of-a-predecessor", of_a_predecessor, 3 },
	{ "of-its-own", of_its_own, 3 },
	{}
};

int main(int argc, char **argv)
{
	/* Two processors have a real clock: no pause of a busy machine is as long as half of it. */
	long_ns = 60 * BFTM_NS_PER_SEC;
	return run_case(argc, argv, tests);
}
