// SPDX-License-Identifier: GPL-2.0
/* Ends the command and all processes that it has started. */
#include "run/keeping.h"
#include "run/family.h"
#include "run/run.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

/* A process that has not ended this long after SIGKILL sleeps in the kernel, perhaps for ever. */
#define PATIENCE_NS (10 * NS_PER_SEC)

uint64_t bftm_keeper_later(uint64_t ns)
{
	uint64_t now = bftm_boottime();

	return now + ns < now ? FOR_EVER : now + ns;
}

static void signal_all(const struct bftm_keeping *k, int signo, struct bftm_found *ret)
{
	bftm_family_signal(getpid(), k->command, 0, signo, NULL, ret);
}

static const char *lost_word(const struct bftm_keeping *k)
{
	return k->lost ? " lost" : "";
}

static void say_refused(struct bftm_keeping *k, const struct bftm_found *found, const char *signal)
{
	if (found->refused)
		say(k, "%s: %s cannot be sent to %s: %s", lost_word(k), signal, found->names,
		    strerror(found->error));
	else if (found->error)
		say(k, "%s: the processes that the command started cannot be found in /proc: %s",
		    lost_word(k), strerror(found->error));
}

/*
 * All processes are stopped first, so that none forks, or runs the next command of a script, before
 * all have got the signal. Signals come first, messages later.
 */
void bftm_keeper_terminate(struct bftm_keeping *k, const char *why)
{
	struct bftm_found found, ignored;

	k->stage = ENDING;
	k->pause_ns = LOOK_MIN_NS;
	signal_all(k, SIGSTOP, &ignored);
	signal_all(k, SIGTERM, &found);
	/* A stopped process would not handle SIGTERM. */
	signal_all(k, SIGCONT, &ignored);
	k->next_ns = bftm_keeper_later(k->run->grace_ns);
	/* When all have ended by the signal that ended bftmutex, no message is needed. */
	if (found.alive || !k->asked)
		say(k, "%s%s", why, found.alive ? "; sending SIGTERM" : "");
	say_refused(k, &found, "SIGTERM");
}

static void give_up(struct bftm_keeping *k, const struct bftm_found *found)
{
	/* As long as the lock is not lost, its handle has to stay open. */
	if (k->lost || k->epoll < 0)
		k->stage = GIVEN_UP;
	if (k->told && k->stage != GIVEN_UP)
		return;
	k->told = true;
	if (k->stage == GIVEN_UP)
		say(k, "%s: %s could not be ended, and runs on without the lock", lost_word(k),
		    *found->names ? found->names : "what the command started");
	else
		say(k, ": %s could not be ended: the lock is held while it runs",
		    *found->names ? found->names : "what the command started");
}

void bftm_keeper_kill(struct bftm_keeping *k)
{
	struct bftm_found found;
	bool first = k->stage != KILLING;

	if (first) {
		k->stage = KILLING;
		k->reaped_ns = bftm_boottime();
	}
	signal_all(k, SIGKILL, &found);
	if (first && found.alive > found.refused)
		say(k, "%s: the command did not end on SIGTERM; sending SIGKILL", lost_word(k));
	if (first)
		say_refused(k, &found, "SIGKILL");
	if ((found.refused && found.refused == found.alive) ||
	    bftm_boottime() - k->reaped_ns > PATIENCE_NS)
		give_up(k, &found);
	k->next_ns = bftm_keeper_later(k->pause_ns);
	if (k->pause_ns < LOOK_MAX_NS)
		k->pause_ns += k->pause_ns / 2;
}
