// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/members.h"

struct bftm_member *bftm_members_find(const struct bftm_members *m, u32 client)
{
	u32 low = 0, high = m->count, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (m->member[mid].client == client)
			return &m->member[mid];
		if (m->member[mid].client < client)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

void bftm_members_start(struct bftm_members *m)
{
	u32 i;

	for (i = 0; i < m->count; i++)
		m->member[i].awaited = true;
	m->awaited = m->count;
}

/* An evicted incarnation has nothing any more; one that the roll lacks was granted nothing. */
static void start_member(struct bftm_member *member)
{
	member->awaited = member->noted > member->evicted;
	if (member->noted == BFTM_NOTED_UNKNOWN)
		member->noted = 0;
}

void bftm_members_roll(struct bftm_members *m)
{
	u32 i;

	m->awaited = 0;
	for (i = 0; i < m->count; i++) {
		start_member(&m->member[i]);
		m->awaited += m->member[i].awaited;
	}
}

bool bftm_members_note(struct bftm_members *m, u32 client, u32 incarnation)
{
	struct bftm_member *member = bftm_members_find(m, client);

	if (!member)
		return false;
	if (incarnation > member->noted)
		bftm_publish(member->noted, incarnation);
	return true;
}

bool bftm_members_unnoted(const struct bftm_members *m, const struct bftm_msg *req)
{
	const struct bftm_member *member;

	if (!m->roll || req->type != BFTM_MSG_TRY || req->lease_ns != BFTM_LEASE_NONE)
		return false;
	member = bftm_members_find(m, req->client);
	if (!member || req->attempt >> 32 <= bftm_published(member->noted))
		return false;
	/* By the roll such a member may hold anything, until the roll names the incarnation. */
	return !(req->flags & BFTM_FLAG_REASSERT && !bftm_published(member->noted) &&
		 bftm_published(member->awaited) && req->attempt >> 32 <= req->seq >> 32);
}

void bftm_members_heard(struct bftm_members *m, struct bftm_member *member)
{
	if (!member->awaited)
		return;
	bftm_publish(member->awaited, false);
	/* Nobody is let in before all see that REASSERT of this member is an ordinary request. */
	bftm_publish(m->awaited, m->awaited - 1);
}

bool bftm_members_evict(struct bftm_members *m, u32 client, u32 incarnation, bool back)
{
	struct bftm_member *member = bftm_members_find(m, client);

	if (!member)
		return false;
	if (incarnation > member->evicted)
		bftm_publish(member->evicted, incarnation);
	if (!back)
		bftm_members_heard(m, member);
	return true;
}

/*
 * A message about an attempt counts for the attempt's incarnation: a helper goes on with locks that
 * an earlier one has won.
 */
static u64 incarnation_of(const struct bftm_msg *req)
{
	switch (req->type) {
	case BFTM_MSG_TRY:
	case BFTM_MSG_YIELD:
	case BFTM_MSG_STAMP:
		return req->attempt >> 32;
	default:
		return req->seq >> 32;
	}
}

bool bftm_members_refuse(const struct bftm_members *m, const struct bftm_msg *req)
{
	const struct bftm_member *member;
	u32 evicted;

	/* RELEASE only gives back; objects have no leases. */
	if (req->type == BFTM_MSG_RELEASE || req->proto == BFTM_PROTO_ORDER)
		return false;
	member = bftm_members_find(m, req->client);
	evicted = member ? bftm_published(member->evicted) : 0;
	return evicted && incarnation_of(req) <= evicted;
}
