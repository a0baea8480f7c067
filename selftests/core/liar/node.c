// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "node_order.h"

/* As in the kernel: the tombs of an idle lock are kept that long. */
#define IDLE_NS (10 * BFTM_NS_PER_SEC)

static int compare_clients(const struct liar_client *a, const struct liar_client *b)
{
	return a->id < b->id ? -1 : a->id > b->id;
}

static int compare_locks(const struct liar_lock *a, const struct liar_lock *b)
{
	if (a->name_len != b->name_len)
		return a->name_len < b->name_len ? -1 : 1;
	return memcmp(a->name, b->name, a->name_len);
}

/* Two may end at the same instant. */
static int compare_dues(const struct liar_lock *a, const struct liar_lock *b)
{
	if (a->due_ns != b->due_ns)
		return a->due_ns < b->due_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

BFTM_TREE(liar_clients, liar_client, node, compare_clients)
BFTM_TREE(liar_locks, liar_lock, node, compare_locks)
BFTM_TREE(liar_dues, liar_lock, due, compare_dues)

void node_init(struct node *node, u64 now, bool quarantine, u64 token_floor)
{
	RB_INIT(&node->clients);
	RB_INIT(&node->locks);
	RB_INIT(&node->dues);
	TAILQ_INIT(&node->idle);
	RB_INIT(&node->objects);
	TAILQ_INIT(&node->uploads);
	node->recovering = token_floor == BFTM_TOKEN_UNKNOWN;
	node->cfg.cluster = node->master.cluster;
	node->cfg.id = node->master.server;
	do {
		if (getrandom(&node->cfg.epoch, sizeof(node->cfg.epoch), 0) < 0)
			abort();	/* cannot happen for 8 bytes */
	} while (!node->cfg.epoch);	/* 0 is what a client sends at first */
	node->gno = (u64)time(NULL) << 32;
	node->tokens.floor = token_floor;
	node->cfg.quarantine_until_ns = quarantine ?
		bftm_quarantine(node->cfg.lease_max_ns, node->cfg.rho_ppm, now) : 0;
}

static void client_free(struct liar_client *c)
{
	bftm_mac_free(c->request);
	bftm_mac_free(c->reply);
	free(c);
}

static void lock_free(struct node *node, struct liar_lock *lock)
{
	if (lock->lock.gno > node->gno)
		node->gno = lock->lock.gno;	/* grant numbers never come again */
	if (lock->lock.hi > node->hi && lock->lock.hi != BFTM_TOKEN_UNKNOWN)
		node->hi = lock->lock.hi;	/* nor do tokens */
	if (lock->due_ns)
		RB_REMOVE(liar_dues, &node->dues, lock);
	RB_REMOVE(liar_locks, &node->locks, lock);
	TAILQ_REMOVE(&node->idle, lock, list);
	node->lock_count--;
	free(lock->lock.queue);
	free(lock);
}

void node_destroy(struct node *node)
{
	struct liar_client *c;
	struct liar_lock *lock;

	while ((c = RB_ROOT(&node->clients))) {
		RB_REMOVE(liar_clients, &node->clients, c);
		client_free(c);
	}
	while ((lock = TAILQ_FIRST(&node->idle)))
		lock_free(node, lock);
	node_objects_destroy(node);
	explicit_bzero(&node->master, sizeof(node->master));
}

/* A client with its keys, not in the table: it has proved nothing yet. */
static struct liar_client *client_new(const struct node *node, u32 id)
{
	struct liar_client *c = calloc(1, sizeof(*c));
	struct bftm_pair pair = {};

	if (!c)
		return NULL;
	c->id = id;
	if (bftm_derive(&node->master, id, &pair) == 0) {
		c->request = bftm_mac_new(pair.request);
		c->reply = bftm_mac_new(pair.reply);
	}
	explicit_bzero(&pair, sizeof(pair));
	if (!c->request || !c->reply) {
		client_free(c);
		return NULL;
	}
	return c;
}

struct liar_client *node_client(struct node *node, u32 id)
{
	struct liar_client key = { .id = id };

	return RB_FIND(liar_clients, &node->clients, &key);
}

static struct liar_client *authenticate(struct node *node, const void *data, size_t len, u32 id)
{
	struct liar_client *c = node_client(node, id);

	if (c)
		return bftm_mac_verify_bytes(c->request, data, len) ? c : NULL;
	c = client_new(node, id);
	if (!c)
		return NULL;
	/* The kernel says that its table is full; here nobody gets that far. */
	if (!bftm_mac_verify_bytes(c->request, data, len) ||
	    node->client_count >= BFTM_CLIENTS_DEFAULT) {
		client_free(c);
		return NULL;
	}
	RB_INSERT(liar_clients, &node->clients, c);
	node->client_count++;
	return c;
}

struct liar_client *node_authenticate(struct node *node, const struct liar_from *from,
				      const void *data, size_t len, const struct bftm_msg *head)
{
	struct liar_client *c = authenticate(node, data, len, head->client);

	if (!c || !bftm_window_take(&c->window, head->seq))
		return NULL;
	c->from = *from;
	return c;
}

/* A few of the oldest go when they are idle. */
static void forget_idle(struct node *node, u64 now)
{
	struct liar_lock *lock;
	int i;

	for (i = 0; i < 4; i++) {
		lock = TAILQ_FIRST(&node->idle);
		if (!lock || lock->touched_ns + IDLE_NS > now)
			return;
		if (lock->lock.attempt || bftm_lock_waited(&lock->lock)) {
			lock->touched_ns = now;
			TAILQ_REMOVE(&node->idle, lock, list);
			TAILQ_INSERT_TAIL(&node->idle, lock, list);
		} else {
			lock_free(node, lock);
		}
	}
}

/* No higher token was stamped for a lock that is not in the table, or unknown. */
static u64 tokens_known(const struct node *node)
{
	return node->tokens.floor > node->hi ? node->tokens.floor : node->hi;
}

static struct liar_lock *lock_new(struct node *node, const struct bftm_msg *req, u64 now)
{
	struct liar_lock *lock;

	forget_idle(node, now);
	if (node->lock_count >= BFTM_LOCKS_DEFAULT)
		return NULL;
	lock = calloc(1, sizeof(*lock) + req->name_len);
	if (!lock)
		return NULL;
	bftm_lock_init(&lock->lock, node->gno, tokens_known(node));
	lock->name_len = req->name_len;
	memcpy(lock->name, req->name, req->name_len);
	RB_INSERT(liar_locks, &node->locks, lock);
	TAILQ_INSERT_TAIL(&node->idle, lock, list);
	node->lock_count++;
	return lock;
}

static struct liar_lock *lock_find(struct node *node, const struct bftm_msg *req)
{
	/* Room for the longest name behind the structure. */
	union {
		struct liar_lock lock;
		u8 raw[sizeof(struct liar_lock) + BFTM_NAME_LEN_MAX];
	} key = { .raw = {} };

	key.lock.name_len = req->name_len;
	memcpy(key.raw + offsetof(struct liar_lock, name), req->name, req->name_len);
	return RB_FIND(liar_locks, &node->locks, &key.lock);
}

/* As the kernel: twice as long, and never shrunk while somebody waits. */
static void make_room(const struct node *node, struct bftm_lock *lock)
{
	u32 room = lock->queue ? 2 * lock->queue->room : 4;
	struct bftm_queue *q;

	if (room > node->cfg.waiters_max)
		room = node->cfg.waiters_max;
	if (lock->queue && room <= lock->queue->room)
		return;
	q = realloc(lock->queue, sizeof(*q) + room * sizeof(q->waiter[0]));
	if (!q)
		return;		/* the core refuses then */
	if (!lock->queue)
		q->count = 0;
	q->room = room;
	lock->queue = q;
}

/* After anything that may have changed who has it, and until when. */
static void plan(struct node *node, struct liar_lock *lock)
{
	u64 due = lock->lock.attempt ? lock->lock.until_ns + 1 : 0;

	if (lock->due_ns != due) {
		if (lock->due_ns)
			RB_REMOVE(liar_dues, &node->dues, lock);
		lock->due_ns = due;
		if (due)
			RB_INSERT(liar_dues, &node->dues, lock);
	}
	if (lock->lock.queue && !lock->lock.queue->count) {
		free(lock->lock.queue);
		lock->lock.queue = NULL;
	}
}

static void step(struct node *node, u64 now, struct decision *d)
{
	struct liar_lock *lock = lock_find(node, &d->req);

	if (!lock && bftm_server_needs(&node->cfg, &d->req)) {
		lock = lock_new(node, &d->req, now);
		if (!lock) {
			bftm_refuse(&d->req, &d->reply, BFTM_REFUSED_LOCKS);
			return;
		}
	}
	if (lock) {
		bftm_lock_learn(&lock->lock, tokens_known(node));
		if (bftm_lock_lacks_room(&lock->lock, &d->req, now))
			make_room(node, &lock->lock);
	}
	bftm_server_step(&node->cfg, lock ? &lock->lock : NULL, &d->req, now, &d->reply, &d->push);
	if (d->reply.type == BFTM_MSG_SACK)
		bftm_tokens_stamped(&node->tokens, d->reply.gno);
	if (lock) {
		plan(node, lock);
		lock->touched_ns = now;
		TAILQ_REMOVE(&node->idle, lock, list);
		TAILQ_INSERT_TAIL(&node->idle, lock, list);
	}
}

u64 node_due(struct node *node)
{
	const struct liar_lock *lock = RB_MIN(liar_dues, &node->dues);

	return lock ? lock->due_ns : 0;
}

bool node_expire(struct node *node, u64 now, struct bftm_msg *push)
{
	struct liar_lock *lock = RB_MIN(liar_dues, &node->dues);

	if (!lock || !bftm_lock_expire(&node->cfg, &lock->lock, now, push))
		return false;
	push->name_len = lock->name_len;
	memcpy(push->name, lock->name, lock->name_len);
	plan(node, lock);
	return true;
}

bool node_decide(struct node *node, const struct liar_from *from, const void *data, size_t len,
		 u64 now, struct decision *ret)
{
	if (bftm_wire_get(data, len, &ret->req) || !bftm_admit_address(&node->cfg, &ret->req))
		return false;
	ret->client = node_authenticate(node, from, data, len, &ret->req);
	if (!ret->client)
		return false;
	ret->push.type = BFTM_MSG_NONE;
	if (bftm_admit(&node->cfg, &ret->req, now, &ret->reply))
		step(node, now, ret);
	else
		bftm_tokens_answer(&node->tokens, &node->cfg, &ret->req, now,
				   (u64)time(NULL) * BFTM_NS_PER_SEC, &ret->reply);
	ret->reply.server_epoch = node->cfg.epoch;
	return true;
}
