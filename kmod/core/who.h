/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Who has a lock? The servers answer to ASK, and b of them lie. An answer that b + 1 give is one of
 * a correct server; that nobody has the lock is known when F say so, since F + F - n > b.
 */
#ifndef BFTM_CORE_WHO_H
#define BFTM_CORE_WHO_H

#include "core/types.h"

/** enum bftm_who - what the answers of servers prove */
enum bftm_who {
	BFTM_WHO_UNSURE,	/* nothing: the lock changes hands, or too few servers agree */
	BFTM_WHO_NOBODY,	/* no client had F grants */
	BFTM_WHO_GRANTED,	/* a correct server has granted the lock to this client */
	BFTM_WHO_HELD,		/* F servers say so */
};

/**
 * struct bftm_owner_said - what a server says: the fields of OWNER
 * @told:     it has answered
 * @attempt:  that has the lock, 0 for none
 * @rest_ns:  left of its lease, BFTM_LEASE_NONE without one
 * @token:    highest fencing token stamped, BFTM_TOKEN_UNKNOWN after a restart
 * @client:   of @attempt
 * @waiters:  clients that wait
 * @holders:  clients with a grant
 * @mode:     enum bftm_mode of @attempt
 */
struct bftm_owner_said {
	bool told;
	u64 attempt;
	u64 rest_ns;
	u64 token;
	u32 client;
	u32 waiters;
	u32 holders;
	u8 mode;
};

/**
 * struct bftm_owner - what may be believed
 * @who:     for @said: NOBODY has no attempt, and UNSURE only zeroes
 * @said:    @token is BFTM_TOKEN_UNKNOWN unless b + 1 of those that agree say it
 * @counted: waiters, holders and rest lie between those of correct servers: 2b + 1 agree
 * @told:    servers that have answered
 */
struct bftm_owner {
	enum bftm_who who;
	struct bftm_owner_said said;
	bool counted;
	u32 told;
};

/**
 * bftm_who_judge() - what the answers prove
 * @said:   of each server
 * @n:      servers, 1 to BFTM_SERVERS_MAX
 * @b:      liars among them, at most; n >= 3b + 1
 * @needed: grants that win, as of bftm_win()
 * @ret:    the result
 */
void bftm_who_judge(const struct bftm_owner_said *said, u32 n, u32 b, u32 needed,
		    struct bftm_owner *ret);

#endif /* BFTM_CORE_WHO_H */
