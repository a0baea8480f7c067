/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A cluster as the daemon sees it: a socket, n servers, what is known of each,
 * and what is asked of them.
 */
#ifndef BFTM_CLUSTER_H
#define BFTM_CLUSTER_H

#include <sys/queue.h>

#include "core/protocol.h"
#include "core/release.h"
#include "core/ordering/client.h"
#include "core/quorum.h"
#include "core/speed.h"
#include "config/conf.h"
#include "cluster/identity.h"
#include "cluster/peer.h"
#include "crypto/keys.h"
#include "loop/loop.h"

#define BFTM_ROUNDS 64

/**
 * struct bftm_round - a round of Figure 1 that was won: answers that follow are judged by it
 * @attempt:  its number
 * @counted:  servers that were counted as disagreeing
 */
struct bftm_round {
	u64 attempt;
	u32 counted;
};

/**
 * struct bftm_recovery - the server that is told which tokens were stamped
 * @active:      there is one, number @u
 * @told:        RECOVER was sent
 * @epoch:       its incarnation
 * @since_seq:   last sequence number before its restart was known
 * @told_seq:    sequence number of that RECOVER
 * @floor:       token that RECOVER named
 * @until_ns:    when it is another server's turn
 * @pause_ns:    until when the servers of @failed are left alone
 * @hopeless_ns: when it was last logged that too few servers know
 * @known:       servers that have told what was stamped there, a bit mask
 * @failed:      servers that did not learn lately, a bit mask
 * @hopeless:    it was logged that too few servers know
 * @u:           its number, less than n
 * @refused_ns:  when it was last logged that a server refuses RECOVER
 * @top:         what they told, a token each
 */
struct bftm_recovery {
	bool active;
	bool told;
	bool hopeless;
	u32 u;
	u32 known;
	u32 failed;
	u64 epoch;
	u64 since_seq;
	u64 told_seq;
	u64 floor;
	u64 until_ns;
	u64 pause_ns;
	u64 hopeless_ns;
	u64 refused_ns;
	u64 top[BFTM_SERVERS_MAX];
};

/*
 * Requests of applications that are under way, for locks and objects.
 * @releases: attempts that are over, until servers know
 * @lasting:  requests for locks without a lease, until they are released
 * @count:    of all
 */
struct bftm_acquires {
	RB_HEAD(bftm_releases, bftm_release_op) releases;
	TAILQ_HEAD(, bftm_acquire_op) lasting;
	unsigned int count;
};

/* Requests that are remembered: some hundred ms of as many as a daemon sends at most. */
#define BFTM_ASKED 4096

/**
 * struct bftm_cluster - one of the configuration
 * @list:          among the clusters of the daemon
 * @conf:          its section of the configuration
 * @protocol:      of its locks
 * @cfg:           for the core of locks
 * @ask:           what the daemon has learned of the servers, if it asks some first
 * @order_cfg:     for the core of objects
 * @cred:          cluster, client and keys, from the file of credentials
 * @round:         the last ones that were won, in a ring
 * @recovery:      of a server that has lost its memory
 * @speed:         of its servers
 * @asked:         the last requests, by sequence number; an entry with another number than the
 *                 wanted one means that the request is forgotten
 * @first_seq:     nothing was sent here up to this sequence number
 * @rounds:        number of rounds that were put into @round
 * @last_rounds:   number of the last attempts in mode EX that were won, and whose answers were
 *                 judged; see bftm_evidence_judged()
 * @lent:          the kernel has what it was lent
 * @ingress:       with the device of @conf
 * @lend_later:    the kernel had no memory for the loan
 * @lend_ns:       when the daemon tried once more to lend it
 * @rank_keys:     NULL unless ranks are signed
 * @identity:      the client that this host is in the cluster
 * @socket:        to all its servers, UDP
 * @probe:         when to look next for servers that are silent or have restarted
 * @peer:          its servers, conf.n of them
 * @acquires:      what is under way for applications
 * @configuration: number of its configuration: the same for the same one, also of the next daemon
 * @refused_ns:    when it was last logged that servers refused a lock
 * @hindered_ns:   the same of a lock that too few servers could grant, since some refused it
 * @forgot_ns:     the same of an object that servers have lost
 * @mute_ns:       the same of an object that servers are silent about
 * @denied_ns:     the same of an operation
 * @lost_ns:       since when losses of locks are counted for the log
 * @losses:        of locks, since @lost_ns
 * @version_ns:    when it was last logged that servers speak another version of the wire format
 * @behind_ns:     when it was last logged that this client's numbers are behind
 * @evicted:       b + 1 servers have evicted this client's incarnations up to this one; 0: none
 * @evicted_ns:    when that was logged, last
 * @evicted_again_ns: when the services were told so, last
 * @draining:      a newer configuration replaced it; goes when nothing is under way
 * @draining_ns:   since when
 */
struct bftm_cluster {
	TAILQ_ENTRY(bftm_cluster) list;
	struct bftm_conf_cluster conf;
	const struct bftm_protocol *protocol;
	struct bftm_client_cfg cfg;
	struct bftm_ask_state ask;
	struct bftm_order_cfg order_cfg;
	struct bftm_credentials cred;
	struct bftm_rank_keys *rank_keys;
	struct bftm_identity *identity;
	struct bftm_watch socket;
	struct bftm_timer probe;
	struct bftm_peer peer[BFTM_SERVERS_MAX];
	struct bftm_acquires acquires;
	struct bftm_round round[BFTM_ROUNDS];
	struct bftm_recovery recovery;
	struct bftm_speed speed;
	struct bftm_asked asked[BFTM_ASKED];
	u64 first_seq;
	u64 rounds;
	u64 last_rounds;
	bool lent;
	bool ingress;
	bool lend_later;
	u64 lend_ns;
	u64 configuration;
	u64 refused_ns;
	u64 hindered_ns;
	u64 forgot_ns;
	u64 mute_ns;
	u64 denied_ns;
	u64 behind_ns;
	u64 version_ns;
	u64 lost_ns;
	u32 losses;
	u32 evicted;
	u64 evicted_ns;
	u64 evicted_again_ns;
	bool draining;
	u64 draining_ns;
};

/** bftm_cluster_asked() - the request with this number, NULL for one that is not remembered */
static inline const struct bftm_asked *bftm_cluster_asked(const struct bftm_cluster *cl, u64 seq)
{
	const struct bftm_asked *asked = &cl->asked[seq % BFTM_ASKED];

	return seq && asked->seq == seq ? asked : NULL;
}

TAILQ_HEAD(bftm_clusters, bftm_cluster);
extern struct bftm_clusters bftm_clusters;

/**
 * bftm_clusters_configure() - make the running clusters those of @conf
 * @conf:  the configuration; copied
 * @state: directory for what must survive a restart
 * Return: 0, or -errno after which nothing has changed; logged.
 */
int bftm_clusters_configure(const struct bftm_conf *conf, const char *state);

/** bftm_clusters_check() - could @conf be run? Reads the keys, begins no client. 0 or -errno. */
int bftm_clusters_check(const struct bftm_conf *conf);

/** bftm_clusters_stop() - forget all; what is held stays held. */
void bftm_clusters_stop(void);

/** bftm_cluster_find() - by name, "" for the default; NULL for none. */
struct bftm_cluster *bftm_cluster_find(const char *name);

/** bftm_cluster_configured() - by number of its configuration, also one that drains, or NULL */
struct bftm_cluster *bftm_cluster_configured(u64 configuration);

/**
 * bftm_cluster_same_client() - is @configuration, of an earlier daemon, one of the same client
 * of the same cluster? The upper half of the number says so.
 * @cl:            the cluster
 * @configuration: as of struct bftm_cluster
 */
static inline bool bftm_cluster_same_client(const struct bftm_cluster *cl, u64 configuration)
{
	return cl->configuration >> 32 == configuration >> 32;
}

/** bftm_cluster_everyone() - all its servers, as a bit mask. */
static inline u32 bftm_cluster_everyone(const struct bftm_cluster *cl)
{
	return (u32)((1ull << cl->conf.n) - 1);
}

/** bftm_cluster_of() - one that this client is configured for now, or NULL */
struct bftm_cluster *bftm_cluster_of(const struct bftm_identity *identity);

/** bftm_cluster_orders() - are its servers enough for the ordering protocol? */
static inline bool bftm_cluster_orders(const struct bftm_cluster *cl)
{
	return cl->conf.n >= bftm_servers_needed_order(cl->conf.b, cl->conf.signed_ranks);
}

/* socket.c: datagrams. */

/** bftm_cluster_open() - 0 or -errno */
int bftm_cluster_open(struct bftm_cluster *cl);
void bftm_cluster_close(struct bftm_cluster *cl);

/**
 * bftm_cluster_send() - send one message to several servers
 * @cl:  the cluster
 * @to:  bit mask of servers
 * @msg: all but who it is for; sequence numbers and epochs are filled in
 */
void bftm_cluster_send(struct bftm_cluster *cl, u32 to,
		       const struct bftm_msg *msg);

/** bftm_cluster_send_order() - likewise, of the ordering protocol */
void bftm_cluster_send_order(struct bftm_cluster *cl, u32 to,
			     const struct bftm_order_msg *msg);

/* probe.c: how servers are. */

/** bftm_hello() - send HELLO to these servers, a bit mask */
void bftm_hello(struct bftm_cluster *cl, u32 to);

/** bftm_hello_again() - send HELLO to server @u, unless that was done a moment ago */
void bftm_hello_again(struct bftm_cluster *cl, u32 u);

/** bftm_probe() - once a second: servers that were not heard get HELLO. */
void bftm_probe(struct bftm_cluster *cl);

/** bftm_challenged() - server @u has said what it is. */
void bftm_challenged(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg);

/**
 * bftm_stale() - server @u was sent a request that is for an earlier start of it
 * @cl:  the cluster
 * @u:   its number, less than n
 * @msg: STALE, authentic and fresh
 *
 * HELLO goes to the server, and the request is made again. STALE says no more than the new epoch:
 * grants of that epoch count after its CHALLENGE.
 */
void bftm_stale(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg);

/** bftm_version_heard() - server @u says that it speaks this version of the wire format, not ours */
void bftm_version_heard(struct bftm_cluster *cl, u32 u, u8 version);

/** bftm_cluster_outdated() - do b + 1 servers, so a correct one, say that? */
bool bftm_cluster_outdated(const struct bftm_cluster *cl);

/* behind.c: numbers of this client that servers do not take. */

/** bftm_behind_heard() - server @u says that it has taken @msg->gno, far above ours */
void bftm_behind_heard(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg);

/**
 * bftm_clusters_restored() - this machine is a copy of what it was: new numbers for all clients
 *
 * While the kernel has lost nothing to this daemon and draws none. Return: 0; logged: -errno.
 */
int bftm_clusters_restored(void);

/* recover.c: fencing tokens of servers that were restarted. */

/** bftm_recover_heard() - server @u has sent CHALLENGE, which may answer RECOVER */
void bftm_recover_heard(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg);

/** bftm_recover_refused() - server @u has refused what names no lock or object */
void bftm_recover_refused(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg);

/** bftm_recover_wake() - once a second */
void bftm_recover_wake(struct bftm_cluster *cl, u64 now);

#endif /* BFTM_CLUSTER_H */
