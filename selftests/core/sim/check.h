/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rules that must hold. A checker hears of every fact that it asked for, keeps
 * what it needs and cries when something is wrong. It knows true time and the
 * clocks of all, and nothing of how the protocol works.
 */
#ifndef BFTM_SIM_CHECK_H
#define BFTM_SIM_CHECK_H

#include "core/types.h"

struct world;
struct bftm_lock_view;
struct bftm_body;
struct bftm_rank;

/** enum fact_kind - what happened */
enum fact_kind {
	FACT_ATTEMPT,		/* client began attempt */
	FACT_WIN,		/* it is inside, until @end_ns of its clock */
	FACT_EXTEND,		/* … until this @end_ns now */
	FACT_TOLD,		/* the application heard that it still holds */
	FACT_OFFER,		/* it asks servers to stamp @token for @attempt */
	FACT_STOP,		/* it stopped using the lock at @at, of its own will */
	FACT_OVER,		/* it was told that the lease is over */
	FACT_GONE,		/* its host went down */
	FACT_DEAD,		/* the client is through with @attempt */
	FACT_TAKEN,		/* a datagram got to a core, see struct fact */
	FACT_RELEASED,		/* correct server decided RELEASE of @attempt */
	FACT_RESTARTED,		/* server is back, without its memory */
	FACT_WANT,		/* after healing: a client has begun to contend */
	FACT_QUEUED,		/* … by its helper, since its kernel did not get it */
	FACT_LEAVE,		/* … or does not want it any more */
	FACT_HEALED,
	FACT_LOOK,		/* the time that check_look() asked for */
	FACT_SUBMIT,		/* client submits operation @op, @body */
	FACT_IN_DOUBT,		/* … and went down before it was answered */
	FACT_ANSWERED,		/* … and got @len bytes of @response */
	FACT_RANK,		/* it begins an iteration with @rank; @part: after a time-out */
	FACT_COMMITTED,		/* it has committed @body at a quorum */
	FACT_ADOPTED,		/* a correct server has @body as committed; NULL for σ0 */
	FACT_LEARNED,		/* a server takes @client's word that no token is above @token */
	FACT_STAMPED,		/* what is held has a @token of its own since it was converted */
	FACT_LEFT,		/* it leaves @value, and has @mode from now on */
	FACT_READ,		/* it was told @value, and whether that is @valid */
	FACT_SYNCED,		/* a correct server takes its word that it knows all */
	FACT_KINDS
};

/**
 * struct fact - one of them
 * @at:      true time; in the future when the process is held up meanwhile
 * @hold:    number of the holding, unique
 * @now_ns:  what the client's clock showed when it was told so
 * @receiver, @sender, @seq: of a datagram that was taken
 * @fair:    in WANT: it waits in the queue, and for nothing else
 * @token:   offered, or that it was told with a win that is @fenced
 * @mode:    enum bftm_mode: of what it holds
 * @value:   a number that stands for one
 * @before, @after: the server's lock, before and after it decided
 * @waits, @granted: and whether @attempt is queued after that, or has a grant
 */
struct fact {
	enum fact_kind kind;
	u32 lock;
	u32 client;
	u32 server;
	u64 at;
	u64 hold;
	u64 attempt;
	u64 end_ns;
	u64 now_ns;
	u64 receiver;
	u64 sender;
	u64 seq;
	u64 token;
	u64 value;
	u8 mode;
	bool valid;
	bool fenced;
	bool fair;
	const struct bftm_lock_view *before;
	const struct bftm_lock_view *after;
	bool waits;
	bool granted;
	u32 part;
	u32 len;
	u64 op;
	const struct bftm_body *body;
	const struct bftm_rank *rank;
	const u8 *response;
};

#define FACT(kind) (1u << FACT_##kind)

/**
 * struct checker - one rule, in a file of its own
 * @name:   for messages
 * @rule:   what it says
 * @facts:  it wants to hear of, FACT() | …
 * @orders: of the ordering protocol
 * @start:  a scenario begins; returns what on_fact and at_end get
 * @at_end: it is over, with nothing wrong so far; may be NULL
 */
struct checker {
	const char *name;
	const char *rule;
	u32 facts;
	bool orders;
	void *(*start)(struct world *w);
	void (*on_fact)(struct world *w, void *state, const struct fact *f);
	void (*at_end)(struct world *w, void *state);
};

extern const struct checker check_exclusion;
extern const struct checker check_once;
extern const struct checker check_deadline;
extern const struct checker check_release;
extern const struct checker check_liveness;
extern const struct checker check_tokens;
extern const struct checker check_fairness;
extern const struct checker check_held;
extern const struct checker check_values;
extern const struct checker check_synced;
extern const struct checker check_chain;
extern const struct checker check_response;
extern const struct checker check_ranks;
extern const struct checker check_answered;
extern const struct checker check_kept;

#define CHECKERS 15

/** struct violation - the first thing that went wrong */
struct violation {
	const struct checker *checker;
	u64 at;
	u32 lock;
	char text[320];
};

/** check_start(), check_fact(), check_end() - of all checkers. */
void check_start(struct world *w);
void check_fact(struct world *w, const struct fact *f);
void check_end(struct world *w);

/** check_fails() - @checker found this wrong; the first one counts. */
__attribute__((format(printf, 4, 5)))
void check_fails(struct world *w, const struct checker *checker, u32 lock, const char *format,
		 ...);

/** check_exists() - is there a checker of this name? */
bool check_exists(const char *name);

/** check_settled() - by then what was granted or began in faults is over. */
u64 check_settled(const struct world *w);

/** check_look() - a FACT_LOOK with this @part, at true time @at. */
void check_look(struct world *w, u32 part, u32 client, u64 at);

#endif /* BFTM_SIM_CHECK_H */
