/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Histories of locks, and what must hold for them. One clock (CLOCK_BOOTTIME, ns) for
 * all who write lines, each of them TIME WHAT WHO LOCK and up to three numbers:
 *
 *	invoke				acquire begins
 *	enter DEADLINE TOKEN [MODE]	it returned: held until then; token 0 for none, and MODE an
 *					enum bftm_lock_mode, EX without it
 *	mode MODE DEADLINE TOKEN	converted: from now on the process does what MODE allows, no
 *					more. One that gives a mode up says so before it asks
 *	fail ERRNO			it failed
 *	look BEFORE STATE DEADLINE	status, asked at BEFORE, said so. Renewals and late
 *					answers may have moved the deadline, but not back
 *	read TOKEN			the counter is about to be read
 *	saw TOKEN VALUE			and was, by one that only reads
 *	begin TOKEN VALUE		VALUE is about to be written
 *	wrote TOKEN VALUE		and was
 *	refuse TOKEN VALUE		and was not: a higher token was there
 *	leave				about to give the lock back
 *	kill				about to be killed (LOCK is "-")
 *	heal				all faults are over (WHO and LOCK are "-")
 *	granted LEFT COUNT		a server's own words: still in quarantine for LEFT ns,
 *					and since its start it granted COUNT (LOCK is "-")
 *	final VALUE			the counter at the end (WHO is "-")
 *
 * WHO is one process, and none has the name of an earlier one.
 */
#ifndef BFTM_TORTURE_HISTORY_H
#define BFTM_TORTURE_HISTORY_H

#include <stdbool.h>
#include <stdio.h>

#include "core/types.h"

enum what { INVOKE, ENTER, MODE, FAIL, LOOK, READ, SAW, BEGIN, WROTE, REFUSE, LEAVE, KILL, HEAL,
	    GRANTED, FINAL, WHATS };

#define HISTORY_MODES 5		/* enum bftm_lock_mode, but for BFTM_LOCK_NL */

struct event {
	u64 at_ns;
	u64 arg[3];
	u64 line;		/* from 1, in the order of their coming */
	enum what what;
	char who[24];
	char lock[24];
};

/**
 * struct stay - one holder in one mode, by what it was told
 * @enter_ns: acquire had returned, or a conversion
 * @end_ns:   given back, killed, converted, or the last deadline it was told, whichever was first;
 *            before @enter_ns when it was over before it ran
 * @tenure:   the line of its entry, for stays in several modes
 * @mode:     enum bftm_lock_mode
 */
struct stay {
	u64 enter_ns, end_ns, token, line, tenure, mode;
	char who[24];
	char lock[24];
};

struct history {
	struct event *event;
	struct stay *stay;
	size_t count, room, stays;
	u64 heal_bound_ns;	/* from heal to an entry of each lock, 0: does not matter */
	u64 violations;
	FILE *to;		/* violations are told there, NULL: nowhere */
};

/**
 * history_add() - one more line
 *
 * Return: false when it is not one.
 */
bool history_add(struct history *h, const char *line);

/** history_check() - Return: how many violations there are; @h is sorted then. */
u64 history_check(struct history *h);

void history_free(struct history *h);

/** history_lin() - the counters' part, as bftmutex-lin takes it. */
void history_lin(struct history *h, FILE *to);

__attribute__((format(printf, 2, 3)))
void history_blame(struct history *h, const char *format, ...);

/* Checks, each of one property. */
void history_stays(struct history *h);
void history_counters(struct history *h);
void history_healing(struct history *h);

int event_by_who(const void *a, const void *b);
int event_by_lock(const void *a, const void *b);

#endif /* BFTM_TORTURE_HISTORY_H */
