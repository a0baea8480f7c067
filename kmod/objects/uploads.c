// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: an arrival is made, used and freed under its shard's lock; it holds a
 * reference to the body that it fills. Code that digests a body has a reference of
 * its own and finds the arrival again afterwards, if it is still there: nobody
 * writes to a body that is whole.
 */
#include <linux/err.h>
#include <linux/slab.h>

#include "core/ordering/upload.h"
#include "objects/uploads.h"
#include "time/clock.h"

/* An arrival that was used more lately is not given up for another one. */
#define IDLE_NS BFTM_NS_PER_SEC
/* One call gives up so many at most: other packets wait for this processor meanwhile. */
#define RECLAIM_BATCH 32

/**
 * struct arrival - a body that arrives
 * @of_thing: in its object's list
 * @of_shard: in its shard's
 * @thing:    the object
 * @stored:   the body
 * @share:    of the client, which has one upload more
 * @used_ns:  last piece
 * @right:    whole, and with the digest that it must have
 * @upload:   which pieces are here
 */
struct arrival {
	struct list_head of_thing;
	struct list_head of_shard;
	struct bftm_thing *thing;
	struct bftm_stored *stored;
	struct bftm_share *share;
	u64 used_ns;
	bool right;
	struct bftm_upload upload;
};

static struct arrival *upload_find(struct bftm_thing *e, const struct bftm_order_msg *req)
{
	struct arrival *a;

	list_for_each_entry(a, &e->uploads, of_thing)
		if (a->upload.client == req->client &&
		    bftm_body_same(&a->upload.id, &req->id))
			return a;
	return NULL;
}

/* Return: the body, with its reference. */
static struct bftm_stored *remove(struct bftm_objects *t, struct arrival *a)
{
	struct bftm_stored *s = a->stored;

	list_del(&a->of_thing);
	list_del(&a->of_shard);
	a->thing->upload_count--;
	atomic_dec(&t->uploads);
	atomic_dec(&a->share->uploads);
	bftm_budget_give(&t->budget, sizeof(*a));
	kfree(a);
	return s;
}

void bftm_uploads_free(struct bftm_objects *t, struct bftm_thing *e)
{
	struct arrival *a, *next;

	list_for_each_entry_safe(a, next, &e->uploads, of_thing)
		bftm_stored_put(remove(t, a));
}

struct bftm_stored *bftm_uploads_take(struct bftm_objects *t, struct bftm_thing *e,
				      const struct bftm_order_msg *req)
{
	struct arrival *a = upload_find(e, req);

	return a && a->right ? remove(t, a) : NULL;
}

static bool is_idle(const struct arrival *a, u64 now)
{
	return now > a->used_ns + IDLE_NS;
}

/* Looking for a client's own passes those of others, so it is done once in a while. */
static bool may_look(struct bftm_objects *t, u32 client, u64 now)
{
	struct bftm_share *share = bftm_share_get(&t->shares, client);
	s64 last = share ? atomic64_read(&share->looked_ns) : 0;

	return share && now > last + IDLE_NS &&
	       atomic64_cmpxchg(&share->looked_ns, last, now) == last;
}

/* The last look of @client ended at RECLAIM_BATCH: it need not wait for the next one. */
static void look_again(struct bftm_objects *t, u32 client)
{
	struct bftm_share *share = bftm_share_get(&t->shares, client);

	if (share)
		atomic64_set(&share->looked_ns, 0);
}

bool bftm_uploads_reclaim(struct bftm_objects *t, u32 client, long error)
{
	struct arrival *a, *before;
	u64 now = bftm_clock_ns();
	u32 left = RECLAIM_BATCH;
	int i;

	if (error != -EDQUOT && error != -ENOBUFS)
		return false;
	if (error == -ENOBUFS && !may_look(t, client, now))
		return false;
	for (i = 0; i < BFTM_OBJECT_SHARDS && left; i++) {
		struct bftm_object_shard *s = &t->shard[i];

		spin_lock(&s->lock);
		list_for_each_entry_safe_reverse(a, before, &s->uploads, of_shard) {
			struct bftm_thing *e = a->thing;

			if (!left || !is_idle(a, now))
				break;
			if (error == -ENOBUFS && a->upload.client != client)
				continue;
			bftm_stored_put(remove(t, a));
			bftm_objects_forget(t, e);
			left--;
		}
		spin_unlock(&s->lock);
	}
	if (!left && error == -ENOBUFS)
		look_again(t, client);
	return true;
}

static struct arrival *arrival_new(struct bftm_objects *t, const struct bftm_order_msg *req,
				   gfp_t gfp)
{
	struct bftm_share *share = bftm_share_get(&t->shares, req->client);
	long err = -ENOBUFS;
	struct arrival *a;

	if (!share)
		return ERR_PTR(-ENOMEM);
	if (atomic_inc_return(&share->uploads) > BFTM_UPLOADS_EACH_MAX)
		goto err_share;
	err = -EDQUOT;
	if (!bftm_budget_take(&t->budget, sizeof(*a), !req->id.version))
		goto err_share;
	a = kzalloc(sizeof(*a), gfp | __GFP_NOWARN);
	err = -ENOMEM;
	if (!a)
		goto err_budget;
	a->stored = bftm_stored_new(&t->budget, share, &req->id, gfp);
	err = PTR_ERR_OR_ZERO(a->stored);
	if (err)
		goto err_free;
	a->upload.id = req->id;
	a->upload.client = req->client;
	a->upload.data = a->stored->data;
	a->share = share;
	return a;

err_free:
	kfree(a);
err_budget:
	bftm_budget_give(&t->budget, sizeof(*a));
err_share:
	atomic_dec(&share->uploads);
	return ERR_PTR(err);
}

static void arrival_free(struct bftm_objects *t, struct arrival *a)
{
	if (!a)
		return;
	bftm_stored_put(a->stored);
	atomic_dec(&a->share->uploads);
	bftm_budget_give(&t->budget, sizeof(*a));
	kfree(a);
}

/*
 * The arrival that must go for one more of this client: the one used longest ago, or NULL for none.
 * A client with many arrivals pushes out its own, whatever it does to them.
 */
static struct arrival *find_last(struct bftm_thing *e, u32 client)
{
	struct arrival *a, *last = NULL;
	u32 own = 0;

	list_for_each_entry(a, &e->uploads, of_thing) {
		if (a->upload.client != client)
			continue;
		last = a;
		own++;
	}
	if (own >= BFTM_UPLOADS_OWN_MAX)
		return last;
	return e->upload_count < BFTM_UPLOADS_MAX ? NULL :
	       list_last_entry(&e->uploads, struct arrival, of_thing);
}

/* Return: false when no other can be given up for it. */
static bool upload_insert(struct bftm_objects *t, struct bftm_object_shard *s, struct bftm_thing *e,
			  struct arrival *a, u64 now)
{
	struct arrival *last = find_last(e, a->upload.client);

	if (last && last->upload.client != a->upload.client && !is_idle(last, now))
		return false;
	if (last)
		bftm_stored_put(remove(t, last));
	if (atomic_inc_return(&t->uploads) > BFTM_UPLOADS_ALL_MAX) {
		atomic_dec(&t->uploads);
		return false;
	}
	a->thing = e;
	a->used_ns = now;
	list_add(&a->of_thing, &e->uploads);
	list_add(&a->of_shard, &s->uploads);
	e->upload_count++;
	return true;
}

/*
 * Take a piece. Return: the body, with a reference, when it is whole now and its
 * digest is to be looked at; NULL else.
 */
static struct bftm_stored *take_piece(struct bftm_object_shard *s, struct bftm_thing *e,
				      struct arrival *a, const struct bftm_order_msg *req,
				      u64 now, struct bftm_order_msg *reply)
{
	bool was_whole = bftm_upload_complete(&a->upload);

	if (!bftm_upload_take(&a->upload, req))
		return NULL;
	reply->type = BFTM_ORDER_STORED;
	a->used_ns = now;
	list_move(&a->of_thing, &e->uploads);
	list_move(&a->of_shard, &s->uploads);
	if (was_whole || !bftm_upload_complete(&a->upload))
		return NULL;
	return bftm_stored_get(a->stored);
}

/* The body is whole: keep it, or refuse it if its pieces have another digest. */
static void upload_judge(struct bftm_objects *t, const struct bftm_place *at,
			 const struct bftm_order_msg *req, struct bftm_stored *body,
			 struct bftm_order_msg *reply)
{
	bool right = bftm_digest_ok(&body->body.id, body->data);
	struct bftm_stored *wrong = NULL;
	struct bftm_thing *e;
	struct arrival *a;

	spin_lock(&at->shard->lock);
	e = bftm_objects_find(t, at, req);
	a = e ? upload_find(e, req) : NULL;
	if (a && a->stored == body) {
		a->right = right;
		if (!right)
			wrong = remove(t, a);
	}
	bftm_objects_forget(t, e);
	spin_unlock(&at->shard->lock);
	bftm_stored_put(wrong);
	bftm_stored_put(body);
	if (!right)
		bftm_objects_refuse(req, reply, -EBADMSG);
}

/* Ask for room that cannot be had at once; the piece will come again. */
static void upload_ask(struct bftm_objects *t, const struct bftm_order_msg *req)
{
	if (test_and_set_bit_lock(0, &t->asked))
		return;
	t->wanted = *req;
	t->wanted.data = NULL;
	t->wanted.signature = NULL;
	schedule_work(&t->work);
}

void bftm_uploads_work(struct work_struct *work)
{
	struct bftm_objects *t = container_of(work, struct bftm_objects, work);
	struct bftm_place at = bftm_objects_place(t, &t->wanted);
	struct arrival *new = arrival_new(t, &t->wanted, GFP_KERNEL);
	struct bftm_thing *e;

	if (!IS_ERR(new)) {
		spin_lock_bh(&at.shard->lock);
		e = bftm_objects_find(t, &at, &t->wanted);
		if (e && !upload_find(e, &t->wanted) &&
		    upload_insert(t, at.shard, e, new, bftm_clock_ns()))
			new = NULL;
		bftm_objects_forget(t, e);
		spin_unlock_bh(&at.shard->lock);
		arrival_free(t, new);
	}
	clear_bit_unlock(0, &t->asked);
}

/* Memory for an upload, if need be in place of others. */
static struct arrival *make_arrival(struct bftm_objects *t, const struct bftm_order_msg *req)
{
	struct arrival *a;

	if (atomic_read(&t->uploads) >= BFTM_UPLOADS_ALL_MAX)
		bftm_uploads_reclaim(t, req->client, -EDQUOT);
	a = arrival_new(t, req, GFP_NOWAIT);
	if (bftm_uploads_reclaim(t, req->client, PTR_ERR_OR_ZERO(a)))
		a = arrival_new(t, req, GFP_NOWAIT);
	if (PTR_ERR_OR_ZERO(a) == -ENOMEM)
		upload_ask(t, req);
	return a;
}

/* With the shard locked. Return: true when an arrival must be made first. */
static bool upload_put(struct bftm_objects *t, const struct bftm_server_cfg *cfg,
		       struct bftm_object_shard *s, struct bftm_thing *e,
		       const struct bftm_order_msg *req, struct arrival **new,
		       struct bftm_order_msg *reply, struct bftm_stored **whole)
{
	u64 now = bftm_clock_ns();
	struct arrival *a;

	if (!e) {
		bftm_objects_refuse(req, reply, -ENOSPC);
		return false;
	}
	/* As the core: silent until what was forgotten is over. */
	if (e->object.recovering && now <= cfg->quarantine_until_ns)
		return false;
	if (bftm_object_stored(&e->object, req)) {
		reply->type = BFTM_ORDER_STORED;
		return false;
	}
	a = upload_find(e, req);
	if (!a && !*new)
		return true;
	if (!a && upload_insert(t, s, e, *new, now)) {
		a = *new;
		*new = NULL;
	}
	if (a)
		*whole = take_piece(s, e, a, req, now, reply);
	return false;
}

void bftm_uploads_put(struct bftm_objects *t, const struct bftm_server_cfg *cfg,
		      const struct bftm_order_msg *req, struct bftm_order_msg *reply)
{
	struct bftm_place at = bftm_objects_place(t, req);
	struct bftm_stored *whole = NULL;
	struct arrival *new = NULL;
	struct bftm_thing *e;
	bool lacking;

	if (!bftm_piece_ok(req))
		return;
	if (req->id.len > (req->id.version ? t->state_max : BFTM_OP_MAX)) {
		bftm_objects_refuse(req, reply, -EMSGSIZE);
		return;
	}
again:
	spin_lock(&at.shard->lock);
	e = bftm_objects_find(t, &at, req);
	lacking = upload_put(t, cfg, at.shard, e, req, &new, reply, &whole);
	bftm_objects_forget(t, e);
	spin_unlock(&at.shard->lock);
	if (lacking) {
		/* Not under the lock. The object is found, or made, once more. */
		new = make_arrival(t, req);
		if (!IS_ERR(new))
			goto again;
		bftm_objects_refuse(req, reply, PTR_ERR(new));
		return;
	}
	arrival_free(t, new);
	if (whole)
		upload_judge(t, &at, req, whole, reply);
}
