/* SPDX-License-Identifier: GPL-2.0 */
/* Clients that asked a liar lately: it can push something to them. */
#ifndef BFTM_LIAR_KNOWN_H
#define BFTM_LIAR_KNOWN_H

#include "strategy.h"

#define KNOWN 8

/** struct known - the last TRY of some clients; type BFTM_MSG_NONE where none is */
struct known {
	struct bftm_msg last[KNOWN];
	u32 next;
};

static inline bool known_same_lock(const struct bftm_msg *a, const struct bftm_msg *b)
{
	return a->name_len == b->name_len && !memcmp(a->name, b->name, a->name_len);
}

/** known_of() - what this client asked last about this lock, NULL for nothing. */
static inline struct bftm_msg *known_of(struct known *k, const struct bftm_msg *msg)
{
	u32 i;

	for (i = 0; i < KNOWN; i++)
		if (k->last[i].type != BFTM_MSG_NONE && k->last[i].client == msg->client &&
		    known_same_lock(&k->last[i], msg))
			return &k->last[i];
	return NULL;
}

/** known_note() - a request; one that gives up is forgotten. */
static inline void known_note(struct known *k, const struct bftm_msg *msg)
{
	struct bftm_msg *old = known_of(k, msg);

	if (msg->type == BFTM_MSG_RELEASE && old && old->attempt == msg->attempt)
		old->type = BFTM_MSG_NONE;
	if (msg->type != BFTM_MSG_TRY)
		return;
	if (!old)
		old = &k->last[k->next++ % KNOWN];
	*old = *msg;
}

/** known_draw() - one that asked for this lock, begun to look for at random; or NULL. */
static inline const struct bftm_msg *known_draw(const struct known *k, const struct bftm_msg *lock,
						u64 draw)
{
	u32 i;

	for (i = 0; i < KNOWN; i++) {
		const struct bftm_msg *m = &k->last[(draw + i) % KNOWN];

		if (m->type != BFTM_MSG_NONE && known_same_lock(m, lock))
			return m;
	}
	return NULL;
}

/** known_push() - a push of this type to one who asked so. */
static inline void known_push(struct liar *l, const struct bftm_msg *asked, u8 type, u64 gno)
{
	struct bftm_msg push = *asked;

	push.type = type;
	push.seq = 0;
	push.gno = gno;
	push.position = 0;
	push.lease_ns = 0;
	push.token = 0;
	liar_push(l, &push, 0);
	liar_lied(l);
}

#endif /* BFTM_LIAR_KNOWN_H */
