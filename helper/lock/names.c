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

static bool is_idle(const struct bftm_name *name)
{
	return !name->contender && TAILQ_EMPTY(&name->holders) && TAILQ_EMPTY(&name->waiting);
}

static bool do_conflict(const struct bftm_acquire_op *a, const struct bftm_acquire_op *b)
{
	return bftm_modes_conflict(bftm_ask_mode(&a->ask), bftm_ask_mode(&b->ask));
}

/* Can it be held beside all that is held here? */
static bool fits_holders(const struct bftm_name *name, const struct bftm_acquire_op *op)
{
	const struct bftm_acquire_op *holder;

	TAILQ_FOREACH(holder, &name->holders, beside)
		if (do_conflict(holder, op))
			return false;
	return true;
}

/* The first that waits contends, if nobody else does and nobody here holds what it excludes. */
static struct bftm_acquire_op *begin_next(struct bftm_name *name)
{
	struct bftm_acquire_op *next = TAILQ_FIRST(&name->waiting);

	if (!next || name->contender || !fits_holders(name, next))
		return NULL;
	TAILQ_REMOVE(&name->waiting, next, beside);
	next->place = BFTM_PLACE_ACTIVE;
	name->contender = next;
	return next;
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
	TAILQ_INIT(&name->holders);
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
		TAILQ_INSERT_TAIL(&name->holders, op, beside);
	} else {
		op->place = BFTM_PLACE_WAITING;
		TAILQ_INSERT_TAIL(&name->waiting, op, beside);
		/* If others wait, the first of them cannot begin now, nor can this one. */
		begin_next(name);
	}
	return 0;
}

struct bftm_acquire_op *bftm_name_won(struct bftm_acquire_op *op)
{
	struct bftm_name *name = op->name;

	name->contender = NULL;
	TAILQ_INSERT_TAIL(&name->holders, op, beside);
	return begin_next(name);
}

struct bftm_acquire_op *bftm_name_next(struct bftm_name *name)
{
	return begin_next(name);
}

struct bftm_acquire_op *bftm_name_leave(struct bftm_names *names,
					struct bftm_acquire_op *op)
{
	struct bftm_name *name = op->name;
	struct bftm_acquire_op *next;

	if (op == name->contender)
		name->contender = NULL;
	else if (op->place == BFTM_PLACE_WAITING)
		TAILQ_REMOVE(&name->waiting, op, beside);
	else
		TAILQ_REMOVE(&name->holders, op, beside);
	op->name = NULL;
	next = begin_next(name);
	if (!next && is_idle(name)) {
		TAILQ_INSERT_TAIL(&names->idle, name, idle);
		if (++names->idle_count > BFTM_NAMES_IDLE)
			name_forget(names, TAILQ_FIRST(&names->idle));
	}
	return next;
}

bool bftm_name_excludes(const struct bftm_acquire_op *op)
{
	const struct bftm_name *name = op->name;
	const struct bftm_acquire_op *before;

	if (!fits_holders(name, op) || (name->contender && do_conflict(name->contender, op)))
		return true;
	TAILQ_FOREACH(before, &name->waiting, beside) {
		if (before == op)
			return false;
		if (do_conflict(before, op))
			return true;
	}
	return false;
}

/* Does the holder @other wait for a mode that the mode of @op excludes? BFTM_TRY does not wait. */
static bool converts_into(const struct bftm_acquire_op *other, const struct bftm_acquire_op *op)
{
	return other != op && other->ask.conversion && !other->ask.convert_once &&
	       bftm_modes_conflict(bftm_mode_of(other->ask.goal), bftm_ask_mode(&op->ask));
}

bool bftm_name_wanted(const struct bftm_acquire_op *op)
{
	const struct bftm_acquire_op *other = op->name->contender;

	/* It began beside a mode that excluded less; and one that has just won is no other. */
	if (other && other != op && do_conflict(other, op))
		return true;
	TAILQ_FOREACH(other, &op->name->waiting, beside)
		if (do_conflict(other, op))
			return true;
	TAILQ_FOREACH(other, &op->name->holders, beside)
		if (converts_into(other, op))
			return true;
	return false;
}

struct bftm_acquire_op *bftm_name_once(const struct bftm_name *name)
{
	struct bftm_acquire_op *op;

	TAILQ_FOREACH(op, &name->waiting, beside)
		if (op->ask.once)
			return op;
	return NULL;
}

struct bftm_acquire_op *bftm_name_op(const struct bftm_name *name, u64 attempt)
{
	struct bftm_acquire_op *op;

	if (name->contender && name->contender->client->attempt == attempt)
		return name->contender;
	TAILQ_FOREACH(op, &name->holders, beside)
		if (op->client->attempt == attempt)
			return op;
	return NULL;
}
