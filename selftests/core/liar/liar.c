// SPDX-License-Identifier: GPL-2.0
/*
 * bftmutex-liar: a server of locks and objects in user space with a lie in it.
 *
 * One thread: the two sockets, a signalfd and the time of the next late answer
 * or of a lease's end are all it waits for. SIGUSR1 writes the counters, SIGTERM and SIGINT write
 * them and end it.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <unistd.h>

#include "liar.h"

void liar_lied(struct liar *l)
{
	l->lies++;
}

/* splitmix64 (Steele, Lea, Flood) */
u64 liar_random(struct liar *l)
{
	u64 z = l->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

u64 liar_delay(const struct liar *l)
{
	return l->opt.delay_ns;
}

static void seal(const struct liar *l, const struct liar_client *client,
		 const struct bftm_msg *msg, struct bftm_wire *wire)
{
	struct bftm_msg reply = *msg;

	if (!liar_keeps_epoch(&reply))
		reply.server_epoch = l->node.cfg.epoch;
	reply.flags &= BFTM_FLAG_DEADLOCK;
	bftm_wire_put(&reply, wire);
	bftm_mac_sign(client->reply, wire);	/* or it has no tag */
}

void liar_seal(struct liar *l, const struct liar_request *req, const struct bftm_msg *msg,
	       struct bftm_wire *wire)
{
	seal(l, req->client, msg, wire);
}

void liar_send(struct liar *l, const struct liar_request *req, const void *data, size_t len,
	       u64 delay_ns)
{
	liar_send_to(l, req->from, data, len, delay_ns);
}

void liar_say(struct liar *l, const struct liar_request *req, const struct bftm_msg *msg,
	      u64 delay_ns)
{
	struct bftm_wire wire;

	if (msg->type == BFTM_MSG_NONE)
		return;
	liar_seal(l, req, msg, &wire);
	liar_send(l, req, wire.data, wire.len, delay_ns);
}

void liar_push(struct liar *l, const struct bftm_msg *msg, u64 delay_ns)
{
	const struct liar_client *client = node_client(&l->node, msg->client);
	struct bftm_wire wire;

	if (msg->type == BFTM_MSG_NONE || !client)
		return;
	seal(l, client, msg, &wire);
	liar_send_to(l, &client->from, wire.data, wire.len, delay_ns);
}

void *liar_state(struct liar *l)
{
	return l->state[l->current];
}

struct liar_shared *liar_shared(struct liar *l)
{
	return &l->shared;
}

const struct bftm_server_cfg *liar_cfg(const struct liar *l)
{
	return &l->node.cfg;
}

u32 liar_turn(struct liar *l, u32 strategies, u64 now)
{
	if (!l->opt.switch_ns)
		return (u32)(liar_random(l) % strategies);
	while (now >= l->switch_ns) {
		l->switch_ns += l->opt.switch_ns;
		l->turn++;
	}
	return l->turn % strategies;
}

static const struct strategy *choose(struct liar *l, u64 now)
{
	l->current = liar_turn(l, l->opt.strategies, now);
	return l->opt.strategy[l->current];
}

static void show_push(struct liar *l, const struct strategy *s, const struct bftm_msg *push,
		      u64 now)
{
	if (push->type == BFTM_MSG_NONE)
		return;
	l->pushes++;
	if (l->opt.verbose)
		fprintf(stderr, "client %u, attempt %llu, send %u, unasked: %s, %s\n",
			push->client, (unsigned long long)push->attempt, push->k,
			bftm_msg_name(push->type), s->name);
	if (s->push)
		s->push(l, push, now);
	else
		liar_push(l, push, 0);
}

void liar_handle(struct liar *l, const struct liar_from *from, const void *data, size_t len)
{
	struct liar_request req = { .from = from, .now_ns = liar_now() };
	const struct strategy *s;
	struct decision d;

	if (len >= BFTM_ORDER_SHAPE_LEN && bftm_order_shaped(data)) {
		liar_handle_order(l, from, data, len);
		return;
	}
	if (!node_decide(&l->node, from, data, len, req.now_ns, &d))
		return;
	req.msg = &d.req;
	req.honest = &d.reply;
	req.client = d.client;
	l->requests++;
	s = choose(l, req.now_ns);
	if (l->opt.verbose)
		fprintf(stderr, "client %u, attempt %llu, send %u: %s -> %s, %s\n", d.req.client,
			(unsigned long long)d.req.attempt, d.req.k, bftm_msg_name(d.req.type),
			d.reply.type == BFTM_MSG_NONE ? "silence" : bftm_msg_name(d.reply.type),
			s->name);
	s->answer(l, &req);
	show_push(l, s, &d.push, req.now_ns);
}

/* Leases that are over. Return: when the next is, 0 for never. */
static u64 expire(struct liar *l, u64 now)
{
	struct bftm_msg push;

	while (node_expire(&l->node, now, &push))
		if (push.type != BFTM_MSG_NONE)
			show_push(l, choose(l, now), &push, now);
	return node_due(&l->node);
}

static void write_stats(const struct liar *l)
{
	FILE *f = l->opt.stats ? fopen(l->opt.stats, "we") : stderr;

	if (!f) {
		fprintf(stderr, "bftmutex-liar: %s: %s\n", l->opt.stats, strerror(errno));
		return;
	}
	fprintf(f, "{\"strategy\":\"%s\",\"requests\":%llu,\"lies\":%llu,\"replies\":%llu,"
		"\"pushes\":%llu}\n", l->names, (unsigned long long)l->requests,
		(unsigned long long)l->lies, (unsigned long long)l->replies,
		(unsigned long long)l->pushes);
	fflush(f);
	if (l->opt.stats)
		fclose(f);
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* False when it is time to go. */
static bool take_signals(struct liar *l)
{
	struct signalfd_siginfo info;

	while (read(l->signals, &info, sizeof(info)) == sizeof(info)) {
		write_stats(l);
		if (info.ssi_signo != SIGUSR1)
			return false;
	}
	return true;
}

static void run(struct liar *l)
{
	struct pollfd fds[] = {
		{ .fd = l->signals, .events = POLLIN },
		{ .fd = l->fd[0], .events = POLLIN },
		{ .fd = l->fd[1], .events = POLLIN },
	};
	struct timespec left;
	u64 now, due, next;
	int i;

	do {
		now = liar_now();
		due = expire(l, now);
		next = liar_send_due(l, now);
		if (due && (!next || due < next))
			next = due;
		left.tv_sec = (time_t)((next - now) / BFTM_NS_PER_SEC);
		left.tv_nsec = (long)((next - now) % BFTM_NS_PER_SEC);
		if (ppoll(fds, 3, next ? &left : NULL, NULL) < 0 && errno != EINTR)
			return;
		for (i = 1; i < 3; i++)
			if (fds[i].revents)
				liar_receive(l, fds[i].fd);
	} while (!fds[0].revents || take_signals(l));
}

static bool make_states(struct liar *l)
{
	u32 i;

	for (i = 0; i < l->opt.orders; i++) {
		l->order_state[i] = calloc(1, l->opt.order[i]->state + 1);
		if (!l->order_state[i])
			return false;
	}
	for (i = 0; i < l->opt.strategies; i++) {
		l->state[i] = calloc(1, l->opt.strategy[i]->state + 1);
		if (!l->state[i])
			return false;
	}
	return true;
}

static void close_all(struct liar *l)
{
	struct liar_late *late;
	u32 i;

	for (i = 0; i < l->opt.strategies; i++)
		free(l->state[i]);
	for (i = 0; i < l->opt.orders; i++)
		free(l->order_state[i]);
	while ((late = TAILQ_FIRST(&l->late))) {
		TAILQ_REMOVE(&l->late, late, list);
		free(late);
	}
	node_destroy(&l->node);
}

int main(int argc, char **argv)
{
	struct liar l = { .signals = -1 };
	int err;

	l.names = liar_cmdline(argc, argv, &l.opt);
	l.random = l.opt.seed;
	TAILQ_INIT(&l.late);
	err = bftm_master_load(l.opt.key, &l.node.master);
	if (err < 0)	/* it said why */
		return err == -EPERM ? EX_NOPERM : err == -EINVAL ? EX_DATAERR : EX_NOINPUT;
	l.node.cfg.lease_max_ns = l.opt.lease_max_ns;
	l.node.cfg.rho_ppm = l.opt.rho_ppm;
	l.node.cfg.waiters_max = l.opt.waiters_max;
	l.node.cfg.spared = l.opt.spared;
	node_init(&l.node, liar_now(), !l.opt.no_quarantine, l.opt.token_floor);
	l.switch_ns = liar_now() + l.opt.switch_ns;
	l.signals = open_signals();
	if (l.signals < 0 || !make_states(&l) || liar_sockets_open(&l) < 0)
		return EX_OSERR;
	/* A reader of ours must not wait for a buffer to fill. */
	puts("ready");
	fflush(stdout);
	run(&l);
	close_all(&l);
	return 0;
}
