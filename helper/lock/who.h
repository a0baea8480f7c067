/* SPDX-License-Identifier: GPL-2.0 */
/* Who has a lock? All servers are asked, and b of their answers are lies. */
#ifndef BFTM_WHO_H
#define BFTM_WHO_H

#include "cluster/cluster.h"

struct json_object;

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
 * @said: of each server
 * @n:    servers
 * @b:    liars among them, at most
 * @ret:  the result
 */
void bftm_who_judge(const struct bftm_owner_said *said, u32 n, u32 b, struct bftm_owner *ret);

/** bftm_who_fn - takes the answer, which is its own now; @arg as of bftm_who_start() */
typedef void bftm_who_fn(int arg, struct json_object *answer);

/**
 * bftm_who_start() - ask the servers of a cluster
 * @cl:       the cluster
 * @name:     of the lock
 * @len:      bytes of @name, 1 to BFTM_NAME_LEN_MAX
 * @limit_ns: how long to ask
 * @tell:     called once, later, with a lock-who answer, or one with "error" and "errno"
 * @arg:      for @tell
 * Return: 0; -EAGAIN when too many ask, -ENOMEM.
 */
int bftm_who_start(struct bftm_cluster *cl, const u8 *name, u8 len, u64 limit_ns,
		   bftm_who_fn *tell, int arg);

/** bftm_who_answer() - OWNER or REFUSED of server @u, authentic and new */
void bftm_who_answer(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg);

/** bftm_who_epoch() - server @u did not read an ASK, as it was for an earlier start: ask again */
void bftm_who_epoch(struct bftm_cluster *cl, u32 u);

/** bftm_who_stop() - the cluster ends: all that ask are told so */
void bftm_who_stop(struct bftm_cluster *cl);

#endif /* BFTM_WHO_H */
