// SPDX-License-Identifier: GPL-2.0
/* Answers that wait until the journal has the changes that they reveal. */
#include <linux/bottom_half.h>
#include <linux/sched.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "objects/objects.h"
#include "server/server.h"
#include "server/socket.h"

/**
 * struct held - an answer that must not be sent yet
 * @list:  in its object's list
 * @after: number of the change that must be stored before
 * @to:    address of the client
 * @share: the client's share of memory
 * @skb:   what is sent
 */
struct held {
	struct list_head list;
	u64 after;
	struct bftm_address to;
	struct bftm_share *share;
	struct sk_buff *skb;
};

static bool held_take(struct bftm_journal *j, struct held *h)
{
	size_t bytes = sizeof(*h) + h->skb->truesize;

	if (j->held_bytes + bytes > BFTM_HELD_BYTES_MAX ||
	    h->share->held + bytes > BFTM_HELD_EACH_MAX)
		return false;
	j->held_bytes += bytes;
	h->share->held += bytes;
	return true;
}

static void held_give(struct bftm_journal *j, struct held *h)
{
	size_t bytes = sizeof(*h) + h->skb->truesize;

	j->held_bytes -= bytes;
	h->share->held -= bytes;
}

void bftm_held_drop(struct bftm_journal *j, struct bftm_saved *s)
{
	struct held *h, *next;

	list_for_each_entry_safe(h, next, &s->held, list) {
		bftm_count(j->server, UNJOURNALLED);
		held_give(j, h);
		kfree_skb(h->skb);
		kfree(h);
	}
	INIT_LIST_HEAD(&s->held);
}

void bftm_held_release(struct bftm_journal *j, struct bftm_saved *s, struct list_head *ret)
{
	struct held *h, *next;

	list_for_each_entry_safe(h, next, &s->held, list) {
		if (h->after > s->done)
			continue;
		held_give(j, h);
		list_move_tail(&h->list, ret);
	}
}

void bftm_held_send(struct bftm_journal *j, struct list_head *released)
{
	struct held *h, *next;

	/* There may be thousands of answers: other code runs between them. */
	list_for_each_entry_safe(h, next, released, list) {
		local_bh_disable();
		rcu_read_lock();
		bftm_socket_send_skb(j->server, &h->to, h->skb);
		rcu_read_unlock();
		local_bh_enable();
		kfree(h);
		cond_resched();
	}
}

/* Answers about waiting operations and arriving bodies reveal nothing. */
static bool reveals(u8 type)
{
	return type != BFTM_ORDER_PENDING && type != BFTM_ORDER_NEEDBODY &&
	       type != BFTM_ORDER_STORED;
}

/* Return: true when the datagram was taken, to be sent later or never. */
static bool hold(struct bftm_journal *j, const struct bftm_outcome *outcome, u32 client,
		 const struct bftm_address *to, struct sk_buff *skb)
{
	struct bftm_share *share = bftm_share_get(&j->server->objects->shares, client);
	struct bftm_saved *s = &outcome->thing->saved;
	struct held *h = kmalloc(sizeof(*h), GFP_NOWAIT | __GFP_NOWARN);
	bool unsaved, keeps;

	if (h) {
		h->after = outcome->unsaved;
		h->to = *to;
		h->share = share;
		h->skb = skb;
	}
	spin_lock(&j->lock);
	unsaved = s->done < outcome->unsaved;
	keeps = unsaved && h && share && j->portid && held_take(j, h);
	if (keeps)
		list_add_tail(&h->list, &s->held);
	spin_unlock(&j->lock);
	if (keeps) {
		bftm_count(j->server, HELD);
		return true;
	}
	kfree(h);
	if (unsaved) {
		bftm_count(j->server, UNJOURNALLED);
		kfree_skb(skb);
	}
	return unsaved;
}

void bftm_journal_send(struct bftm_server *server, const struct bftm_outcome *outcome,
		       u32 client, const struct bftm_address *to, u8 type, struct sk_buff *skb)
{
	if (outcome->unsaved && reveals(type) &&
	    hold(server->objects->journal, outcome, client, to, skb))
		return;
	bftm_socket_send_skb(server, to, skb);
}
