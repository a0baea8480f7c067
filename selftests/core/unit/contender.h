/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A client among n servers that the tests play by hand. Unless a test says
 * otherwise n = 7, b = 1: F = 5 FREE win, more than n - F = 2 others lose.
 */
#ifndef BFTM_UNIT_CONTEND_H
#define BFTM_UNIT_CONTEND_H

#include "unit.h"

#include "core/backoff/client.h"
#include "core/backoff/protocol.h"
#include "core/release.h"
#include "core/lease.h"
#include "core/quorum.h"

#define MS	BFTM_NS_PER_MS
#define L	(1000 * MS)
#define GOOD	(998 * MS - BFTM_TICK_NS)	/* L (1 - ρ) - tick */
#define LEAST	(187500000ull)		/* 1.5 L/8: what must be left at the beginning */
#define RESEND	(40 * MS)
#define T0	(5000 * MS)
#define ALL	0x7fu

/* The client, what it last wanted to be done, and what it was asked for. */
extern struct bftm_client_cfg cfg;
extern struct bftm_contend c;
extern struct bftm_out out;
extern struct bftm_want want;

int fresh_client(void **state);
void start(u64 attempt, u64 now);

/* Server @u says this about the current attempt; what comes of it? */
enum bftm_verdict says(u32 u, u8 type, u32 k, u64 now);

/* The same with the number of a grant, or of a token that is answered. */
enum bftm_verdict says_of(u32 u, u8 type, u32 k, u64 gno, u64 now);

/* All servers of this set say so to send number 1; the last verdict counts. */
enum bftm_verdict all_say(u32 set, u8 type, u64 now);

enum bftm_verdict refuses(u32 u, u32 reason, u64 now);
enum bftm_verdict wake(u64 now, u64 attempt, u64 rnd);

/* Nothing to do, nothing to send. */
void assert_quiet(void);

void assert_cancelled(u64 attempt);

#endif /* BFTM_UNIT_CONTEND_H */
