/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's requests. The notification is only a hint: requests are pulled
 * until there are none, at each hint and once a second besides.
 */
#ifndef BFTM_UPCALL_H
#define BFTM_UPCALL_H

#include "core/limits.h"
#include "core/types.h"

struct bftm_inside;

/** struct bftm_ask - an acquire as the kernel hands it over */
struct bftm_ask {
	u64 id;			/* number of the request */
	char cluster[33];	/* "" for the default */
	u8 name[BFTM_NAME_LEN_MAX];
	u8 name_len;
	bool once;		/* BFTM_TRY */
	bool renew;		/* BFTM_RENEW */
	bool fence;		/* BFTM_FENCE */
	u32 way;		/* enum bftm_way */
	u64 lease_ns;		/* 0 for the cluster's default */
	u64 timeout_at_ns;	/* by bftm_now(), 0 for never */
	u64 attempt;		/* of a release or renewal: what holds the lock */
	u64 end_ns;		/* of a renewal: until which it does, by bftm_now() */
	u32 sends;		/* of a renewal: highest send number reported */
	u64 configuration;	/* of a renewal or release: by which it was won, 0: not known */
	const struct bftm_inside *inside; /* NULL: an application, through the kernel */
};

/** struct bftm_submit_ask - a submit as the kernel hands it over */
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
 * struct bftm_upcall_ops - what stands above, and does what the kernel asks for
 * @restored: this machine is a copy of what it was; the kernel draws no numbers until the
 *            registration that follows. Return: 0 or -errno, then there is no registration
 * @opened:   the kernel is served from now on, and knows nothing of clusters
 * @request:  do this
 * @closed:   it is not served any more: what is under way belongs to the next helper
 */
struct bftm_upcall_ops {
	int (*restored)(void);
	void (*opened)(void);
	void (*request)(const struct bftm_pulled *pulled);
	void (*closed)(void);
};

/** bftm_upcall_ops - of this program */
extern const struct bftm_upcall_ops bftm_upcall_ops;

/**
 * bftm_upcall_open() - become the helper of this network namespace
 * Return: 0; -ENOENT: module not loaded; -EBUSY: there is a helper; -EPERM; -EPROTO: the module
 * is of another version, which the log says once a minute at most.
 */
int bftm_upcall_open(void);

/** bftm_upcall_close() - the kernel keeps what waits for the next helper. */
void bftm_upcall_close(void);

/**
 * bftm_upcall_look() - hear the kernel first
 *
 * Between receiving what servers say and believing it: if it says that the machine slept,
 * what was under way ends; see bftm_iterate_interrupt().
 */
void bftm_upcall_look(void);

/** bftm_upcall_is_open() - is this the helper, which is told when the machine sleeps? */
bool bftm_upcall_is_open(void);

/** bftm_upcall_pulled_ns() - when this helper had pulled all there was, last; 0 for never */
u64 bftm_upcall_pulled_ns(void);

struct nl_msg;

/**
 * struct bftm_won - an acquire that has the lock
 * @id:          of the request
 * @cluster, @lease_ns: whose lock, and for how long each time; what defaults were
 * @attempt:     that holds it
 * @end_ns:      until which, by bftm_now()
 * @attempts:    how often servers were asked
 * @token:       fencing token, 0 for none; needed when one was asked for
 * @configuration: the cluster's number of it
 * @sends:       highest number of a send for the attempt
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
};

/**
 * bftm_upcall_won() - report it
 * Return: 0; -ESTALE, -EPERM, -EINVAL or -ERANGE: the kernel did not take it, and
 * it must be released; so -ECANCELED, there was no memory to ask; any other: nobody knows.
 */
int bftm_upcall_won(const struct bftm_won *won);

/**
 * bftm_upcall_renewed() - what is held lasts longer
 * @end_ns:      later than the one reported before
 * @sends:       highest number of a send for the attempt
 * Return: 0; -ESTALE: nobody holds it any more, it must be released; -EALREADY:
 * it lasts as long already, and @sends is noted. After any other failure it is held
 * at least until the deadline that was reported before: it must not be released.
 */
int bftm_upcall_renewed(u64 id, u64 end_ns, u32 sends);

/**
 * bftm_upcall_failed() - an acquire has failed
 * @error: positive errno
 * @why:   the end of a sentence for people, shorter than BFTM_WHY_MAX; may be empty
 */
void bftm_upcall_failed(u64 id, int error, u32 attempts, const char *why);

/**
 * struct bftm_submit_report - a submit whose operation was applied
 * @id:       of the request
 * @number:   of the request among all of the object, see bftm_answers_number()
 * @status:   errno of the object, 0 for good
 * @response: @len bytes
 */
struct bftm_submit_report {
	u64 id;
	u64 number;
	u32 status;
	u32 len;
	const u8 *response;
};

/** bftm_upcall_submitted() - report it; nobody may wait for it any more */
void bftm_upcall_submitted(const struct bftm_submit_report *done);

/** bftm_upcall_submit_failed() - @error: positive errno */
void bftm_upcall_submit_failed(u64 id, int error);

/** bftm_upcall_msg() - an empty request of the helper; NULL: no memory, or no kernel */
struct nl_msg *bftm_upcall_msg(u8 cmd, size_t room);

/** bftm_upcall_call() - send it; a failure is no reason to begin anew. 0 or -errno */
int bftm_upcall_call(struct nl_msg *msg);

/** bftm_upcall_again() - become the helper anew, from the loop: all that was lent is taken back */
void bftm_upcall_again(void);

/**
 * bftm_upcall_suspect() - tell who listens to events about a server
 * @cluster:  name in the configuration
 * @evidence: of 64 bytes at most, the rest is cut off
 * @count:    how often it was seen
 */
void bftm_upcall_suspect(const char *cluster, u16 server, const char *evidence, u64 count);

#endif /* BFTM_UPCALL_H */
