/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Access: a list of rules which clients may take which locks, asked by a server before its
 * protocol. The first rule that fits client and name decides.
 */
#ifndef BFTM_CORE_ACCESS_H
#define BFTM_CORE_ACCESS_H

#include "core/admit.h"

/**
 * struct bftm_rule - a rule
 * @lease_max_ns: longest lease, BFTM_LEASE_MIN_NS … BFTM_LEASE_MAX_NS; 0: the
 *                server's. The shorter of both counts.
 * @client_first: it is for clients from this one
 * @client_last:  to this one; every client is 1 … BFTM_CLIENT_ID_MAX
 * @waiters_max:  a lock with so many waiters takes no more by this rule, 1 …
 *                BFTM_WAITERS_MAX; 0: the server's. The smaller of both counts.
 * @deny:         refuse; the limits mean nothing then
 * @leaseless:    its clients may hold the lock without a lease; they are members, see
 *                core/members.h
 * @prefix_len:   bytes of @prefix, 0: every name
 * @prefix:       it is for names that begin so
 */
struct bftm_rule {
	u64 lease_max_ns;
	u32 client_first;
	u32 client_last;
	u32 waiters_max;
	bool deny;
	bool leaseless;
	u8 prefix_len;
	u8 prefix[BFTM_NAME_LEN_MAX];
};

/**
 * bftm_access_find() - the rule that decides on a request
 * @rule:  the rules, in their order
 * @count: how many
 * @req:   about a lock; or RECOVER, which is about all of them: the first rule
 *         that lets its client take every lock, or refuses it some
 * Return: the rule, NULL when none fits.
 */
const struct bftm_rule *bftm_access_find(const struct bftm_rule *rule, u32 count,
					 const struct bftm_msg *req);

/** bftm_access_leaseless() - may any client hold the lock that @req names without a lease? */
bool bftm_access_leaseless(const struct bftm_rule *rule, u32 count, const struct bftm_msg *req);

/**
 * bftm_access_admit() - may the protocol see this request?
 * @rule:  the rules, in their order
 * @count: how many, up to BFTM_RULES_MAX; 0: everything is allowed
 * @req:   authentic; all but RELEASE, which only gives back, HELLO, SYNC and LIST need the
 *         right. A request that bftm_admit() challenges, because it was made for another
 *         incarnation, does not.
 * @cfg:   in the server, out with the limits that the rule leaves of it. It is
 *         for this request alone: its lease_max_ns is not the quarantine's. In, @cfg->recovering
 *         says that the server waits for members; out, that this concerns the lock.
 * @reply: the answer when not: REFUSED, by BFTM_REFUSED_ACCESS. May not be @req.
 *
 * That a lease is too long or a queue too full is for the protocol to say, by
 * the limits in @cfg.
 *
 * Return: true when it may, then @reply is untouched; else @cfg is.
 */
bool bftm_access_admit(const struct bftm_rule *rule, u32 count,
		       const struct bftm_msg *req, struct bftm_server_cfg *cfg,
		       struct bftm_msg *reply);

#endif /* BFTM_CORE_ACCESS_H */
