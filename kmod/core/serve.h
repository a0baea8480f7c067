/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The way of a request through a server, once for all that run one: is it addressed to this
 * server, is its tag right, is it new, may its client ask for this, does it know this start
 * of the server, is there room, what does the protocol say. The shell around
 * the cores answers for its tables, its keys and its memory.
 */
#ifndef BFTM_CORE_SERVE_H
#define BFTM_CORE_SERVE_H

#include "core/members.h"
#include "core/protocol.h"

/** enum bftm_sender - what the tag of a request says of its client */
enum bftm_sender {
	BFTM_SENDER_GENUINE,
	BFTM_SENDER_FORGED,	/* the tag is wrong: nothing is answered */
	BFTM_SENDER_CROWDED,	/* it is right, and there is no room for one more client */
};

/**
 * struct bftm_shell - what surrounds the cores of a server
 *
 * Each is given the @arg of bftm_serve() and the request. One that may be NULL stands then
 * for surroundings that have no such thing: a model's requests need no tag.
 *
 * @sender:  checks the tag; may be NULL
 * @take:    takes the sequence number. Return: false when it was taken before. May be NULL.
 * @behind:  after that, the answer bftm_refuse_behind(). Return: false for silence, whatever is in
 *           the answer. May be NULL.
 * @permit:  bftm_access_admit() by the server's rules; may be NULL
 * @tokens:  bftm_tokens_answer(); may be NULL
 * @may_be_stamped: bftm_tokens_may_be(), of a STAMP; may be NULL
 * @members: of the server, see core/members.h; may be NULL, or return it: there are none. Asked
 *           once more after @enter: what an administrator or SYNC changes while a request waits
 *           for its lock counts, as it does for the next request for that lock.
 * @synced:  a member has told all that it holds without a lease. Drops what it had in its
 *           incarnations up to @incarnation, of all locks: bftm_lock_drop(), with a lease or
 *           without; and then, not before, bftm_members_heard(). Return: false while that is not
 *           done: then SYNC gets no answer, and comes again. Not NULL if there are members.
 * @protocol: of that number, NULL for none; may itself be NULL, then the table has them
 * @enter:   finds the lock that the request names, keeps others from it until @leave, and
 *           lets it learn which tokens are known. A lock that is not there is made if @make.
 *           @now is the time of the step: read again, if it was waited for.
 *           Return: false for silence, for the request is out of date; then there is no @leave.
 *           Else @ret is the lock; NULL when it was not made, or there is no room for it.
 * @enlarge: gives @lock room for so many waiters, or leaves it; may be NULL
 * @leave:   the step is over; @lock may be NULL. Its decision is in @sends. May be NULL.
 */
struct bftm_shell {
	enum bftm_sender (*sender)(void *arg, const struct bftm_msg *req);
	bool (*take)(void *arg, const struct bftm_msg *req);
	bool (*behind)(void *arg, const struct bftm_msg *req, struct bftm_msg *reply);
	bool (*permit)(void *arg, const struct bftm_msg *req, struct bftm_server_cfg *cfg,
		       struct bftm_msg *reply);
	void (*tokens)(void *arg, const struct bftm_msg *req, u64 now, struct bftm_msg *reply);
	bool (*may_be_stamped)(void *arg, const struct bftm_msg *req, u64 now);
	const struct bftm_members *(*members)(void *arg);
	bool (*synced)(void *arg, u32 client, u32 incarnation);
	const struct bftm_protocol *(*protocol)(void *arg, u8 number);
	bool (*enter)(void *arg, const struct bftm_protocol *protocol, const struct bftm_msg *req,
		      bool make, u64 *now, void **ret);
	void (*enlarge)(void *arg, const struct bftm_protocol *protocol, void *lock, u32 waiters);
	void (*leave)(void *arg, const struct bftm_protocol *protocol, void *lock,
		      const struct bftm_msg *req, u64 now, const struct bftm_sends *sends);
};

/** enum bftm_served - how far a request came */
enum bftm_served {
	BFTM_SERVED,		/* there is an answer, or silence is the answer */
	BFTM_NOT_FOR_US,	/* dropped: another server's, or an answer */
	BFTM_NOT_GENUINE,	/* dropped: by its tag */
	BFTM_NOT_NEW,		/* dropped: its number was taken before */
};

/**
 * bftm_serve_version() - a datagram of another version
 * @shell: what surrounds the cores
 * @arg:   passed to the functions of @shell
 * @cfg:   the server's, constant while it runs
 * @head:  what later versions keep of the head
 * @reply: VERSION, if that is the answer
 * Return: BFTM_SERVED if it is: the datagram is a request, of a later version, authentic and fresh.
 */
enum bftm_served bftm_serve_version(const struct bftm_shell *shell, void *arg,
				    const struct bftm_server_cfg *cfg,
				    const struct bftm_msg *head, struct bftm_msg *reply);

/**
 * bftm_serve_head() - may a protocol see this request?
 * @shell: what surrounds the cores
 * @arg:   passed to the functions of @shell
 * @cfg:   the server's, constant while it runs
 * @head:  the request, or for a request to an object bftm_order_head() of it
 * @now:   the clock of leases, in ns
 * @limits: the server's configuration, narrowed to what this client may have
 * @admit: it may; else the answer is in @reply
 * @reply: the answer, if @admit is false
 * Return: BFTM_SERVED unless it was dropped.
 */
enum bftm_served bftm_serve_head(const struct bftm_shell *shell, void *arg,
				 const struct bftm_server_cfg *cfg, const struct bftm_msg *head,
				 u64 now, struct bftm_server_cfg *limits, bool *admit,
				 struct bftm_msg *reply);

/**
 * bftm_serve() - all of it, for a request about a lock
 * @shell: what surrounds the cores
 * @arg: passed to the functions of @shell
 * @cfg: the server's; constant while it runs
 * @req: in the form that bftm_wire_get() demands
 * @now: the clock of leases, in ns
 * @ret: what to send; the reply names the server's epoch. Nothing when it was dropped.
 * Return: how far it came.
 */
enum bftm_served bftm_serve(const struct bftm_shell *shell, void *arg,
			    const struct bftm_server_cfg *cfg, const struct bftm_msg *req,
			    u64 now, struct bftm_sends *ret);

#endif /* BFTM_CORE_SERVE_H */
