/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's requests. The notification is only a hint: the helper pulls requests until there are
 * none, at each hint and also once a second.
 */
#ifndef BFTM_UPCALL_H
#define BFTM_UPCALL_H

#include "core/client.h"
#include "core/limits.h"
#include "core/types.h"

struct bftm_inside;

/**
 * struct bftm_ask_value - the value of the lock
 * @wanted: BFTM_VALUE
 * @doubt:  of a release: the program could write, and ended without a word
 * @left:   the holder left one with a mode that it gave up: see struct bftm_client_ops
 * @leaves: … that goes to the servers now; @any if there is one
 */
struct bftm_ask_value {
	bool wanted;
	bool doubt;
	bool left;
	struct bftm_written leaves;
};

/** struct bftm_ask - an acquire, as the kernel describes it */
struct bftm_ask {
	u64 id;			/* number of the request */
	char cluster[33];	/* "" for the default */
	u8 name[BFTM_NAME_LEN_MAX];
	u8 name_len;
	bool once;		/* BFTM_TRY */
	bool renew;		/* BFTM_RENEW */
	bool fence;		/* BFTM_FENCE */
	u32 way;		/* enum bftm_way */
	u32 mode;		/* enum bftm_lock_mode, not BFTM_LOCK_NL */
	u64 lease_ns;		/* 0 for the cluster's default, BFTM_LEASE_NONE without one */
	u64 timeout_at_ns;	/* of an acquire or conversion; by bftm_now(), 0 for never */
	u64 attempt;		/* of a release or renewal: the one that holds the lock */
	u64 end_ns;		/* of a renewal: end of the lease, by bftm_now(); or BFTM_LEASE_NONE */
	u32 sends;		/* of a renewal: highest send number reported */
	u64 token;		/* of what is held, 0 for none */
	u64 configuration;	/* under which it was won, or the kernel asked; 0: not known */
	u32 silent;		/* servers that answered the kernel nothing, a bit mask */
	u64 prio;		/* the highest Lamport priority that the kernel has met */
	u32 conversion;		/* its number; 0: nobody waits, and @mode is to be kept */
	u32 goal;		/* of a conversion: enum bftm_lock_mode, not BFTM_LOCK_NL */
	bool convert_once;	/* … BFTM_TRY */
	bool convert_fence;	/* … BFTM_FENCE */
	struct bftm_ask_value value;
	const struct bftm_inside *inside; /* NULL: an application, through the kernel */
};

/** bftm_mode_of() - an enum bftm_lock_mode as servers know it: they count from NL to EX. */
static inline enum bftm_mode bftm_mode_of(u32 lock_mode)
{
	return BFTM_MODE_EX - lock_mode;
}

/** bftm_ask_mode() - the mode as servers know it */
static inline enum bftm_mode bftm_ask_mode(const struct bftm_ask *ask)
{
	return bftm_mode_of(ask->mode);
}

/** struct bftm_submit_ask - a submit, as the kernel describes it */
struct bftm_submit_ask {
	u64 id;			/* number of the request */
	char cluster[33];	/* "" for the default */
	u8 name[BFTM_NAME_LEN_MAX];
	u8 name_len;
	u64 timeout_at_ns;	/* by bftm_now(), 0 for never */
	const u8 *op;
	u32 op_len;
};

/**
 * struct bftm_pulled - a request that was pulled
 * @kind:   BFTMUTEX_REQUEST_KIND_*
 * @ask:    of a lock
 * @submit: of an object; its operation is kept until the next request is pulled
 */
struct bftm_pulled {
	u32 kind;
	struct bftm_ask ask;
	struct bftm_submit_ask submit;
};

/**
 * struct bftm_upcall_ops - functions of the rooms above, for the kernel's requests
 * @restored: this machine is a copy of an earlier state; the kernel draws no numbers until the
 *            registration that follows. Return: 0, or -errno to prevent the registration
 * @opened:   the kernel is served from now on; it has no session but those of earlier helpers
 * @request:  obey a request
 * @closed:   the kernel is not served any more: requests under way belong to the next helper
 */
struct bftm_upcall_ops {
	int (*restored)(void);
	void (*opened)(void);
	void (*request)(const struct bftm_pulled *pulled);
	void (*closed)(void);
};

/** bftm_upcall_ops - the functions of this program */
extern const struct bftm_upcall_ops bftm_upcall_ops;

/**
 * bftm_upcall_open() - become the helper of this network namespace
 * Return: 0; -ENOENT: module not loaded; -EBUSY: another helper is registered; -EPERM; -EPROTO: the
 * module has another version, which is logged once a minute at most.
 */
int bftm_upcall_open(void);

/** bftm_upcall_close() - the kernel keeps waiting requests for the next helper. */
void bftm_upcall_close(void);

/**
 * bftm_upcall_look() - read the kernel's messages now
 *
 * Called after answers of servers were received, and before they are believed: if the kernel says
 * that the machine slept, iterations under way end; see bftm_iterate_interrupt().
 */
void bftm_upcall_look(void);

/** bftm_upcall_is_open() - is this process the helper, which learns when the machine sleeps? */
bool bftm_upcall_is_open(void);

/** bftm_upcall_pulled_ns() - when this helper last had pulled all requests; 0 for never */
u64 bftm_upcall_pulled_ns(void);

struct nl_msg;

/**
 * struct bftm_won - an acquire that has the lock
 * @id:          of the request
 * @cluster:     name of the cluster, which replaces an empty one
 * @lease_ns:    lease of the lock in ns, which replaces 0; or BFTM_LEASE_NONE
 * @attempt:     the one that holds the lock
 * @end_ns:      end of the lease, by bftm_now(); or BFTM_LEASE_NONE
 * @attempts:    how often servers were asked
 * @token:       fencing token, 0 for none; needed when one was asked for
 * @configuration: its number of the cluster
 * @sends:       highest number of a send for the attempt
 * @value:       of the lock, NULL when nobody asked for it
 */
struct bftm_won {
	u64 id;
	const char *cluster;
	u64 lease_ns;
	u64 attempt;
	u64 end_ns;
	u32 attempts;
	u64 token;
	u64 configuration;
	u32 sends;
	const struct bftm_value_told *value;
};

/**
 * bftm_upcall_won() - report a won lock
 * @won: the report
 * Return: 0; -ESTALE, -EPERM, -EINVAL or -ERANGE: the kernel did not take the lock, which must be
 * released; -ECANCELED: the same, there was no memory for a report; any other: not known.
 */
int bftm_upcall_won(const struct bftm_won *won);

/**
 * bftm_upcall_renewed() - report a renewal
 * @id:     number of the request
 * @end_ns: later than the end that was reported before
 * @sends:  highest number of a send for the attempt
 * Return: 0; -ESTALE: the lock is not held any more, and must be released; -EALREADY: the lease
 * already lasts as long, and @sends is noted. After any other failure the lock is held at least
 * until the deadline that was reported before, and must not be released.
 */
int bftm_upcall_renewed(u64 id, u64 end_ns, u32 sends);

/**
 * bftm_upcall_wanted() - report that somebody waits for a mode that the one held excludes
 * @id:   of the request that holds the lock
 * @mode: enum bftm_lock_mode that is held
 *
 * Return: 0; -ESTALE: the lock is not held in this mode any more; -EOPNOTSUPP: the kernel module does
 * not know the report. After any other failure the program may not have learned of the waiter.
 */
int bftm_upcall_wanted(u64 id, u32 mode);

/**
 * bftm_upcall_evicted() - report that servers have evicted this host: a lock without a lease is lost
 * @id: of the request that holds the lock
 *
 * The kernel then asks for its release, as of each lock that is lost.
 */
void bftm_upcall_evicted(u64 id);

/**
 * struct bftm_conversion_report - what became of a conversion
 * @id:     of the request
 * @number: of the conversion
 * @error:  positive errno, after which the mode before is held; 0: the mode wanted is
 * @end_ns: as in struct bftm_won
 * @token:  a new fencing token, 0 for none
 * @sends:  as in struct bftm_won
 * @value:  likewise
 */
struct bftm_conversion_report {
	u64 id;
	u32 number;
	int error;
	u64 end_ns;
	u64 token;
	u32 sends;
	const struct bftm_value_told *value;
};

/**
 * bftm_upcall_converted() - report a conversion
 * @report: the report
 * Return: 0; -ESTALE: the lock is not held any more, and must be released. After any other failure
 * the lock is held in the mode before, and a request that says so is on its way.
 */
int bftm_upcall_converted(const struct bftm_conversion_report *report);

/**
 * bftm_upcall_failed() - an acquire has failed
 * @id:       number of the request
 * @error:    positive errno
 * @attempts: how often servers were asked
 * @why:      the end of a sentence for people, shorter than BFTM_WHY_MAX; may be empty
 */
void bftm_upcall_failed(u64 id, int error, u32 attempts, const char *why);

/**
 * struct bftm_submit_report - a submit whose operation was applied
 * @id:       of the request
 * @number:   of the request among all of the object, see bftm_answers_number()
 * @status:   errno of the object, 0 for good
 * @len:      bytes of @response, at most BFTM_OP_MAX
 * @response: the answer of the object
 */
struct bftm_submit_report {
	u64 id;
	u64 number;
	u32 status;
	u32 len;
	const u8 *response;
};

/** bftm_upcall_submitted() - report an applied submit; perhaps no program waits for it any more */
void bftm_upcall_submitted(const struct bftm_submit_report *done);

/** bftm_upcall_submit_failed() - @error: positive errno */
void bftm_upcall_submit_failed(u64 id, int error);

/** bftm_upcall_msg() - an empty request of the helper; NULL: no memory, or no kernel */
struct nl_msg *bftm_upcall_msg(u8 cmd, size_t room);

/**
 * bftm_upcall_call() - send a request; after a failure the helper does not register again. 0 or
 * -errno
 * @msg: the request, freed
 */
int bftm_upcall_call(struct nl_msg *msg);

/**
 * bftm_upcall_blames() - why the last bftm_upcall_call() failed, or what the kernel had to say
 * @ret_words: the kernel's words, or ""
 * Return: the attribute of the request that the kernel names, 0 for none
 */
int bftm_upcall_blames(const char **ret_words);

/** bftm_upcall_again() - register again, from the loop, and lend or take back all clusters anew */
void bftm_upcall_again(void);

/**
 * bftm_upcall_suspect() - send an event about a suspect server
 * @cluster:  name in the configuration
 * @server:   number of the server
 * @evidence: of 64 bytes at most, the rest is cut off
 * @count:    how often it was seen
 */
void bftm_upcall_suspect(const char *cluster, u16 server, const char *evidence, u64 count);

#endif /* BFTM_UPCALL_H */
