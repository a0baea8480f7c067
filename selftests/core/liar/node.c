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
	if (a->protocol != b->protocol)
		return a->protocol->number < b->protocol->number ? -1 : 1;
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
	TAILQ_INIT(&node->by_key);
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
	const struct bftm_server_ops *ops = lock->protocol->server;
	struct bftm_lock_view view;

	ops->describe(lock->state, &view);
	if (view.grant > node->gno)
		node->gno = view.grant;		/* grant numbers never come again */
	if (view.token_max > node->hi && view.token_max != BFTM_TOKEN_UNKNOWN)
		node->hi = view.token_max;	/* nor do tokens */
	if (lock->due_ns)
		RB_REMOVE(liar_dues, &node->dues, lock);
	RB_REMOVE(liar_locks, &node->locks, lock);
	TAILQ_REMOVE(&node->idle, lock, list);
	node->lock_count--;
	if (ops->wants_room)
		free(ops->move_room(lock->state, NULL, 0));
	free(lock->state);
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

/** struct heard - a datagram on its way through the node */
struct heard {
	struct node *node;
	const struct liar_from *from;
	const void *data;
	size_t len;
	struct liar_client *client;
};

static enum bftm_sender shell_sender(void *arg, const struct bftm_msg *req)
{
	struct heard *h = arg;

	h->client = authenticate(h->node, h->data, h->len, req->client);
	return h->client ? BFTM_SENDER_GENUINE : BFTM_SENDER_FORGED;
}

static bool shell_take(void *arg, const struct bftm_msg *req)
{
	struct heard *h = arg;

	if (!bftm_window_take(&h->client->window, req->seq))
		return false;
	h->client->from = *h->from;
	return true;
}

static void shell_tokens(void *arg, const struct bftm_msg *req, u64 now, struct bftm_msg *reply)
{
	struct heard *h = arg;

	bftm_tokens_answer(&h->node->tokens, &h->node->cfg, req, now,
			   (u64)time(NULL) * BFTM_NS_PER_SEC, reply);
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
		if (lock->due_ns || !lock->protocol->server->idle(lock->state, now)) {
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

static struct liar_lock *lock_new(struct node *node, const struct bftm_protocol *protocol,
				  const struct bftm_msg *req, u64 now)
{
	struct liar_lock *lock;

	forget_idle(node, now);
	if (node->lock_count >= BFTM_LOCKS_DEFAULT)
		return NULL;
	lock = calloc(1, sizeof(*lock) + req->name_len);
	if (!lock)
		return NULL;
	lock->state = malloc(protocol->server->lock_size);
	if (!lock->state) {
		free(lock);
		return NULL;
	}
	protocol->server->init(lock->state, node->gno, tokens_known(node));
	lock->protocol = protocol;
	lock->name_len = req->name_len;
	memcpy(lock->name, req->name, req->name_len);
	RB_INSERT(liar_locks, &node->locks, lock);
	TAILQ_INSERT_TAIL(&node->idle, lock, list);
	node->lock_count++;
	return lock;
}

static struct liar_lock *lock_find(struct node *node, const struct bftm_protocol *protocol,
				   const struct bftm_msg *req)
{
	/* Room for the longest name behind the structure. */
	union {
		struct liar_lock lock;
		u8 raw[sizeof(struct liar_lock) + BFTM_NAME_LEN_MAX];
	} key = { .raw = {} };

	key.lock.protocol = protocol;
	key.lock.name_len = req->name_len;
	memcpy(key.raw + offsetof(struct liar_lock, name), req->name, req->name_len);
	return RB_FIND(liar_locks, &node->locks, &key.lock);
}

/* After anything that may have changed when its protocol wants to look at it. */
static void plan(struct node *node, struct liar_lock *lock)
{
	const struct bftm_server_ops *ops = lock->protocol->server;
	u64 due = ops->deadline(lock->state);
	struct bftm_lock_view view;

	if (lock->due_ns != due) {
		if (lock->due_ns)
			RB_REMOVE(liar_dues, &node->dues, lock);
		lock->due_ns = due;
		if (due)
			RB_INSERT(liar_dues, &node->dues, lock);
	}
	ops->describe(lock->state, &view);
	if (ops->wants_room && !view.places)
		free(ops->move_room(lock->state, NULL, 0));
}

static bool shell_enter(void *arg, const struct bftm_protocol *protocol,
			const struct bftm_msg *req, bool make, u64 *now, void **ret)
{
	struct heard *h = arg;
	struct liar_lock *lock = lock_find(h->node, protocol, req);

	if (!lock && make)
		lock = lock_new(h->node, protocol, req, *now);
	if (lock)
		protocol->server->learn(lock->state, tokens_known(h->node));
	*ret = lock ? lock->state : NULL;
	return true;
}

/* Without memory the core refuses. */
static void shell_enlarge(void *arg, const struct bftm_protocol *protocol, void *state,
			  u32 waiters)
{
	void *block = malloc(protocol->server->room_size(waiters));

	(void)arg;
	if (block)
		free(protocol->server->move_room(state, block, waiters));
}

static void shell_leave(void *arg, const struct bftm_protocol *protocol, void *state,
			const struct bftm_msg *req, u64 now, const struct bftm_sends *sends)
{
	struct heard *h = arg;
	struct liar_lock *lock;

	if (sends->reply.type == BFTM_MSG_SACK)
		bftm_tokens_stamped(&h->node->tokens, sends->reply.gno);
	if (!state)
		return;
	lock = lock_find(h->node, protocol, req);
	plan(h->node, lock);
	lock->touched_ns = now;
	TAILQ_REMOVE(&h->node->idle, lock, list);
	TAILQ_INSERT_TAIL(&h->node->idle, lock, list);
}

static const struct bftm_shell shell = {
	.sender = shell_sender,
	.take = shell_take,
	.tokens = shell_tokens,
	.enter = shell_enter,
	.enlarge = shell_enlarge,
	.leave = shell_leave,
};

u64 node_due(struct node *node)
{
	const struct liar_lock *lock = RB_MIN(liar_dues, &node->dues);

	return lock ? lock->due_ns : 0;
}

bool node_expire(struct node *node, u64 now, struct bftm_msg *push)
{
	struct liar_lock *lock = RB_MIN(liar_dues, &node->dues);

	u64 due = lock ? lock->protocol->server->deadline(lock->state) : 0;

	if (!due || due > now)
		return false;
	lock->protocol->server->expire(&node->cfg, lock->state, now, push);
	push->name_len = lock->name_len;
	memcpy(push->name, lock->name, lock->name_len);
	plan(node, lock);
	return true;
}

bool node_decide(struct node *node, const struct liar_from *from, const void *data, size_t len,
		 u64 now, struct decision *ret)
{
	struct heard h = { .node = node, .from = from, .data = data, .len = len };
	struct bftm_sends sends = {};	/* a strategy reads an answer that is silence, too */

	if (bftm_wire_get(data, len, &ret->req) ||
	    bftm_serve(&shell, &h, &node->cfg, &ret->req, now, &sends) != BFTM_SERVED)
		return false;
	ret->client = h.client;
	ret->reply = sends.reply;
	ret->push = sends.push;
	return true;
}

struct liar_client *node_admit(struct node *node, const struct liar_from *from, const void *data,
			       size_t len, const struct bftm_msg *head, u64 now,
			       bool *ret_admit, struct bftm_msg *ret_reply)
{
	struct heard h = { .node = node, .from = from, .data = data, .len = len };
	struct bftm_server_cfg limits;

	if (bftm_serve_head(&shell, &h, &node->cfg, head, now, &limits, ret_admit,
			    ret_reply) != BFTM_SERVED)
		return NULL;
	return h.client;
}
