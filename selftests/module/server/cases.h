/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the programs that take a server through cases, datagram by datagram:
 *
 *	PROGRAM SERVER CASE ADDRESS CREDENTIALS [ADDRESS CREDENTIALS]...
 *
 * Exit status 0: no fault was found; faults are on stderr. The programs print by how much the
 * server's counters must have grown.
 */
#ifndef BFTM_TEST_CASES_H
#define BFTM_TEST_CASES_H

#include "selftests/lib/datagram.h"

#define PEERS_MAX 8
/* The lease that cases ask for: a waiter that is not heard for half of it waits no more. */
extern u64 long_ns;

/* Name of the lock of the case. */
extern char lock_name[24];

struct bftm_msg queue_try(u64 attempt, u32 k, u64 prio);

/* Like ask(), and counts the answer. */
struct bftm_msg want_reply(struct peer *p, struct bftm_msg m, u8 type, const char *why);

void want_wait(struct peer *p, struct bftm_msg m, u32 position, const char *why);
void want_refused(struct peer *p, struct bftm_msg m, enum bftm_refusal reason, const char *why);
void want_released(struct peer *p, u64 attempt);

/* The next datagram is a push. */
struct bftm_msg pushed(struct peer *p, u8 type, const struct bftm_msg *about, u64 gno,
		       const char *why);

void yield(struct peer *p, u64 attempt, u64 gno);

/** struct test - a case, a lock of its own in @lock_name; the last has no name */
struct test {
	const char *name;
	void (*run)(struct peer *p);
	int peers;
};

int run_case(int argc, char **argv, const struct test *t);

#endif /* BFTM_TEST_CASES_H */
