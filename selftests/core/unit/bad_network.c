// SPDX-License-Identifier: GPL-2.0
#include "bad_network.h"

#define POOL	64
#define ASKED	4096

struct datagram {
	struct bftm_msg msg;
	u32 client, server;
	bool to_server;
};

const struct bftm_client_cfg network_cfg = {
	.n = N, .b = 1, .rho_ppm = 2000, .exponent = 2, .delta_ns = 5 * MS,
	.resend_ns = 20 * MS, .retry_max_ns = 600 * MS,
};
struct server servers[N];
static struct bftm_asked asked[CLIENTS][ASKED];
struct client clients[CLIENTS];
static struct datagram pool[POOL];
static u32 pooled;
u64 rnd, network_now, epochs, top, contradictions;

static bool chance(u64 percent)
{
	return unit_between(&rnd, 1, 100) <= percent;
}

static void put(const struct bftm_msg *msg, u32 client, u32 server, bool to_server)
{
	if (pooled == POOL || chance(10))
		return;		/* lost */
	pool[pooled++] = (struct datagram){ *msg, client, server, to_server };
}

static void start_server(u32 u)
{
	struct server *s = &servers[u];
	u64 gno = s->lock.gno + 1000;
	struct bftm_queue *queue = s->lock.queue;

	s->cfg = (struct bftm_server_cfg){
		.cluster = 1, .id = (u16)(u + 1), .rho_ppm = 2000, .epoch = ++epochs,
		.lease_max_ns = LEASE, .waiters_max = CLIENTS,
		.quarantine_until_ns = bftm_quarantine(LEASE, 2000, network_now),
	};
	memset(s->window, 0, sizeof(s->window));
	bftm_lock_init(&s->lock, gno, BFTM_TOKEN_UNKNOWN);
	s->lock.queue = queue;
	queue->count = 0;
}

static void send(u32 i, u32 to, const struct bftm_msg *msg)
{
	struct bftm_msg m = *msg;
	u32 u;

	for (u = 0; u < N; u++) {
		if (!(to >> u & 1))
			continue;
		m.attempt = m.attempt ?: clients[i].c.base.attempt;
		m.client = i + 1;
		m.server_epoch = clients[i].epoch[u];
		m.seq = ++clients[i].seq;
		m.proto = BFTM_PROTO_BACKOFF;
		m.cluster = servers[u].cfg.cluster;
		m.server = servers[u].cfg.id;
		asked[i][m.seq % ASKED] = bftm_asked_of(&m, u, network_now);
		put(&m, i, u, true);
	}
}

static void obey(u32 i, const struct bftm_out *out)
{
	struct client *cl = &clients[i];
	const struct bftm_msg release = {
		.type = BFTM_MSG_RELEASE, .attempt = out->release_attempt,
	};
	struct bftm_msg msg;
	u32 j;

	send(i, out->release_to, &release);
	for (j = 0; j < out->count; j++) {
		send(i, bftm_contender_message(&cl->c.base, &out->send[j], out->send[j].to, &msg),
		     &msg);
	}
	if (out->verdict == BFTM_WON) {
		cl->won++;
		cl->leave_ns = network_now + unit_between(&rnd, 0, 2 * LEASE);
	}
}

static void begin(u32 i)
{
	const struct bftm_want want = {
		.lease_ns = LEASE, .renew = chance(50), .fence = chance(50),
		.wait = chance(70) ? BFTM_WAIT_QUEUE : BFTM_WAIT_BACKOFF,
		.mode = BFTM_MODE_EX,
	};
	struct bftm_out out;

	bftm_contend_start(&clients[i].c, &network_cfg, &want, ++clients[i].attempt, network_now,
			   &out);
	obey(i, &out);
}

static bool shell_take(void *arg, const struct bftm_msg *req)
{
	struct server *s = arg;

	return bftm_window_take(&s->window[req->client - 1], req->seq);
}

static bool shell_enter(void *arg, const struct bftm_protocol *protocol,
			const struct bftm_msg *req, bool make, u64 *now, void **ret)
{
	struct server *s = arg;

	(void)req, (void)make, (void)now;
	if (chance(5))
		protocol->server->learn(&s->lock, top);
	*ret = &s->lock;
	return true;
}

static const struct bftm_shell shell = { .take = shell_take, .enter = shell_enter };

static void serve(const struct datagram *d)
{
	struct server *s = &servers[d->server];
	struct bftm_sends sends;

	if (bftm_serve(&shell, s, &s->cfg, &d->msg, network_now, &sends) != BFTM_SERVED)
		return;
	if (sends.reply.type == BFTM_MSG_SACK && sends.reply.gno > top)
		top = sends.reply.gno;
	if (sends.reply.type)
		put(&sends.reply, d->client, d->server, false);
	if (sends.push.type)
		put(&sends.push, sends.push.client - 1, d->server, false);
}

static void accuse(const struct datagram *d, enum bftm_lie lie)
{
	const struct bftm_msg *msg = &d->msg;

	if (!lie)
		return;
	contradictions++;
	printf("# server %u to client %u %s: %s gno %llu token %llu k %u\n", d->server, d->client,
	       bftm_lie_name(lie), bftm_msg_name(msg->type), (unsigned long long)msg->gno,
	       (unsigned long long)msg->token, msg->k);
}

static void hear_epoch(const struct datagram *d)
{
	struct client *cl = &clients[d->client];
	const struct bftm_msg *msg = &d->msg;
	u32 u = d->server;

	if (bftm_epochs_return(&cl->epochs[u], msg->server_epoch, msg->seq))
		accuse(d, BFTM_LIE_EPOCH);
	if (msg->seq <= cl->challenge_seq[u])
		return;
	cl->challenge_seq[u] = msg->seq;
	if (cl->epoch[u] != msg->server_epoch)
		bftm_epochs_believe(&cl->epochs[u], msg->server_epoch, msg->seq, cl->seq);
	cl->epoch[u] = msg->server_epoch;
}

static void hear(const struct datagram *d)
{
	struct client *cl = &clients[d->client];
	const struct bftm_msg *msg = &d->msg;
	u32 u = d->server;
	const struct bftm_asked *a = &asked[d->client][msg->seq % ASKED];
	struct bftm_out out;

	if (msg->seq && !bftm_window_take(&cl->window, msg->seq))
		return;
	a = msg->seq && a->seq == msg->seq ? a : NULL;
	if (a)
		accuse(d, bftm_answer_lies(a, u, msg));
	if (msg->type == BFTM_MSG_STALE) {
		hear_epoch(d);
		if (msg->attempt == cl->c.base.attempt) {
			bftm_contend_again(&cl->c, u, &out);
			obey(d->client, &out);
		}
		return;
	}
	if (msg->attempt == cl->c.base.attempt && msg->server_epoch == cl->epoch[u])
		accuse(d, bftm_contradicts(&cl->claim[u], &cl->c.base, &network_cfg,
					   bftm_backoff.client->granted_ns(&cl->c.base, u), msg,
					   a ? a->sent_ns : 0, cl->seq, network_now));
	bftm_contend_answer(&cl->c, &network_cfg, u, msg, network_now, unit_random(&rnd), &out);
	obey(d->client, &out);
}

static void deliver(void)
{
	u32 i = (u32)unit_between(&rnd, 0, pooled - 1);
	struct datagram d = pool[i];

	/* Some arrive again later. */
	if (!chance(10))
		pool[i] = pool[--pooled];
	if (d.to_server)
		serve(&d);
	else
		hear(&d);
}

static void act(u32 i)
{
	struct client *cl = &clients[i];
	struct bftm_out out;
	u64 before = cl->c.base.attempt;

	if (cl->c.base.phase == BFTM_PHASE_DEAD) {
		begin(i);
	} else if (cl->c.base.phase == BFTM_PHASE_HOLD && network_now >= cl->leave_ns) {
		bftm_contend_stop(&cl->c, &network_cfg, &out);
		obey(i, &out);
	} else {
		bftm_contend_wake(&cl->c, &network_cfg, network_now, cl->attempt + 1, unit_random(&rnd),
				  &out);
		if (cl->c.base.attempt != before)
			cl->attempt++;
		obey(i, &out);
	}
	if (cl->c.base.attempt != before)
		for (u32 u = 0; u < N; u++)
			cl->claim[u].free_seq = 0;
}

void network_step(void)
{
	struct bftm_msg push;
	u32 u;

	network_now += unit_between(&rnd, 0, 2 * MS);
	if (pooled && chance(85)) {
		deliver();
		return;
	}
	for (u = 0; u < N; u++) {
		bftm_lock_expire(&servers[u].cfg, &servers[u].lock, network_now, &push);
		if (push.type) {
			push.server_epoch = servers[u].cfg.epoch;
			put(&push, push.client - 1, u, false);
		}
	}
	act((u32)unit_between(&rnd, 0, CLIENTS - 1));
	if (unit_between(&rnd, 1, 3000) == 1)
		start_server((u32)unit_between(&rnd, 0, N - 1));
}

void make_queues(void)
{
	u32 u;

	for (u = 0; u < N; u++) {
		struct bftm_queue *queue =
			calloc(1, sizeof(*queue) + CLIENTS * sizeof(queue->place[0]));

		assert_non_null(queue);
		queue->room = CLIENTS;
		servers[u].lock.queue = queue;
	}
}

void new_cluster(void)
{
	u32 u;

	memset(clients, 0, sizeof(clients));
	pooled = 0;
	top = 0;
	network_now += 1000 * MS;
	for (u = 0; u < N; u++) {
		start_server(u);
		bftm_lock_learn(&servers[u].lock, 0);
	}
}
