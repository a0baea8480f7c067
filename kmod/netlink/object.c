// SPDX-License-Identifier: GPL-2.0
/* Netlink, the objects of the server: their limits and memory, and a list of them. */
#include <net/sock.h>

#include "netlink/gen.h"
#include "netlink/netlink.h"
#include "netlink/object.h"
#include "netns.h"
#include "objects/objects.h"
#include "server/server.h"

int bftm_netlink_put_objects(struct sk_buff *msg, const struct bftm_server *server)
{
	const struct bftm_server_param *p = &server->param;
	const struct bftm_objects *t = server->objects;

	if (nla_put_u32(msg, BFTMUTEX_A_SERVER_MAX_OBJECTS, p->max_objects) ||
	    nla_put_u32(msg, BFTMUTEX_A_SERVER_MAX_STATE, p->max_state) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_SERVER_OBJECT_MEMORY, p->object_memory,
			      BFTMUTEX_A_SERVER_PAD) ||
	    nla_put_u32(msg, BFTMUTEX_A_SERVER_OBJECTS, atomic_read(&t->count)) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_SERVER_OBJECT_MEMORY_USED,
			      atomic64_read(&t->budget.used), BFTMUTEX_A_SERVER_PAD) ||
	    (READ_ONCE(t->recovering) && nla_put_flag(msg, BFTMUTEX_A_SERVER_RECOVERING)))
		return -EMSGSIZE;
	return 0;
}

static int put_object(struct sk_buff *msg, const void *object)
{
	const struct bftm_thing *e = object;
	const struct bftm_object *o = &e->object;

	if (nla_put(msg, BFTMUTEX_A_OBJECT_NAME, e->name_len, e->name) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_OBJECT_VERSION, o->sc ? o->sc->id.version : 0,
			      BFTMUTEX_A_OBJECT_PAD) ||
	    nla_put_u32(msg, BFTMUTEX_A_OBJECT_LENGTH, o->sc ? o->sc->id.len : 0) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_OBJECT_PROPOSED_VERSION,
			      o->sp ? o->sp->id.version : 0, BFTMUTEX_A_OBJECT_PAD) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_OBJECT_RANK_COUNT, o->max.count,
			      BFTMUTEX_A_OBJECT_PAD) ||
	    nla_put_u32(msg, BFTMUTEX_A_OBJECT_RANK_CLIENT, o->max.client) ||
	    nla_put_u32(msg, BFTMUTEX_A_OBJECT_PENDING, o->pend ? o->pend->count : 0) ||
	    nla_put_u32(msg, BFTMUTEX_A_OBJECT_UPLOADS, e->upload_count))
		return -EMSGSIZE;
	if (o->sc && nla_put(msg, BFTMUTEX_A_OBJECT_DIGEST, sizeof(o->sc->id.digest),
			     o->sc->id.digest))
		return -EMSGSIZE;
	if (o->recovering && nla_put_flag(msg, BFTMUTEX_A_OBJECT_RECOVERING))
		return -EMSGSIZE;
	return 0;
}

static int dump_object(const struct bftm_thing *e, void *arg)
{
	return bftm_dump_step(arg, e);
}

int bftmutex_nl_object_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct bftm_net *bn = bftm_net(sock_net(cb->skb->sk));
	struct bftm_dump d = {
		.skb = skb,
		.cb = cb,
		.cmd = BFTMUTEX_CMD_OBJECT_GET,
		.put = put_object,
		.bucket = { -1, -1 },
	};

	down_read(&bn->life);
	if (bn->server)
		bftm_objects_walk(bn->server->objects, cb->args, dump_object, &d);
	up_read(&bn->life);
	return skb->len;
}
