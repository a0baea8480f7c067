// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "node.h"

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

BFTM_TREE(liar_clients, liar_client, node, compare_clients)
BFTM_TREE(liar_locks, liar_lock, node, compare_locks)

void node_init(struct node *node, u64 now, bool quarantine)
{
	RB_INIT(&node->clients);
	RB_INIT(&node->locks);
	TAILQ_INIT(&node->idle);
	node->cfg.cluster = node->master.cluster;
	node->cfg.id = node->master.server;
	do {
		if (getrandom(&node->cfg.epoch, sizeof(node->cfg.epoch), 0) < 0)
			abort();	/* cannot happen for 8 bytes */
	} while (!node->cfg.epoch);	/* 0 is what a client sends at first */
	node->gno = (u64)time(NULL) << 32;
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
	RB_REMOVE(liar_locks, &node->locks, lock);
	TAILQ_REMOVE(&node->idle, lock, list);
	node->lock_count--;
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

static struct liar_client *authenticate(struct node *node, const struct bftm_wire *wire, u32 id)
{
	struct liar_client key = { .id = id }, *c;

	c = RB_FIND(liar_clients, &node->clients, &key);
	if (c)
		return bftm_mac_verify(c->request, wire) ? c : NULL;
	c = client_new(node, id);
	if (!c)
		return NULL;
	/* The kernel says that its table is full; here nobody gets that far. */
	if (!bftm_mac_verify(c->request, wire) || node->client_count >= BFTM_CLIENTS_DEFAULT) {
		client_free(c);
		return NULL;
	}
	RB_INSERT(liar_clients, &node->clients, c);
	node->client_count++;
	return c;
}

/* A few of the oldest go when they are idle; there is no timer. */
static void forget_idle(struct node *node, u64 now)
{
	struct liar_lock *lock;
	int i;

	for (i = 0; i < 4; i++) {
		lock = TAILQ_FIRST(&node->idle);
		if (!lock || lock->touched_ns + IDLE_NS > now)
			return;
		if (bftm_lock_owned(&lock->lock, now)) {
			lock->touched_ns = now;
			TAILQ_REMOVE(&node->idle, lock, list);
			TAILQ_INSERT_TAIL(&node->idle, lock, list);
		} else {
			lock_free(node, lock);
		}
	}
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
	bftm_lock_init(&lock->lock, node->gno);
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

static void step(struct node *node, const struct bftm_msg *req, u64 now, struct bftm_msg *reply)
{
	struct liar_lock *lock = lock_find(node, req);

	if (!lock && req->type == BFTM_MSG_TRY) {
		lock = lock_new(node, req, now);
		if (!lock) {
			bftm_refuse(req, reply, BFTM_REFUSED_LOCKS);
			return;
		}
	}
	bftm_server_step(&node->cfg, lock ? &lock->lock : NULL, req, now, reply);
	if (lock) {
		lock->touched_ns = now;
		TAILQ_REMOVE(&node->idle, lock, list);
		TAILQ_INSERT_TAIL(&node->idle, lock, list);
	}
}

bool node_decide(struct node *node, const void *data, size_t len, u64 now, struct bftm_msg *req,
		 struct liar_client **client, struct bftm_msg *reply)
{
	if (bftm_wire_get(data, len, req) || !bftm_admit_address(&node->cfg, req))
		return false;
	*client = authenticate(node, data, req->client);
	if (!*client || !bftm_window_take(&(*client)->window, req->seq))
		return false;
	if (bftm_admit(&node->cfg, req, now, reply))
		step(node, req, now, reply);
	return true;
}
