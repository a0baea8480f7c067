// SPDX-License-Identifier: GPL-2.0
/* Messages of a server to its journal about an object. */
#include <errno.h>
#include <string.h>

#include "ctl/journal.h"

static bool read_rank(struct nlattr *nest, struct bftm_rank *ret)
{
	struct nlattr *a[BFTMUTEX_A_RANK_MAX + 1];

	if (!nest || nla_parse_nested(a, BFTMUTEX_A_RANK_MAX, nest, NULL) < 0 ||
	    !a[BFTMUTEX_A_RANK_COUNT] || !a[BFTMUTEX_A_RANK_CLIENT] ||
	    !a[BFTMUTEX_A_RANK_INCARNATION])
		return false;
	ret->count = nla_get_u64(a[BFTMUTEX_A_RANK_COUNT]);
	ret->client = nla_get_u32(a[BFTMUTEX_A_RANK_CLIENT]);
	ret->incarnation = nla_get_u32(a[BFTMUTEX_A_RANK_INCARNATION]);
	return true;
}

static bool read_state(struct nlattr *nest, struct bftm_body_id *ret)
{
	struct nlattr *a[BFTMUTEX_A_STATE_MAX + 1];

	if (!nest || nla_parse_nested(a, BFTMUTEX_A_STATE_MAX, nest, NULL) < 0 ||
	    !a[BFTMUTEX_A_STATE_VERSION] || !a[BFTMUTEX_A_STATE_LENGTH] ||
	    !a[BFTMUTEX_A_STATE_DIGEST] ||
	    nla_len(a[BFTMUTEX_A_STATE_DIGEST]) != sizeof(ret->digest))
		return false;
	ret->version = nla_get_u64(a[BFTMUTEX_A_STATE_VERSION]);
	ret->len = nla_get_u32(a[BFTMUTEX_A_STATE_LENGTH]);
	memcpy(ret->digest, nla_data(a[BFTMUTEX_A_STATE_DIGEST]), sizeof(ret->digest));
	return ret->len <= BFTM_STATE_MAX;
}

/* The first message about an object. */
static bool read_head(struct nlattr **attr, struct bftm_journal_object *o)
{
	struct nlattr *name = attr[BFTMUTEX_A_JOURNAL_NAME];
	struct nlattr *signature = attr[BFTMUTEX_A_JOURNAL_SIGNATURE];

	if (!name || !nla_len(name) || nla_len(name) > BFTM_OBJECT_NAME_MAX || !signature ||
	    nla_len(signature) != sizeof(o->signature))
		return false;
	o->name_len = (u8)nla_len(name);
	memcpy(o->name, nla_data(name), o->name_len);
	memcpy(o->signature, nla_data(signature), sizeof(o->signature));
	return read_rank(attr[BFTMUTEX_A_JOURNAL_RANK], &o->rank) &&
	       read_rank(attr[BFTMUTEX_A_JOURNAL_PROPOSER], &o->proposer) &&
	       read_state(attr[BFTMUTEX_A_JOURNAL_COMMITTED], &o->committed) &&
	       read_state(attr[BFTMUTEX_A_JOURNAL_PROPOSED], &o->proposed);
}

static bool read_piece(struct nlattr **attr, struct ctl_arriving *in)
{
	struct nlattr *piece = attr[BFTMUTEX_A_JOURNAL_PIECE];
	u32 len = (u32)nla_len(piece);

	if (!attr[BFTMUTEX_A_JOURNAL_BODY] || !attr[BFTMUTEX_A_JOURNAL_OFFSET])
		return false;
	in->id = nla_get_u32(attr[BFTMUTEX_A_JOURNAL_BODY]) ? &in->object.proposed :
							     &in->object.committed;
	if (!nla_get_u32(attr[BFTMUTEX_A_JOURNAL_OFFSET]))
		in->len = 0;
	/*
	 * The piece may belong to the other body, which may be shorter than the bytes that came of
	 * the first.
	 */
	if (nla_get_u32(attr[BFTMUTEX_A_JOURNAL_OFFSET]) != in->len ||
	    in->len > in->id->len || len > in->id->len - in->len)
		return false;
	memcpy(in->data + in->len, nla_data(piece), len);
	in->len += len;
	return true;
}

int ctl_journal_pulled(struct nlattr **attr, void *arg)
{
	struct ctl_arriving *in = arg;

	in->any = true;
	in->more = attr[BFTMUTEX_A_JOURNAL_MORE];
	in->id = NULL;
	if (attr[BFTMUTEX_A_JOURNAL_CHANGE])
		in->change = nla_get_u64(attr[BFTMUTEX_A_JOURNAL_CHANGE]);
	if (attr[BFTMUTEX_A_JOURNAL_RANK])
		in->head = read_head(attr, &in->object) && attr[BFTMUTEX_A_JOURNAL_CHANGE];
	if (!in->head)
		return -EPROTO;
	if (attr[BFTMUTEX_A_JOURNAL_PIECE] && !read_piece(attr, in))
		return -EPROTO;
	return 0;
}
