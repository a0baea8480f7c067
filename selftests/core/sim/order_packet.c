// SPDX-License-Identifier: GPL-2.0
/* Datagrams of the ordering protocol, in three sizes that are used again. */
#include <stdlib.h>

#include "order.h"

static const u32 size[PACKET_CLASSES] = { 64, 256, BFTM_DATAGRAM_MAX };

struct packet *packet_new(struct world *w, u32 room)
{
	struct packet *p;
	u32 class = 0;

	while (size[class] < room)
		class++;
	p = w->order->spare[class];
	if (p)
		w->order->spare[class] = p->next;
	else
		p = arena_take(&w->arena, sizeof(*p) + size[class]);
	p->refs = 1;
	p->class = class;
	return p;
}

void packet_drop(struct world *w, struct packet *p)
{
	if (--p->refs)
		return;
	p->next = w->order->spare[p->class];
	w->order->spare[p->class] = p;
}

bool packet_read(struct packet *p, const struct bftm_order_msg *msg)
{
	struct bftm_order_msg named = *msg;

	named.name_len = 1;
	named.name[0] = 'x';
	return bftm_order_len(&named) <= BFTM_DATAGRAM_MAX &&
	       !bftm_order_wire_get(p->data, bftm_order_wire_put(&named, p->data), &p->msg);
}

struct packet *packet_carried(struct world *w, struct packet *p)
{
	struct packet *carried;

	if (!w->plan->order.carried || !bftm_order_form(p->msg.type)) {
		p->refs++;
		return p;
	}
	carried = packet_new(w, BFTM_DATAGRAM_MAX);
	if (!packet_read(carried, &p->msg))
		abort();
	return carried;
}

void packet_send(struct world *w, int to, u32 server, struct packet *p, u64 at)
{
	network_order(w, to, server, p, at);
	packet_drop(w, p);
}
