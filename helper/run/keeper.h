/* SPDX-License-Identifier: GPL-2.0 */
/* The process that starts the command, watches the lease, and ends all started processes. */
#ifndef BFTM_KEEPER_H
#define BFTM_KEEPER_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct bftm_run;

/** enum bftm_run_verdict - how the run ended */
enum bftm_run_verdict {
	BFTM_KEPT,	/* the locks were held until all their processes had ended */
	BFTM_LOST,	/* a lock was lost, or its margin reached, and all processes have ended */
	BFTM_NOT_LEFT,	/* the locks were held, but the servers did not get the command's value */
	BFTM_SURVIVED,	/* a lock was lost, or its margin reached, and some processes go on */
};

/**
 * struct bftm_news - message of the keeper to the process that the user started
 * @what:    the command was started; it was stopped; it ended, and others may keep the
 *           lock; all is over
 * @status:  of waitpid() for the command
 * @verdict: with BFTM_NEWS_OVER
 */
struct bftm_news {
	enum {
		BFTM_NEWS_STARTED,
		BFTM_NEWS_STOPPED,
		BFTM_NEWS_LEFT,
		BFTM_NEWS_THERE,	/* to be answered by a byte */
		BFTM_NEWS_OVER,
	} what;
	int status;
	enum bftm_run_verdict verdict;
};

/**
 * bftm_keeper() - be the keeper, and exit
 * @run:  the command and its options
 * @peer: socket to the parent for struct bftm_news; at its end, or when the parent shuts
 *        it down for writing, all started processes are ended
 * @mask: signal mask for the command
 *
 * All signals are blocked, and stay so.
 */
_Noreturn void bftm_keeper(const struct bftm_run *run, int peer, const sigset_t *mask);

/**
 * bftm_keeper_take_over() - the keeper was killed: end all processes that it started
 * @run:    the command and its options
 * @closed: the handles are closed
 * @dead:   the keeper
 */
enum bftm_run_verdict bftm_keeper_take_over(const struct bftm_run *run, bool closed, pid_t dead);

/** bftm_close_locks() - close the handles of all locks */
void bftm_close_locks(const struct bftm_run *run);

#endif /* BFTM_KEEPER_H */
