/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of the keeper. */
#ifndef BFTM_KEEPING_H
#define BFTM_KEEPING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "run/keeper.h"
#include "run/run.h"
#include "run/speech.h"

#define NS_PER_MS 1000000ull
#define NS_PER_SEC 1000000000ull
#define FOR_EVER UINT64_MAX
/* Time to the first look at states that make no event; later looks come at growing intervals. */
#define LOOK_MIN_NS (10 * NS_PER_MS)
#define LOOK_MAX_NS NS_PER_SEC

enum bftm_stage {
	RUNNING,	/* the command runs */
	LEFT,		/* it has ended; processes that it left have the handle */
	ENDING,		/* SIGTERM is sent to all */
	KILLING,	/* SIGKILL is sent to all, again and again */
	GIVEN_UP,	/* some cannot be ended */
};

/**
 * struct bftm_keeping - state of the keeper
 * @run:      the command and its locks
 * @name:     of the lock that is lost, of the first one until then; for messages
 * @closed:   the handles are closed
 * @epoll:    watches the handles; -1 when that is not possible
 * @peer:     socket, -1 without one
 * @asked:    the other end of @peer is shut down
 * @parent:   process at the other end of @peer
 * @signals:  signalfd for SIGCHLD
 * @command:  process, 0 when it was waited for
 * @status:   of waitpid() then
 * @stage:    enum above
 * @lost:     a lock is lost
 * @margin:   no lock is lost, but the margin of one was reached
 * @told:     a message said that some cannot be ended
 * @next_ns:  time of the next look or kill
 * @pause_ns: time between that one and the next
 * @reaped_ns: when a process last ended, or SIGKILL was first sent
 * @speech:   messages that could not be written yet
 */
struct bftm_keeping {
	const struct bftm_run *run;
	const char *name;
	bool closed;
	int epoll;
	int peer;
	bool asked;
	pid_t parent;
	int signals;
	pid_t command;
	int status;
	enum bftm_stage stage;
	bool lost;
	bool margin;
	bool told;
	uint64_t next_ns;
	uint64_t pause_ns;
	uint64_t reaped_ns;
	struct bftm_speech speech;
};

#define say(k, ...) bftm_speech_add(&(k)->speech, (k)->name, __VA_ARGS__)

/* ending.c */

/** bftm_keeper_later() - the time in @ns from now, FOR_EVER when it overflows */
uint64_t bftm_keeper_later(uint64_t ns);
/** bftm_keeper_terminate() - SIGTERM to all; the message begins with @why */
void bftm_keeper_terminate(struct bftm_keeping *k, const char *why);
/** bftm_keeper_kill() - SIGKILL to all, once more */
void bftm_keeper_kill(struct bftm_keeping *k);

/* handle.c */

/** bftm_keeper_watch() - watch the handles from now on */
void bftm_keeper_watch(struct bftm_keeping *k);
/** bftm_keeper_look() - read events of the handles */
void bftm_keeper_look(struct bftm_keeping *k);
/** bftm_keeper_lost() - a lock is lost */
void bftm_keeper_lost(struct bftm_keeping *k, const struct bftm_taken *lock);
/** bftm_keeper_is_held() - does any process have one of the handles, this one included? */
bool bftm_keeper_is_held(const struct bftm_keeping *k);

#endif /* BFTM_KEEPING_H */
