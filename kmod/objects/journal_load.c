// SPDX-License-Identifier: GPL-2.0
/*
 * Objects are loaded from the journal's file into the table before the server answers about them
 * for the first time. Meanwhile only listings read the table. A process that starts over replaces
 * the objects that an earlier one has loaded.
 */
#include <linux/bottom_half.h>
#include <linux/err.h>
#include <linux/netlink.h>

#include "objects/objects.h"
#include "server/server.h"

bool bftm_transfer_whole(const struct bftm_journal_transfer *t)
{
	int i;

	for (i = 0; i < BFTM_IMAGE_BODIES; i++)
		if (t->body[i] && t->at[i] < t->body[i]->body.id.len)
			return false;
	return true;
}

void bftm_transfer_end(struct bftm_journal_transfer *t)
{
	int i;

	for (i = 0; i < BFTM_IMAGE_BODIES; i++)
		bftm_stored_put(t->body[i]);
	memset(t, 0, sizeof(*t));
}

static int allowed(const struct bftm_journal *j, u32 portid)
{
	if (j->portid != portid)
		return -EPERM;
	return j->server->objects->loading ? 0 : -EBUSY;
}

static bool is_initial(const struct bftm_body_id *id)
{
	return !id->version;
}

/* Is this a valid object? The digests of its bodies are checked when the bodies have come. */
static const char *fault(const struct bftm_image *i)
{
	static const struct bftm_body_id none;

	if (!i->name_len)
		return "an object has a name";
	if (!i->max.count || i->max.count > BFTM_RANK_COUNT_MAX)
		return "the count of rank must be 1 to 9223372036854775807";
	if (bftm_rank_cmp(&i->prop, &i->max) > 0)
		return "proposer must be at most rank";
	if ((is_initial(&i->sc) && !bftm_body_same(&i->sc, &none)) ||
	    (is_initial(&i->sp) && !bftm_body_same(&i->sp, &none)))
		return "a state without a version has neither length nor digest";
	if (i->sc.len > BFTM_STATE_MAX || i->sp.len > BFTM_STATE_MAX)
		return "a state has at most 1048576 bytes";
	return NULL;
}

static int make_room(struct bftm_journal *j, const struct bftm_body_id *id,
		     struct bftm_stored **ret)
{
	struct bftm_stored *s;

	if (is_initial(id))
		return 0;
	s = bftm_stored_new(&j->server->objects->budget, NULL, id, GFP_KERNEL);
	if (IS_ERR(s))
		return PTR_ERR(s);
	s->kept = true;
	*ret = s;
	return 0;
}

static void put_states(struct bftm_object *o)
{
	bftm_stored_put(bftm_stored_of(o->sc));
	bftm_stored_put(bftm_stored_of(o->sp));
	o->sc = NULL;
	o->sp = NULL;
}

static struct bftm_body *body_of(struct bftm_stored *s)
{
	return s ? &bftm_stored_get(s)->body : NULL;
}

static int load_insert(struct bftm_journal *j)
{
	struct bftm_journal_transfer *t = &j->transfer;
	/* A message of this type makes the object that it names. */
	struct bftm_order_msg who = {
		.type = BFTM_ORDER_SUBMIT,
		.name_len = t->image.name_len,
	};
	struct bftm_stored *sc = t->body[BFTM_IMAGE_SC], *sp = t->body[BFTM_IMAGE_SP];
	struct bftm_objects *objects = j->server->objects;
	struct bftm_place at;
	struct bftm_object *o;
	struct bftm_thing *e;

	if (bftm_body_same(&t->image.sc, &t->image.sp))
		sp = sc;
	memcpy(who.name, t->image.name, t->image.name_len);
	at = bftm_objects_place(objects, &who);
	spin_lock_bh(&at.shard->lock);
	e = bftm_objects_find(objects, &at, &who);
	if (e) {
		o = &e->object;
		put_states(o);
		bftm_object_init(o, t->recovering);
		o->max = t->image.max;
		o->prop = t->image.prop;
		memcpy(o->signature, t->image.signature, sizeof(o->signature));
		o->sc = body_of(sc);
		o->sp = body_of(sp);
	}
	spin_unlock_bh(&at.shard->lock);
	return e ? 0 : -ENOSPC;
}

/* All bytes of the object have come; check the digests and put it into the table. */
static int load_finish(struct bftm_journal *j, struct netlink_ext_ack *extack)
{
	struct bftm_journal_transfer *t = &j->transfer;
	int i, err = 0;

	for (i = 0; i < BFTM_IMAGE_BODIES && !err; i++) {
		const struct bftm_stored *s = t->body[i];

		if (s && (!bftm_digest_ok(&s->body.id, s->data) ||
			  !bftm_state_ok(s->data, s->body.id.len, s->body.id.version)))
			err = -EBADMSG;
	}
	if (err)
		NL_SET_ERR_MSG(extack, "the bytes are not those of the state that is named");
	else
		err = load_insert(j);
	if (err == -ENOSPC)
		NL_SET_ERR_MSG(extack,
			       "max-objects or object-memory is too small for the journal, or there is no memory");
	bftm_transfer_end(t);
	return err;
}

int bftm_journal_load(struct bftm_journal *j, u32 portid, const struct bftm_image *image,
		      bool recovering, struct netlink_ext_ack *extack)
{
	struct bftm_journal_transfer *t = &j->transfer;
	const char *wrong = fault(image);
	int err = allowed(j, portid);

	if (err)
		return err;
	if (t->busy)
		wrong = "the object before is not complete";
	if (wrong) {
		if (extack)
			extack->_msg = wrong;
		bftm_transfer_end(t);
		return -EINVAL;
	}
	t->busy = true;
	t->recovering = recovering;
	t->image = *image;
	err = make_room(j, &image->sc, &t->body[BFTM_IMAGE_SC]);
	if (!err && !bftm_body_same(&image->sc, &image->sp))
		err = make_room(j, &image->sp, &t->body[BFTM_IMAGE_SP]);
	if (err == -EDQUOT)
		NL_SET_ERR_MSG(extack, "object-memory is too small for what the journal has");
	if (err) {
		bftm_transfer_end(t);
		return err;
	}
	return bftm_transfer_whole(t) ? load_finish(j, extack) : 0;
}

int bftm_journal_load_piece(struct bftm_journal *j, u32 portid, u32 body, u32 offset,
			    const void *data, u32 len, struct netlink_ext_ack *extack)
{
	struct bftm_journal_transfer *t = &j->transfer;
	struct bftm_stored *s;
	int err = allowed(j, portid);

	if (err)
		return err;
	s = t->busy && body < BFTM_IMAGE_BODIES ? t->body[body] : NULL;
	if (!s || offset != t->at[body] || len > s->body.id.len - offset) {
		NL_SET_ERR_MSG(extack, "these are not the next bytes of a state of this object");
		bftm_transfer_end(t);
		return -EINVAL;
	}
	memcpy(s->data + offset, data, len);
	t->at[body] += len;
	return bftm_transfer_whole(t) ? load_finish(j, extack) : 0;
}

int bftm_journal_loaded(struct bftm_journal *j, u32 portid, bool complete,
			struct netlink_ext_ack *extack)
{
	struct bftm_objects *t = j->server->objects;
	int err = allowed(j, portid);

	if (err)
		return err;
	if (j->transfer.busy) {
		NL_SET_ERR_MSG(extack, "an object is not complete");
		return -EINVAL;
	}
	WRITE_ONCE(t->recovering, !complete);
	/* A step that sees this sees all loaded objects. */
	smp_store_release(&t->loading, false);
	return 0;
}
