// SPDX-License-Identifier: GPL-2.0
/* Datagrams of the ordering protocol, in three sizes that are used again. */
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

void packet_send(struct world *w, int to, u32 server, struct packet *p, u64 at)
{
	network_order(w, to, server, p, at);
	packet_drop(w, p);
}
