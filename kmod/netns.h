/* SPDX-License-Identifier: GPL-2.0 */
/* Data of bftmutex in each network namespace. */
#ifndef BFTM_NETNS_H
#define BFTM_NETNS_H

#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/types.h>

struct bftm_server;
struct bftm_upcall;
struct net;

/**
 * struct bftm_net - of one namespace
 * @net:    the namespace
 * @mutex:  guards @over_ns, and @server against all but readers; the journal waits for it
 * @life:   keeps @server while a reader, which need not be privileged, uses it
 * @server: NULL when none runs; written with both
 * @over_ns: when all grants of earlier servers are over; power.c adds the time asleep
 * @journal_portid: of the last process that opened a journal
 * @upcall: the helper and the requests for it
 * @session_mutex: serialises lending, helpers that register and end, and the end of sessions
 */
struct bftm_net {
	struct net *net;
	struct mutex mutex;
	struct rw_semaphore life;
	struct bftm_server *server;
	u64 over_ns;
	u32 journal_portid;
	struct bftm_upcall *upcall;
	struct mutex session_mutex;
};

extern unsigned int bftm_net_id;

/** bftm_net() - the data of bftmutex in a namespace. */
struct bftm_net *bftm_net(struct net *net);

/**
 * bftm_netns_each() - visit each namespace, but those that end: these have no programs
 * @visit: returns 0, or an error that ends the walk; no lock is held
 * Context: process. Return: 0, or that error.
 */
int bftm_netns_each(int (*visit)(struct bftm_net *bn));

#endif /* BFTM_NETNS_H */
