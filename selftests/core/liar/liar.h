/* SPDX-License-Identifier: GPL-2.0 */
/* The lying server: what its parts know of each other. */
#ifndef BFTM_LIAR_H
#define BFTM_LIAR_H

#include <sys/queue.h>
#include <time.h>

#include "crypto/keys.h"
#include "node.h"
#include "order_strategy.h"
#include "strategy.h"

#define LIAR_STRATEGIES_MAX 32

/** struct liar_late - a datagram that waits for its time */
struct liar_late {
	TAILQ_ENTRY(liar_late) list;
	u64 at_ns;
	struct liar_from to;
	size_t len;
	u8 data[];
};

/** struct liar_options - the command line */
struct liar_options {
	const char *key;
	const char *stats;
	const struct strategy *strategy[LIAR_STRATEGIES_MAX];
	u32 strategies;
	const struct order_strategy *order[LIAR_STRATEGIES_MAX];
	u32 orders;
	u16 port;
	u64 delay_ns;
	u64 seed;
	u64 lease_max_ns;
	u32 rho_ppm;
	u32 waiters_max;
	u64 token_floor;
	u64 switch_ns;
	bool no_quarantine;
	u8 spared;		/* servers that restart so, as it says */
	bool verbose;
};

/**
 * struct liar - the server
 * @names:    of the strategies, as on the command line
 * @current:  the strategy in use, its index
 * @turn:     how often they have been switched
 * @switch_ns: when to use the next, 0 for never
 * @state:    of each strategy
 * @shared:   what it would tell others
 * @order_current, @order_state, @known: likewise, of the ordering protocol
 * @node:     the honest server inside
 * @fd:       sockets of IPv4 and IPv6, -1 for none
 * @signals:  signalfd
 * @late:     what is to be sent later, earliest first
 * @waiting:  how many those are
 * @requests: authentic and fresh ones
 * @pushes:   honest ones
 * @lies:     see liar_lied()
 * @replies:  datagrams sent
 */
struct liar {
	struct liar_options opt;
	const char *names;
	u32 current;
	u32 turn;
	u64 switch_ns;
	void *state[LIAR_STRATEGIES_MAX];
	struct liar_shared shared;
	u32 order_current;
	void *order_state[LIAR_STRATEGIES_MAX];
	struct order_known known;
	struct node node;
	int fd[2];
	int signals;
	TAILQ_HEAD(liar_lates, liar_late) late;
	u32 waiting;
	u64 random;
	u64 requests;
	u64 pushes;
	u64 lies;
	u64 replies;
};

static inline u64 liar_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (u64)now.tv_sec * BFTM_NS_PER_SEC + (u64)now.tv_nsec;
}

/** liar_cmdline() - exits with a message for a mistake. Return: the names. */
const char *liar_cmdline(int argc, char **argv, struct liar_options *ret);

/** liar_sockets_open() - 0 or -errno; prints which it was. */
int liar_sockets_open(struct liar *l);

/** liar_receive() - all that waits at this socket, up to a batch. */
void liar_receive(struct liar *l, int fd);

/** liar_send_due() - send what is due. Return: when the next is, 0 for none. */
u64 liar_send_due(struct liar *l, u64 now);

/** liar_send_to() - these bytes, after this delay. */
void liar_send_to(struct liar *l, const struct liar_from *to, const void *data, size_t len,
		  u64 delay_ns);

/** liar_turn() - the strategy for a request, of so many: its index. */
u32 liar_turn(struct liar *l, u32 strategies, u64 now);

/** liar_handle_order() - a datagram that may be of the ordering protocol. */
void liar_handle_order(struct liar *l, const struct liar_from *from, const void *data, size_t len);

/** liar_handle() - a datagram of @len bytes in @data. */
void liar_handle(struct liar *l, const struct liar_from *from, const void *data, size_t len);

#endif /* BFTM_LIAR_H */
