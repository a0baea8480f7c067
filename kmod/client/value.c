// SPDX-License-Identifier: GPL-2.0
/*
 * The value of a lock, from the acquire to the release. The helper gets a value that a program has
 * set with the request that gives up the mode in which the program could write, and the servers
 * get it with the messages by which they learn of that.
 *
 * Lifetime: it belongs to its request, and is guarded by the upcall's lock as that is.
 */
#include <linux/slab.h>

#include "client/handle.h"
#include "netns.h"

static bool is_writer(u32 mode)
{
	return bftm_mode_writes(bftm_mode_of(mode));
}

struct bftm_held_value *bftm_held_value_new(u32 flags)
{
	return flags & BFTM_VALUE ? kzalloc(sizeof(struct bftm_held_value), GFP_KERNEL_ACCOUNT) :
				    NULL;
}

void bftm_held_value_told(struct bftm_request *request, const struct bftm_value_report *report)
{
	struct bftm_held_value *v = request->value;

	/* A value that the program has set meanwhile, or before it had more, is the newer one. */
	if (!v || (v->set && is_writer(request->arg.mode)))
		return;
	v->valid = report->valid;
	v->len = report->valid ? report->len : 0;
	if (v->len)
		memcpy(v->bytes, report->bytes, v->len);
	v->set = false;
}

void bftm_held_value_give_up(struct bftm_request *request)
{
	struct bftm_held_value *v = request->value;

	if (!v || !v->set || !is_writer(request->arg.mode))
		return;
	v->set = false;
	v->leaves = true;
	v->left = true;
}

void bftm_held_value_doubt(struct bftm_request *request)
{
	request->doubt = is_writer(request->arg.mode);
}

static int value_do(struct bftm_handle *h, struct bftm_lock_value *arg)
{
	int err = bftm_handle_holding(h);
	struct bftm_held_value *v;

	if (err)
		return err;
	v = h->request->value;
	if (!v)
		return -ENODATA;
	if (arg->op == BFTM_VALUE_GET) {
		arg->valid = v->valid;
		arg->len = v->len;
		memcpy(arg->bytes, v->bytes, v->len);
		return 0;
	}
	if (!is_writer(h->arg.mode))
		return -EPERM;
	v->set = true;
	v->valid = true;
	v->len = arg->len;
	memcpy(v->bytes, arg->bytes, arg->len);
	return 0;
}

int bftm_handle_value(struct bftm_handle *h, struct bftm_lock_value *arg)
{
	int err;

	spin_lock_bh(&h->bn->upcall->lock);
	err = value_do(h, arg);
	spin_unlock_bh(&h->bn->upcall->lock);
	return err;
}
