// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lock/acquire.h"
#include "lock/names.h"

static int name_compare(const struct bftm_name *a, const struct bftm_name *b)
{
	return a->len != b->len ? a->len - b->len : memcmp(a->name, b->name, a->len);
}

BFTM_TREE(bftm_name_tree, bftm_name, node, name_compare)

void bftm_names_init(struct bftm_names *names)
{
	RB_INIT(&names->tree);
	TAILQ_INIT(&names->idle);
}

/* Somebody here contends for it or holds it: others wait for that to end. */
static bool is_taken(const struct bftm_name *name)
{
	return name->active || !TAILQ_EMPTY(&name->adopted);
}

static bool is_idle(const struct bftm_name *name)
{
	return !is_taken(name) && TAILQ_EMPTY(&name->waiting);
}

static void name_forget(struct bftm_names *names, struct bftm_name *name)
{
	TAILQ_REMOVE(&names->idle, name, idle);
	names->idle_count--;
	RB_REMOVE(bftm_name_tree, &names->tree, name);
	free(name);
}

void bftm_names_free(struct bftm_names *names)
{
	struct bftm_name *name;

	while ((name = TAILQ_FIRST(&names->idle)))
		name_forget(names, name);
}

struct bftm_name *bftm_name_find(struct bftm_names *names, const u8 *bytes, u8 len)
{
	struct bftm_name key = { .len = len };

	memcpy(key.name, bytes, len);
	return RB_FIND(bftm_name_tree, &names->tree, &key);
}

static struct bftm_name *name_make(struct bftm_names *names, const u8 *bytes, u8 len)
{
	struct bftm_name *name = calloc(1, sizeof(*name));

	if (!name)
		return NULL;
	name->len = len;
	memcpy(name->name, bytes, len);
	TAILQ_INIT(&name->waiting);
	TAILQ_INIT(&name->adopted);
	RB_INSERT(bftm_name_tree, &names->tree, name);
	return name;
}

int bftm_name_join(struct bftm_names *names, struct bftm_acquire_op *op,
		   bool adopted)
{
	struct bftm_name *name = bftm_name_find(names, op->ask.name,
						op->ask.name_len);

	if (!name) {
		name = name_make(names, op->ask.name, op->ask.name_len);
		if (!name)
			return -ENOMEM;
	} else if (is_idle(name)) {
		TAILQ_REMOVE(&names->idle, name, idle);
		names->idle_count--;
	}
	op->name = name;
	if (adopted) {
		op->place = BFTM_PLACE_ADOPTED;
		TAILQ_INSERT_TAIL(&name->adopted, op, beside);
	} else if (is_taken(name)) {
		op->place = BFTM_PLACE_WAITING;
		TAILQ_INSERT_TAIL(&name->waiting, op, beside);
	} else {
		op->place = BFTM_PLACE_ACTIVE;
		name->active = op;
	}
	return 0;
}

struct bftm_acquire_op *bftm_name_leave(struct bftm_names *names,
					struct bftm_acquire_op *op)
{
	struct bftm_name *name = op->name;
	struct bftm_acquire_op *next;

	switch (op->place) {
	case BFTM_PLACE_WAITING:
		TAILQ_REMOVE(&name->waiting, op, beside);
		break;
	case BFTM_PLACE_ACTIVE:
		name->active = NULL;
		break;
	case BFTM_PLACE_ADOPTED:
		TAILQ_REMOVE(&name->adopted, op, beside);
		break;
	}
	op->name = NULL;
	next = is_taken(name) ? NULL : TAILQ_FIRST(&name->waiting);
	if (next) {
		TAILQ_REMOVE(&name->waiting, next, beside);
		next->place = BFTM_PLACE_ACTIVE;
		name->active = next;
	} else if (is_idle(name)) {
		TAILQ_INSERT_TAIL(&names->idle, name, idle);
		if (++names->idle_count > BFTM_NAMES_IDLE)
			name_forget(names, TAILQ_FIRST(&names->idle));
	}
	return next;
}

struct bftm_acquire_op *bftm_name_op(const struct bftm_name *name, u64 attempt)
{
	struct bftm_acquire_op *op;

	if (name->active && name->active->client->attempt == attempt)
		return name->active;
	TAILQ_FOREACH(op, &name->adopted, beside)
		if (op->client->attempt == attempt)
			return op;
	return NULL;
}
