/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Client side of the ordering protocol (Figure 2, corrected): the ordering
 * thread, one struct bftm_order per object, and the vote on a response. Inputs
 * are a beginning, an answer, a state that the caller has made, a timer; each
 * says what to send. Bodies, and the mutex of line 2.9, are the caller's: whether
 * it contends is a question of speed, not of order.
 *
 * client.c runs an iteration, choose.c decides what it proposes,
 * vote.c counts responses.
 */
#ifndef BFTM_CORE_ORDER_CLIENT_H
#define BFTM_CORE_ORDER_CLIENT_H

#include "core/ordering/state.h"
#include "core/ordering/wire.h"

/**
 * struct bftm_order_cfg - what all objects of a cluster share
 * @n:            servers, at most BFTM_SERVERS_MAX
 * @b:            liars among them; n >= 6b + 1, or 4b + 1 with @signed_ranks
 * @signed_ranks: one exception with a good signature ends an iteration
 * @resend_ns:    when to repeat what was not answered; see bftm_later()
 * @limit_ns:     Lmax: an older iteration is abandoned; at most the Δmax of
 *                every server, whose quarantine outlasts it
 */
struct bftm_order_cfg {
	u32 n;
	u32 b;
	bool signed_ranks;
	u64 resend_ns;
	u64 limit_ns;
};

#define BFTM_ORDER_SENDS	5	/* sends of a phase until it is given up */
#define BFTM_INSTALL_SENDS	3	/* likewise, where nobody waits for it */

/** enum bftm_order_phase - where an iteration stands */
enum bftm_order_phase {
	BFTM_ORDER_IDLE,	/* there is none */
	BFTM_ORDER_GETTING,	/* lines 2.10–13 */
	BFTM_ORDER_MAKING,	/* lines 2.14–24: the caller makes the state */
	BFTM_ORDER_PROPOSING,	/* lines 2.25–27 */
	BFTM_ORDER_COMMITTING,	/* lines 2.28–31 */
	BFTM_ORDER_INSTALLING,	/* committed; servers that recover are told */
};

/** enum bftm_order_verdict - what became of an iteration */
enum bftm_order_verdict {
	BFTM_ORDER_ON,		/* it goes on */
	BFTM_ORDER_MAKE,	/* make the state: see bftm_order_made() */
	BFTM_ORDER_DONE,	/* @next is committed at a quorum */
	BFTM_ORDER_DONE_MAKE,	/* … and the next iteration makes its state, as after MAKE */
	BFTM_ORDER_OUTRANKED,	/* over: others have a higher rank */
	BFTM_ORDER_TIMEOUT,	/* over: too few answered in time */
	BFTM_ORDER_UNSURE,	/* over: the answers say too little, try again */
	BFTM_ORDER_DENIED,	/* over: b + 1 servers refused, all for @refusal */
};

/**
 * struct bftm_order_out - what to do after a call
 * @verdict: what became of the iteration
 * @send:    enum bftm_order_type to send, 0 for nothing. GET, with @rank; or
 *           PROPOSE, COMMIT, INSTALL of @next with @rank; or COMMIT_GET, the same
 *           with bftm_order_then(). PROPOSE, INSTALL and
 *           all to servers in @bodyless bring the body as data, if it fits. If
 *           not, its pieces are PUT before: before INSTALL, before PROPOSE when
 *           @applies, and to servers in @bodyless
 * @to:      to these servers, a bit mask
 * @refusal: enum bftm_refusal, when denied
 */
struct bftm_order_out {
	enum bftm_order_verdict verdict;
	u8 send;
	u32 to;
	u32 refusal;
};

/** struct bftm_op - an operation that servers told of */
struct bftm_op {
	u64 op;
	u32 client;
	struct bftm_body_id id;
};

/**
 * struct bftm_got - what one server answered to GET, or to COMMIT_GET
 * @sc:      σc, the state committed last there; of GET only
 * @sp:      σpc, proposed or committed last; likewise
 * @prop:    rank of the proposer of @sp; likewise
 * @pending: how many operations wait there
 * @count:   entries of @op
 * @op:      operations that wait
 */
struct bftm_got {
	struct bftm_body_id sc;
	struct bftm_body_id sp;
	struct bftm_rank prop;
	u32 pending;
	u32 count;
	struct bftm_op op[BFTM_ORDER_NEXT_WAITING_MAX];
};

/**
 * struct bftm_order - the ordering thread of one object
 * @phase:      where it stands
 * @rank:       of the iteration; @rank.client and @rank.incarnation are set by
 *              the caller once
 * @completed:  of line 2.17, kept over iterations
 * @refresh:    the iteration commits what is committed once more, whoever says that it is
 * @answered:   servers that did in this phase
 * @excepted:   servers that have shown a higher rank
 * @recovering: servers that said RECOVERING
 * @bodyless:   servers that said NEEDBODY
 * @refusal:    what each server refused for last, 0 if it has not
 * @reported:   count of the highest rank that each server has shown
 * @proven:     … and that any has shown with a good signature
 * @timeouts:   since the last commit, or since too many were ahead
 * @proofs:     iterations in a row that one signed rank has ended
 * @got:        answers to GET; those in @quorum count
 * @quorum:     of servers that answered GET
 * @base:       the state that was chosen
 * @holders:    servers that have the body of @base, a bit mask
 * @applies:    operations are to be applied to @base; otherwise it is proposed
 *              again as it is
 * @next:       the state that is proposed and committed
 * @more:       written by the caller, until q have said PROPOSED: it will need another
 *              iteration. Then COMMIT_GET commits, and is the GET of that one; not while
 *              servers recover, which are to be told by INSTALL before that
 * @then:       count of the rank of that iteration; 0: COMMIT was said
 * @then_ns:    when it was asked with first, so when that iteration begins
 * @begun_ns:   when the iteration began
 * @wake_ns:    when to call bftm_order_wake()
 * @sends:      of this phase
 * @waiting:    most operations that a server told to wait, last time
 */
struct bftm_order {
	enum bftm_order_phase phase;
	struct bftm_rank rank;
	u64 completed;
	bool refresh;
	u32 answered;
	u32 excepted;
	u32 recovering;
	u32 bodyless;
	u32 refusal[BFTM_SERVERS_MAX];
	u64 reported[BFTM_SERVERS_MAX];
	u64 proven;
	u32 timeouts;
	u32 proofs;
	struct bftm_got got[BFTM_SERVERS_MAX];
	u32 quorum;
	struct bftm_body_id base;
	u32 holders;
	bool applies;
	struct bftm_body_id next;
	bool more;
	u64 then;
	u64 then_ns;
	u64 begun_ns;
	u64 wake_ns;
	u32 sends;
	u32 waiting;
};

/**
 * bftm_order_silence_ok() - may this server's answers count?
 * @server_ns: its longest lease, as it says
 * @limit_ns:  the longest lease that limits our iterations
 *
 * A server that lost its memory is silent for its own longest lease. An iteration that
 * began before must be over by then: it may last no longer than that.
 */
static inline bool bftm_order_silence_ok(u64 server_ns, u64 limit_ns)
{
	return server_ns >= limit_ns;
}

/**
 * bftm_order_begin() - begin an iteration, with a fresh rank
 * @o:       the ordering thread
 * @cfg:     the cluster
 * @refresh: for servers that recover: commit the committed state once more, and apply nothing to it
 * @now:     the clock of leases, ns
 * @out:     what to do
 */
void bftm_order_begin(struct bftm_order *o, const struct bftm_order_cfg *cfg,
		      bool refresh, u64 now, struct bftm_order_out *out);

/**
 * bftm_order_answer() - an authentic answer of server number @u (0 … n - 1)
 * @o:       the ordering thread
 * @cfg:     the cluster
 * @u:       its number
 * @msg:     the answer, authentic
 * @genuine: an EXCEPTION whose rank is signed well by the client it names
 * @now:     the clock of leases, ns
 * @out:     what to do
 *
 * EXCEPTION is passed in when no iteration is under way as well: its rank counts.
 */
void bftm_order_answer(struct bftm_order *o, const struct bftm_order_cfg *cfg, u32 u,
		       const struct bftm_order_msg *msg, bool genuine, u64 now,
		       struct bftm_order_out *out);

/** bftm_order_refused() - server @u said REFUSED to a request of the iteration */
void bftm_order_refused(struct bftm_order *o, const struct bftm_order_cfg *cfg, u32 u,
			u32 reason, u64 now, struct bftm_order_out *out);

/**
 * bftm_order_made() - the caller has made the state
 * @o:   the ordering thread
 * @cfg: the cluster
 * @id:  @o->base when it is proposed as it is; otherwise a state with the next version, in which at
 *       least one operation was applied
 * @now: the clock of leases, ns
 * @out: what to do
 */
void bftm_order_made(struct bftm_order *o, const struct bftm_order_cfg *cfg,
		     const struct bftm_body_id *id, u64 now, struct bftm_order_out *out);

/**
 * bftm_order_unmade() - the iteration ends without a state: nothing is left to apply, no server
 * gives a body that it said it has, or the caller gives up
 * @o: the ordering thread
 */
void bftm_order_unmade(struct bftm_order *o);

/** bftm_order_wake() - the time is @now; does nothing before o->wake_ns */
void bftm_order_wake(struct bftm_order *o, const struct bftm_order_cfg *cfg, u64 now,
		     struct bftm_order_out *out);

/** bftm_order_then() - rank of the GET in COMMIT_GET */
static inline struct bftm_rank bftm_order_then(const struct bftm_order *o)
{
	return (struct bftm_rank){ o->then, o->rank.client, o->rank.incarnation };
}

/** bftm_order_message() - what the phase sends, enum bftm_order_type; 0 for nothing */
u8 bftm_order_message(const struct bftm_order *o);

/* choose.c */

/**
 * bftm_order_choose() - lines 2.14–24 and 2.33–43
 * @o:   the ordering thread
 * @cfg: the cluster
 *
 * Sets @o->completed, @o->base, @o->holders and @o->applies.
 *
 * Return: false when the answers say too little.
 */
bool bftm_order_choose(struct bftm_order *o, const struct bftm_order_cfg *cfg);

/** bftm_order_read_ops() - what waits, as GOT or COMMITTED_GOT tells */
void bftm_order_read_ops(struct bftm_got *got, const struct bftm_order_msg *msg);

/**
 * bftm_order_ops() - the operations that b + 1 servers say wait
 * @o:       the ordering thread
 * @cfg:     the cluster
 * @ret:     ascending by client, one a client
 * @holders: servers that told of each, a bit mask
 * @room:    entries of @ret and of @holders
 * Return: how many. Valid after BFTM_ORDER_MAKE and BFTM_ORDER_DONE_MAKE.
 */
u32 bftm_order_ops(const struct bftm_order *o, const struct bftm_order_cfg *cfg,
		   struct bftm_op *ret, u32 *holders, u32 room);

/** bftm_order_room() - @room of @type, GET or COMMIT_GET: for more than waited the last time */
u16 bftm_order_room(const struct bftm_order *o, u8 type);

/* vote.c: lines 2.3–7 */

/**
 * struct bftm_vote - the response to an operation, piece by piece
 * @op:     its number
 * @offset: of the piece that is voted on
 * @heard:  servers that have said what it is
 * @refusal: what each server refused for last, 0 if it has not
 * @said:   by each; bytes of the response, or BFTM_RESPONSE_GONE, bytes of the
 *          piece, and the piece
 */
struct bftm_vote {
	u64 op;
	u32 offset;
	u32 heard;
	u32 refusal[BFTM_SERVERS_MAX];
	struct {
		u32 len;
		u16 data_len;
		u8 data[BFTM_ORDER_SAID_MAX];
	} said[BFTM_SERVERS_MAX];
};

/**
 * bftm_vote_refused() - server number @u refused for @reason, enum bftm_refusal
 * @refusal: of all servers; changed
 * @cfg:     the cluster
 * @u:       its number, less than n
 * @reason:  enum bftm_refusal
 *
 * Return: b + 1 servers have refused for it, so a correct one has.
 */
bool bftm_vote_refused(u32 refusal[BFTM_SERVERS_MAX], const struct bftm_order_cfg *cfg, u32 u,
		       u32 reason);

/** bftm_vote_begin() - nobody has said anything about @op from @offset on. */
void bftm_vote_begin(struct bftm_vote *v, u64 op, u32 offset);

/**
 * bftm_vote_count() - an authentic RESPONSE of server number @u
 * @v:   the votes so far
 * @cfg: the cluster
 * @u:   its number, less than n
 * @msg: the answer, authentic
 *
 * A correct server may say the response, and another that it is gone already.
 *
 * Return: a server whose answer b + 1 have given; -1 while there is none.
 */
int bftm_vote_count(struct bftm_vote *v, const struct bftm_order_cfg *cfg, u32 u,
		    const struct bftm_order_msg *msg);

/**
 * bftm_vote_committed() - the response that a client reads in the state that it has committed
 * @o:     the ordering thread, right after BFTM_ORDER_DONE or BFTM_ORDER_DONE_MAKE: q servers have
 *         committed @o->next
 * @id:    of the state that the client has
 * @state: its body, with this digest, that passed bftm_state_ok(); NULL for σ0
 * @op:    the client's operation under way, not 0
 * @ret:   what was applied; only if true
 *
 * The state says what the servers push (lines 3.19–27), so the client need not wait for lines
 * 2.3–7. It decides by its last operation of this client alone: the entry of an earlier one says
 * nothing of @op, and neither does one whose response gave way to others.
 *
 * Return: @ret has the response. False: the client waits for b + 1 servers.
 */
bool bftm_vote_committed(const struct bftm_order *o, const struct bftm_body_id *id, const u8 *state,
			 u64 op, struct bftm_applied *ret);

#endif /* BFTM_CORE_ORDER_CLIENT_H */
