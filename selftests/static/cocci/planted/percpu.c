// SPDX-License-Identifier: GPL-2.0
static struct bftm_route *slot_of(struct bftm_server *server, u32 place)
{
	struct bftm_route *r = this_cpu_ptr(server->routes.slot);	/* found */

	__this_cpu_inc(server->stats->count);	/* found */
	this_cpu_inc(server->stats->count);
	return r + place;
}

static struct dst_entry *find(struct bftm_server *server, u32 place)
{
	struct bftm_route_slots *s = raw_cpu_ptr(server->routes.slots);
	struct dst_entry *dst;

	spin_lock(&s->lock);
	dst = s->slot[place].dst;
	spin_unlock(&s->lock);
	return dst;
}
