/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Client side of a listing: which page each server is asked for next, whose list counts, and which
 * objects there are. Lists are the caller's: it keeps what bftm_listing_page() takes, merges them
 * by name, and judges each name by bftm_listing_judge().
 *
 * A listed object exists: b + 1 servers tell of its name, so a correct one does.
 *
 * An object that exists is listed, if this client could use it by the servers whose lists count:
 * q of them remember it. Its last state was committed at q servers, before the
 * listing began. Two sets of q share 2b + 1, so b + 1 correct servers that remember it have that
 * state or a later one, and each tells so. So a name that fewer tell of is a liar's, or of an
 * object whose first commit is still under way, or of one that nobody can use by these servers;
 * it is left out, and nothing is asked about it: a question about a name that does not exist would
 * take a place in the tables of all servers for ever, so liars could fill them.
 */
#ifndef BFTM_CORE_ORDER_LISTING_H
#define BFTM_CORE_ORDER_LISTING_H

#include "core/ordering/client.h"

/*
 * A correct server never needs more pages: each tells of 11 objects, has looked at 64, or has
 * looked into 4,096 buckets of the table.
 */
#define BFTM_LISTING_PAGES_MAX	8192u
/* How often a server may begin again because it was restarted. */
#define BFTM_LISTING_STARTS_MAX	3u
/*
 * When q lists count, but some of their servers have lost their memory, the other servers are
 * waited for this many times @resend_ns.
 */
#define BFTM_LISTING_GRACE	8u

/**
 * struct bftm_lister - a server that tells its objects
 * @epoch:   its start that told the first page: another one has other cursors
 * @cursor:  of the page that it is asked for
 * @wake_ns: when to ask again
 * @sends:   how often it was asked again
 * @pages:   that have come
 * @objects: in these
 * @starts:  how often it has begun anew
 */
struct bftm_lister {
	u64 epoch;
	u64 cursor;
	u64 wake_ns;
	u32 sends;
	u32 pages;
	u32 objects;
	u32 starts;
};

/**
 * struct bftm_listing - a listing under way
 * @told:       servers whose list is here
 * @silent:     servers that do not answer, or not as a correct one does
 * @recovering: of @told, those that have lost their memory
 * @quorum_ns:  when q had told, 0: they have not
 * @server:     how far each server has told
 */
struct bftm_listing {
	u32 told;
	u32 silent;
	u32 recovering;
	u64 quorum_ns;
	struct bftm_lister server[BFTM_SERVERS_MAX];
};

/** enum bftm_listing_verdict - may the lists be judged? */
enum bftm_listing_verdict {
	BFTM_LISTING_ON,	/* not yet */
	BFTM_LISTING_DONE,	/* yes: those of @told count */
	BFTM_LISTING_FEW,	/* no, and no more will come: fewer than q have told */
};

/** bftm_listing_begin() - LIST goes to all servers, with cursor 0 */
void bftm_listing_begin(struct bftm_listing *l, const struct bftm_order_cfg *cfg, u64 now);

/** enum bftm_listing_page - what becomes of an answer */
enum bftm_listing_page {
	BFTM_PAGE_IGNORED,
	BFTM_PAGE_KEPT,		/* its data belongs to the list of this server */
	BFTM_PAGE_ANEW,		/* all that this server has told before is void */
};

/**
 * bftm_listing_page() - an answer of server @u
 * @l:   the listing
 * @cfg: the cluster
 * @u:   its number, less than n
 * @msg: LISTED, authentic
 * @now: the clock of leases, ns
 * Return: what is to be done with it. If it was not ignored, the server is to be asked for its
 * next page, unless @told or @silent has it now.
 */
enum bftm_listing_page bftm_listing_page(struct bftm_listing *l, const struct bftm_order_cfg *cfg,
					 u32 u, const struct bftm_order_msg *msg, u64 now);

/**
 * bftm_listing_anew() - server @u was restarted
 * @l:   the listing
 * @cfg: the cluster
 * @u:   its number, less than n
 * @now: the clock of leases, ns
 * Return: BFTM_PAGE_IGNORED if it is not asked for a page, else BFTM_PAGE_ANEW.
 */
enum bftm_listing_page bftm_listing_anew(struct bftm_listing *l, const struct bftm_order_cfg *cfg,
					 u32 u, u64 now);

/** bftm_listing_wake() - it is @now. Return: servers to ask again for their page. */
u32 bftm_listing_wake(struct bftm_listing *l, const struct bftm_order_cfg *cfg, u64 now);

/** bftm_listing_due() - when to call bftm_listing_wake() next */
u64 bftm_listing_due(const struct bftm_listing *l, const struct bftm_order_cfg *cfg);

enum bftm_listing_verdict bftm_listing_verdict(const struct bftm_listing *l,
					       const struct bftm_order_cfg *cfg, u64 now);

/**
 * bftm_listing_complete() - of one that is done: is every object listed that any servers remember?
 * @l:   the listing
 * @cfg: the cluster
 *
 * If not, there may be an object that only servers which have not told remember.
 */
bool bftm_listing_complete(const struct bftm_listing *l, const struct bftm_order_cfg *cfg);

/** enum bftm_existence - what the servers that tell of a name say together */
enum bftm_existence {
	BFTM_EXISTS_NOT,	/* no such object can be used, or it was deleted */
	BFTM_EXISTS,		/* it has, or had since the listing began, the type that is named */
	BFTM_EXISTS_UNSURE,	/* it changes just now: an ordinary request must say */
};

/**
 * bftm_listing_judge() - is there an object?
 * @said:  what the servers whose lists count say of one name, an entry each; names are not read
 * @count: of them, at most BFTM_SERVERS_MAX
 * @b:     liars among the servers, at most
 * @ret_version: a version that it has reached
 * @ret:   unless it is not, or unsure: of @said, one with the right type
 */
enum bftm_existence bftm_listing_judge(const struct bftm_listed said[], u32 count, u32 b,
				       u64 *ret_version, u32 *ret);

#endif /* BFTM_CORE_ORDER_LISTING_H */
