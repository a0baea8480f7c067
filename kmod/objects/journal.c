// SPDX-License-Identifier: GPL-2.0
/*
 * Each durable change of an object has a number. The answer of a step may be sent once the journal
 * has stored all changes that the object had by then: those of the step, and earlier ones for which
 * other answers may still wait. So no client ever acts on a change that the server could forget in
 * a restart.
 *
 * An object with changes that the journal lacks is in one of two lists: it waits to be pulled, or
 * was pulled and is to be stored. It cannot go away: objects that have promised or stored anything
 * stay until the table is freed.
 *
 * Locks: a shard's, then the journal's. Bodies that were pulled have references
 * of their own, so they can be sent in pieces while the object goes on.
 */
#include <linux/bottom_half.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "debug.h"
#include "notify.h"
#include "objects/objects.h"
#include "server/server.h"

int bftm_journal_new(struct bftm_server *server)
{
	struct bftm_journal *j;

	if (server->param.durability == BFTMUTEX_DURABILITY_NONE)
		return 0;
	j = kzalloc(sizeof(*j), GFP_KERNEL);
	if (!j)
		return -ENOMEM;
	j->server = server;
	j->id = server->param.journal_id;
	j->sync = server->param.durability == BFTMUTEX_DURABILITY_SYNC;
	spin_lock_init(&j->lock);
	INIT_LIST_HEAD(&j->waiting);
	INIT_LIST_HEAD(&j->given);
	server->objects->journal = j;
	server->objects->loading = true;
	bftm_created("journal", j);
	return 0;
}

void bftm_saved_init(struct bftm_saved *s)
{
	memset(s, 0, sizeof(*s));
	INIT_LIST_HEAD(&s->queue);
	INIT_LIST_HEAD(&s->held);
}

/* With the lock held: the pulled change is not on its way any more. */
static void take_back(struct bftm_saved *s)
{
	bftm_stored_put(s->sc);
	bftm_stored_put(s->sp);
	s->sc = NULL;
	s->sp = NULL;
	s->taken = 0;
}

/* Objects that were pulled wait again, before the others; no answer waits for this. */
static void forget_process(struct bftm_journal *j)
{
	struct bftm_saved *s;
	LIST_HEAD(all);

	bftm_transfer_end(&j->transfer);
	spin_lock_bh(&j->lock);
	j->portid = 0;
	WRITE_ONCE(j->hinted, false);
	list_splice_init(&j->waiting, &all);
	list_splice_init(&j->given, &all);
	/* There may be many objects: other code runs between them, and none of them goes away. */
	while (!list_empty(&all)) {
		s = list_first_entry(&all, struct bftm_saved, queue);
		take_back(s);
		bftm_held_drop(j, s);
		list_move_tail(&s->queue, &j->waiting);
		spin_unlock_bh(&j->lock);
		cond_resched();
		spin_lock_bh(&j->lock);
	}
	spin_unlock_bh(&j->lock);
}

void bftm_journal_destroy(struct bftm_server *server)
{
	struct bftm_journal *j = server->objects->journal;

	if (!j)
		return;
	forget_process(j);
	WARN_ON_ONCE(j->held_bytes);
	server->objects->journal = NULL;
	bftm_destroyed("journal", j);
	kfree(j);
}

u64 bftm_journal_note(struct bftm_journal *j, struct bftm_thing *e, u32 changed)
{
	struct bftm_saved *s = &e->saved;

	if (!j)
		return 0;
	if (changed & (BFTM_CHANGED_RANK | BFTM_CHANGED_STATE)) {
		spin_lock(&j->lock);
		s->changes++;
		if (list_empty(&s->queue)) {
			list_add_tail(&s->queue, &j->waiting);
			j->unsaved++;
		}
		spin_unlock(&j->lock);
	}
	/* @done only grows, and hold() checks it again under the lock. */
	return j->sync && READ_ONCE(s->done) < s->changes ? s->changes : 0;
}

void bftm_journal_hint(struct bftm_journal *j)
{
	u32 portid = 0;

	/*
	 * If a cleared @hinted is not seen here, the process that emptied the list is still
	 * pulling.
	 */
	if (!j || READ_ONCE(j->hinted))
		return;
	spin_lock(&j->lock);
	if (!j->hinted && !list_empty(&j->waiting)) {
		portid = j->portid;
		WRITE_ONCE(j->hinted, portid);
	}
	spin_unlock(&j->lock);
	/* If the hint is lost, the next change sends one; and the process pulls once a second. */
	if (portid && bftm_notify.hint(j->server->net, portid, BFTMUTEX_CMD_JOURNAL_READY) < 0)
		WRITE_ONCE(j->hinted, false);
}

int bftm_journal_open(struct bftm_journal *j, u32 portid, u64 id)
{
	int err = 0;

	if (id != j->id)
		return -ESTALE;
	spin_lock_bh(&j->lock);
	if (j->portid)
		err = -EBUSY;
	else
		j->portid = portid;
	spin_unlock_bh(&j->lock);
	return err;
}

void bftm_journal_close(struct bftm_journal *j, u32 portid)
{
	if (j->portid == portid)
		forget_process(j);
}

/* A message of this type makes no object. */
static void name_object(struct bftm_order_msg *who, const u8 *name, u8 name_len)
{
	memset(who, 0, sizeof(*who));
	who->type = BFTM_ORDER_FETCH;
	who->name_len = name_len;
	memcpy(who->name, name, name_len);
}

static void set_id(struct bftm_body_id *id, const struct bftm_body *body)
{
	memset(id, 0, sizeof(*id));
	if (body)
		*id = body->id;
}

/* The shard of the object is locked; bodies that the journal already has are not sent. */
static void take_image(struct bftm_journal *j, struct bftm_thing *e)
{
	struct bftm_journal_transfer *t = &j->transfer;
	struct bftm_object *o = &e->object;
	struct bftm_saved *s = &e->saved;

	t->thing = e;
	t->taken = s->changes;
	t->image.name_len = e->name_len;
	memcpy(t->image.name, e->name, e->name_len);
	t->image.max = o->max;
	t->image.prop = o->prop;
	memcpy(t->image.signature, o->signature, sizeof(t->image.signature));
	set_id(&t->image.sc, o->sc);
	set_id(&t->image.sp, o->sp);
	s->taken = s->changes;
	s->sc = bftm_stored_get(bftm_stored_of(o->sc));
	s->sp = bftm_stored_get(bftm_stored_of(o->sp));
	if (s->sc && !s->sc->kept)
		t->body[BFTM_IMAGE_SC] = bftm_stored_get(s->sc);
	if (s->sp && s->sp != s->sc && !s->sp->kept)
		t->body[BFTM_IMAGE_SP] = bftm_stored_get(s->sp);
}

/* Return: false when nothing waits; then the next change sends a hint. */
static bool journal_begin(struct bftm_journal *j)
{
	struct bftm_thing *e = NULL;
	struct bftm_order_msg who;
	struct bftm_place at;

	spin_lock_bh(&j->lock);
	if (!list_empty(&j->waiting)) {
		e = list_first_entry(&j->waiting, struct bftm_thing, saved.queue);
		list_move_tail(&e->saved.queue, &j->given);
	} else {
		WRITE_ONCE(j->hinted, false);
	}
	spin_unlock_bh(&j->lock);
	if (!e)
		return false;
	name_object(&who, e->name, e->name_len);
	at = bftm_objects_place(j->server->objects, &who);
	spin_lock_bh(&at.shard->lock);
	spin_lock(&j->lock);
	take_image(j, e);
	spin_unlock(&j->lock);
	spin_unlock_bh(&at.shard->lock);
	return true;
}

int bftm_journal_pull(struct bftm_journal *j, u32 portid,
		      int (*give)(struct bftm_journal_transfer *transfer, void *arg), void *arg)
{
	int err;

	if (j->portid != portid)
		return -EPERM;
	if (!j->transfer.thing && !journal_begin(j))
		return -ENODATA;
	err = give(&j->transfer, arg);
	if (!err && bftm_transfer_whole(&j->transfer))
		bftm_transfer_end(&j->transfer);
	return err;
}

/* With both locks held: the file has the pulled change. */
static void journal_keep(struct bftm_journal *j, struct bftm_saved *s, struct list_head *released)
{
	WRITE_ONCE(s->done, s->taken);
	if (s->sc)
		s->sc->kept = true;
	if (s->sp)
		s->sp->kept = true;
	take_back(s);
	bftm_held_release(j, s, released);
	if (s->done < s->changes) {
		list_move_tail(&s->queue, &j->waiting);
	} else {
		list_del_init(&s->queue);
		j->unsaved--;
	}
}

int bftm_journal_done(struct bftm_journal *j, u32 portid, const u8 *name, u8 name_len,
		      u64 taken)
{
	struct bftm_objects *t = j->server->objects;
	struct bftm_order_msg who;
	struct bftm_place at;
	struct bftm_thing *e;
	LIST_HEAD(released);
	int err = -ESTALE;

	if (j->portid != portid)
		return -EPERM;
	name_object(&who, name, name_len);
	at = bftm_objects_place(t, &who);
	spin_lock_bh(&at.shard->lock);
	e = bftm_objects_find(t, &at, &who);
	spin_lock(&j->lock);
	if (e && taken && e->saved.taken == taken && j->transfer.thing != e) {
		journal_keep(j, &e->saved, &released);
		err = 0;
	}
	spin_unlock(&j->lock);
	spin_unlock_bh(&at.shard->lock);
	if (!err)
		bftm_count(j->server, JOURNALLED);
	bftm_held_send(j, &released);
	return err;
}
