/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A lock that a host asks for, holds and gives back by itself, as the kernel does: one attempt,
 * from its first TRY until servers know of its end.
 *
 *	ASK -> HOLD -> END
 *	 \______________^	lost, given up or handed over
 *
 * In ASK the attempt may wait in the servers' queue, for long; in HOLD the host renews the lock.
 * An attempt that would have to sleep (Figure 1) is lost: its caller begins another one.
 *
 * The caller has the memory, serialises the steps, sends what they say, and calls wake() in time.
 */
#ifndef BFTM_CORE_HOST_H
#define BFTM_CORE_HOST_H

#include "core/protocol.h"
#include "core/release.h"

#define BFTM_HOST_SENDS	3	/* sends to servers of which too few answer, and it is lost */

/** enum bftm_host_state - where an attempt stands */
enum bftm_host_state {
	BFTM_HOST_ASK,	/* servers are asked for the lock, then for its token */
	BFTM_HOST_HOLD,	/* a program holds the lock, which is renewed if it is to be */
	BFTM_HOST_END,	/* RELEASE goes to those that were asked, until they answer */
};

/**
 * struct bftm_host - one attempt
 * @state:    see there
 * @core:     the client side of its protocol
 * @client:   the lock in ASK and HOLD; the caller's to free in END
 * @attempt:  its number
 * @sent:     servers to which TRY went out, but for those of bftm_host_unsent()
 * @heard:    servers that have answered
 * @sends:    number of the last send
 * @since:    servers that have answered since that
 * @lately:   … or between the last two sends
 * @denied:   servers that have denied the lock, before it was renewed
 * @granted:  servers that have granted it, and have not denied it since
 * @won_k:    the send that won, 0 before
 * @repeated_ns: when servers that did not answer in time were first asked again, in ASK, by the
 *            clock of leases; 0: never
 * @yielded:  a grant was given back: see below
 * @believes: servers that say, while END waits for their RELEASED, that the attempt has the lock
 * @due_ns:   call bftm_host_wake() then; 0: there is nothing to do at a time. The end of the lease
 *            is for the caller to see, who calls bftm_host_stop() then
 * @release:  in END
 */
struct bftm_host {
	enum bftm_host_state state;
	const struct bftm_client_ops *core;
	struct bftm_contender *client;
	u64 attempt;
	u32 sent;
	u32 heard;
	u32 sends;
	u32 since;
	u32 lately;
	u32 denied;
	u32 granted;
	u32 won_k;
	u64 repeated_ns;
	bool yielded;
	u32 believes;
	u64 due_ns;
	struct bftm_release release;
};

/*
 * A lock in HOLD may be another's to go on with: the daemon's, which adopts it. If a grant was
 * given back before, YIELD may be under way still, and the server says FREE to the daemon until
 * YIELD arrives. So the caller skips BFTM_WINDOW_BITS numbers of its counter of requests first: a
 * server that has taken a later request takes that YIELD no more.
 */

/** enum bftm_host_event - what a step comes to, beside messages */
enum bftm_host_event {
	BFTM_HOST_NOTHING,
	BFTM_HOST_WON,		/* ASK to HOLD: the lock is held until @end_ns */
	BFTM_HOST_RENEWED,	/* HOLD: the lock is held until @end_ns */
	BFTM_HOST_LAPSED,	/* HOLD to END: the lease is over */
	BFTM_HOST_LOST,		/* ASK to END: the request is the daemon's */
	BFTM_HOST_OVER,		/* END: nothing is left to do */
};

/**
 * struct bftm_host_step - what to do
 * @event:    see there
 * @unheard:  of BFTM_HOST_LOST: fewer servers than win a lock could be asked, or have answered
 * @disputed: up to b servers deny a lock in mode EX that F grant
 * @contested: up to b servers grant one that so many others deny that it cannot be won
 * @wanted:   somebody waits for the lock that is held
 * @end_ns:   with WON and RENEWED: the last instant at which the lock is held, by the clock of
 *            leases
 * @out:      the messages: RELEASE is that of bftm_release_message(), the others are those of
 *            bftm_contender_message(), and go before it
 */
struct bftm_host_step {
	enum bftm_host_event event;
	bool unheard;
	bool disputed;
	bool contested;
	bool wanted;
	u64 end_ns;
	struct bftm_out out;
};

/**
 * bftm_host_begin() - ask the servers for a lock
 * @h:       the attempt; to be initialised, but for @core and @client
 * @cfg:     the cluster
 * @want:    the request: BFTM_WAIT_QUEUE or BFTM_WAIT_NOT, and without a value
 * @attempt: never used before by this client, and higher than those before it for this lock
 * @now:     the clock of leases in ns, taken before this call, as in all that follow
 * @step:    what to do
 */
void bftm_host_begin(struct bftm_host *h, const struct bftm_client_cfg *cfg,
		     const struct bftm_want *want, u64 attempt, u64 now,
		     struct bftm_host_step *step);

/**
 * bftm_host_unsent() - TRY did not go out, as far as this host can tell
 * @h:      the attempt
 * @cfg:    the cluster
 * @failed: the servers that it was for
 * @now:    the clock of leases, ns
 * @step:   what to do
 */
void bftm_host_unsent(struct bftm_host *h, const struct bftm_client_cfg *cfg, u32 failed, u64 now,
		      struct bftm_host_step *step);

/** bftm_host_unreleased() - there was no room for RELEASE of the last step: it is due at once. */
void bftm_host_unreleased(struct bftm_host *h, u64 now);

/** bftm_host_answer() - an authentic answer of server number @u to this attempt */
void bftm_host_answer(struct bftm_host *h, const struct bftm_client_cfg *cfg, u32 u,
		      const struct bftm_msg *msg, u64 now, struct bftm_host_step *step);

/**
 * bftm_host_epoch() - server @u has another epoch, and has not taken a request of this attempt
 * @h:    the attempt
 * @cfg:  the cluster
 * @u:    the server
 * @now:  the clock of leases, ns
 * @step: what to do: TRY goes there again, once a round
 */
void bftm_host_epoch(struct bftm_host *h, const struct bftm_client_cfg *cfg, u32 u, u64 now,
		     struct bftm_host_step *step);

/** bftm_host_renew() - ask for a longer lease now; of a lock in HOLD */
void bftm_host_renew(struct bftm_host *h, const struct bftm_client_cfg *cfg, u64 now,
		     struct bftm_host_step *step);

/** bftm_host_reached() - have as many servers answered as win a lock? */
static inline bool bftm_host_reached(const struct bftm_host *h, const struct bftm_client_cfg *cfg)
{
	return bftm_count(h->heard) >= bftm_win(cfg);
}

/** bftm_host_silent() - of those asked, the servers that answer nothing; not in END */
static inline u32 bftm_host_silent(const struct bftm_host *h)
{
	return h->sends < 2 && !h->repeated_ns ? 0 :
					      h->client->asking.asked & ~(h->since | h->lately);
}

/** bftm_host_in_vain() - were servers asked more than once, and too few have ever answered? */
static inline bool bftm_host_in_vain(const struct bftm_host *h, const struct bftm_client_cfg *cfg)
{
	return (h->repeated_ns || h->sends > 1) && !bftm_host_reached(h, cfg);
}

/** bftm_host_wake() - the time is @now; does nothing before @h->due_ns. */
void bftm_host_wake(struct bftm_host *h, const struct bftm_client_cfg *cfg, u64 now,
		    struct bftm_host_step *step);

/**
 * bftm_host_stop() - nobody waits for the lock any more, or holds it
 * @h:     the attempt, not in END
 * @cfg:   the cluster
 * @doubt: the holder, if there is one, ended without a word about the value of the lock
 * @now:   the clock of leases, ns
 * @step:  what to do
 */
void bftm_host_stop(struct bftm_host *h, const struct bftm_client_cfg *cfg, bool doubt, u64 now,
		    struct bftm_host_step *step);

#endif /* BFTM_CORE_HOST_H */
