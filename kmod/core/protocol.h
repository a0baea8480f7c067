/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The seam: all that code outside of a protocol knows of it. A protocol is a pair of cores, one
 * for clients and one for servers, and a line in the table of kmod/protocols.c. Their shells, in
 * the kernel, the daemon, the liar, the simulator, the models, the fuzzers and the unit tests,
 * find the protocol by the number in the header of a message.
 *
 * Ordering is no lock and has no place here: kmod/core/ordering/wire.h.
 */
#ifndef BFTM_CORE_PROTOCOL_H
#define BFTM_CORE_PROTOCOL_H

#include "core/admit.h"
#include "core/client.h"

/**
 * struct bftm_sends - what a server sends after a step
 * @reply:   to the client that asked; type BFTM_MSG_NONE for silence
 * @push:    to @push.client, which did not ask just now; type BFTM_MSG_NONE for nothing
 * @granted: the lock has a grant that it did not have before, of either client
 */
struct bftm_sends {
	struct bftm_msg reply;
	struct bftm_msg push;
	bool granted;
};

/**
 * struct bftm_lock_view - what lists and checkers see of a lock at a server
 * @attempt:   that owns it, 0 for none; of several the one with the strongest mode
 * @until_ns:  last instant of its grant
 * @grant:     number of the newest grant
 * @token_max: highest fencing token stamped, or BFTM_TOKEN_UNKNOWN
 * @client:    that owns it
 * @waiters:   clients that are queued
 * @holders:   clients that have a grant
 * @places:    that are taken in the block of @move_room, by waiters, holders and a value
 * @mode:      enum bftm_mode: of its grant
 */
struct bftm_lock_view {
	u64 attempt;
	u64 until_ns;
	u64 grant;
	u64 token_max;
	u32 client;
	u32 waiters;
	u32 holders;
	u32 places;
	u8 mode;
};

/**
 * struct bftm_server_ops - the server side of a protocol
 *
 * A lock is @lock_size bytes that the caller keeps, one lock per name; the caller serialises
 * the calls for a lock, and @now never runs backwards for it.
 *
 * @lock_size:  bytes of the state of one lock
 * @init:       a lock that no client has: its first grant is numbered @grant + 1, and no
 *              token above @token_max was stamped
 * @knows:      is it known which tokens were stamped?
 * @learn:      no token above @token_max was stamped; ignored when more is known
 * @creates:    must the lock that this request names be made? Without it @step is given NULL.
 * @wants_room: places that the lock is to have before @step is given this request; 0 when its
 *              room will do. Without more room @step refuses. NULL: never.
 * @room_size:  bytes of a block with so many places
 * @move_room:  moves all that have a place into a block with @room of them. Return: the block
 *              that they were in, NULL for none. With a @block of NULL none has a place any more:
 *              for a lock that goes, or of which @describe counts none.
 * @room:       places that the lock's block has
 * @step:       decides a request
 * @deadline:   when to call @expire, which may be at once; 0: not before the next request
 * @expire:     takes back grants that are over, and grants to the next waiter; the name of
 *              @push is left to the caller. Return: true when a grant was over.
 * @waits:      is this attempt of a client queued? For checkers.
 * @granted:    has this attempt of a client a grant? Then @ret is of this one. For checkers.
 * @drop:       bftm_lock_drop(). NULL: each grant has a lease.
 * @lasting:    bftm_lock_lasting(). NULL likewise
 * @idle:       may the lock be forgotten, but for late messages of attempts that are over, and
 *              for what it keeps?
 * @keeps:      has it a value that clients would miss? Then it is forgotten only where room is
 *              needed. NULL: never.
 * @describe:   for lists and checkers
 */
struct bftm_server_ops {
	size_t lock_size;
	void (*init)(void *lock, u64 grant, u64 token_max);
	bool (*knows)(const void *lock);
	void (*learn)(void *lock, u64 token_max);
	bool (*creates)(const struct bftm_server_cfg *cfg, const struct bftm_msg *req);
	u32 (*wants_room)(const struct bftm_server_cfg *cfg, const void *lock,
			  const struct bftm_msg *req, u64 now);
	size_t (*room_size)(u32 waiters);
	void *(*move_room)(void *lock, void *block, u32 room);
	u32 (*room)(const void *lock);
	void (*step)(const struct bftm_server_cfg *cfg, void *lock, const struct bftm_msg *req,
		     u64 now, struct bftm_sends *ret);
	u64 (*deadline)(const void *lock);
	bool (*expire)(const struct bftm_server_cfg *cfg, void *lock, u64 now,
		       struct bftm_msg *push);
	bool (*waits)(const void *lock, u32 client, u64 attempt);
	bool (*granted)(const void *lock, u32 client, u64 attempt, struct bftm_lock_view *ret);
	bool (*drop)(void *lock, u32 client, u32 incarnation, bool leased);
	bool (*lasting)(const void *lock, u32 index, u32 *ret_client);
	bool (*idle)(const void *lock, u64 now);
	bool (*keeps)(const void *lock);
	void (*describe)(const void *lock, struct bftm_lock_view *ret);
};

/**
 * struct bftm_client_ops - the client side of a protocol
 *
 * A lock that is wanted or held is @size bytes that the caller keeps, zeroed before first
 * use, and that begin with struct bftm_contender; the caller serialises the calls for it. Reports
 * of servers are kept from one request to the next. Each function but those that only
 * look says in @out what to do.
 *
 * @size:    bytes for a cluster of @n servers
 * @start:   begin; @attempt was never used before by this client, @now was read before
 * @adopt:   go on with a lock that an earlier helper won: @attempt holds it until @end_ns,
 *           @end of that helper, and used send numbers up to @sends and BFTM_ADOPT_SENDS
 *           more. @c has the token of the held lock already. That helper left a value with a mode
 *           that it gave up if @left, and perhaps not all servers have heard of that. Nothing is
 *           sent before @renew.
 * @answer:  an authentic reply of server number @u (0 ... n - 1); @rnd has 64 random bits
 * @epoch:   server @u has a new epoch: repeat there what was asked
 * @restarted: server @u has a new epoch, as its CHALLENGE says: what it granted without a lease
 *           is forgotten there. NULL: each grant has a lease.
 * @retold:  does server @u know the locks held without a lease? NULL likewise
 * @wake:    the time is @now; does nothing before wake_ns. @attempt is fresh, and used when a
 *           new round begins: see attempt afterwards.
 * @renew:   ask now for a longer hold, if it is held at all
 * @convert: hold it in another mode, which is there at once if the one held covers it; it is
 *           BFTM_CONVERTED or BFTM_KEPT now or later. NULL: there is one mode
 * @keep:    give the conversion up that is under way: BFTM_KEPT
 * @held:    enum bftm_mode: that it is held in; BFTM_MODE_NL while it is not
 * @value:   the value that its servers told. NULL: there are no values
 * @leave:   as @stop, of a holder that is done: it leaves a value, whose @at does not matter; or
 *           with NULL the one that was. NULL likewise
 * @stop:    release the held lock, or cancel the request. The caller has stopped using
 *           the resource before. The value is in doubt if it could write one.
 * @end:     the last instant at which the lock is held, by the clock of leases, ns; 0 when it
 *           is not
 * @round_ns: how long a round takes in which nobody answers
 * @reached: did enough servers answer to decide, in this round or the last?
 * @lacks_tokens: is it held but for a token, which too few servers can stamp?
 * @granted_ns: when the latest send was made that server @u granted; 0 if it owes no grant
 * @seen:    priority from which the next request for the lock is to start
 */
struct bftm_client_ops {
	size_t (*size)(u32 n);
	void (*start)(struct bftm_contender *c, const struct bftm_client_cfg *cfg,
		      const struct bftm_want *want, u64 attempt, u64 now, struct bftm_out *out);
	void (*adopt)(struct bftm_contender *c, const struct bftm_client_cfg *cfg,
		      const struct bftm_want *want, u64 attempt, u64 end_ns, u32 sends,
		      bool left);
	void (*answer)(struct bftm_contender *c, const struct bftm_client_cfg *cfg, u32 u,
		       const struct bftm_msg *msg, u64 now, u64 rnd, struct bftm_out *out);
	void (*epoch)(struct bftm_contender *c, u32 u, struct bftm_out *out);
	void (*restarted)(struct bftm_contender *c, const struct bftm_client_cfg *cfg, u32 u,
			  u64 now, struct bftm_out *out);
	bool (*retold)(const struct bftm_contender *c, u32 u);
	void (*wake)(struct bftm_contender *c, const struct bftm_client_cfg *cfg, u64 now,
		     u64 attempt, u64 rnd, struct bftm_out *out);
	void (*renew)(struct bftm_contender *c, const struct bftm_client_cfg *cfg, u64 now,
		      struct bftm_out *out);
	void (*convert)(struct bftm_contender *c, const struct bftm_client_cfg *cfg,
			const struct bftm_conversion *to, u64 now, struct bftm_out *out);
	void (*keep)(struct bftm_contender *c, const struct bftm_client_cfg *cfg, u64 now,
		     struct bftm_out *out);
	enum bftm_mode (*held)(const struct bftm_contender *c);
	void (*value)(const struct bftm_contender *c, const struct bftm_client_cfg *cfg, u64 now,
		      struct bftm_value_told *ret);
	void (*leave)(struct bftm_contender *c, const struct bftm_client_cfg *cfg,
		      const struct bftm_written *value, struct bftm_out *out);
	void (*stop)(struct bftm_contender *c, const struct bftm_client_cfg *cfg,
		     struct bftm_out *out);
	u64 (*end)(const struct bftm_contender *c, const struct bftm_client_cfg *cfg);
	u64 (*round_ns)(const struct bftm_client_cfg *cfg);
	bool (*reached)(const struct bftm_contender *c, const struct bftm_client_cfg *cfg);
	bool (*lacks_tokens)(const struct bftm_contender *c, const struct bftm_client_cfg *cfg);
	u64 (*granted_ns)(const struct bftm_contender *c, u32 u);
	u64 (*seen)(const struct bftm_contender *c, const struct bftm_client_cfg *cfg);
};

/** enum bftm_trait - what a protocol promises; what surrounds the cores relies on it */
enum bftm_trait {
	/*
	 * Each grant of a server ends by itself: hosts, helpers and servers may go down, and
	 * RELEASE is a matter of speed. Else RELEASE is repeated until it is answered.
	 */
	BFTM_LEASED = 1 << 0,
	BFTM_FENCES = 1 << 1,	/* fencing tokens */
	BFTM_SHARES = 1 << 2,	/* all modes, and not EX alone */
	BFTM_VALUES = 1 << 3,	/* a value that holders leave for the next */
	BFTM_LEASELESS = 1 << 4, /* also grants without a lease, which do not end by themselves */
};

/**
 * struct bftm_protocol - a protocol for locks
 * @number: in the header of its messages, enum bftm_proto
 * @name:   in configurations
 * @traits: enum bftm_trait
 * @servers_needed: least number of servers that masks @b liars; more than BFTM_SERVERS_MAX
 *          when none does
 * @server: its server side
 * @client: its client side
 */
struct bftm_protocol {
	u8 number;
	const char *name;
	u32 traits;
	u32 (*servers_needed)(u32 b);
	const struct bftm_server_ops *server;
	const struct bftm_client_ops *client;
};

#define BFTM_PROTOCOLS_MAX	4	/* so that shells can keep one of something for each */

/*
 * The table: kmod/protocols.c, where no test has another. It ends with NULL; at most
 * BFTM_PROTOCOLS_MAX.
 */
extern const struct bftm_protocol *const bftm_protocols[];

/** bftm_protocol_index() - the place in the table of a number, or -1. */
static inline int bftm_protocol_index(u8 number)
{
	int i;

	for (i = 0; bftm_protocols[i]; i++)
		if (bftm_protocols[i]->number == number)
			return i;
	return -1;
}

/** bftm_protocol_of() - the protocol of a number, or NULL. */
static inline const struct bftm_protocol *bftm_protocol_of(u8 number)
{
	int index = bftm_protocol_index(number);

	return index < 0 ? NULL : bftm_protocols[index];
}

#endif /* BFTM_CORE_PROTOCOL_H */
