// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink, the server's side: start, stop and look. A server lives while its namespace's mutex or
 * @life is held; the socket that the request came on keeps the namespace. A command that only reads
 * takes @life alone: so readers, however many they are and however many processors' counters they
 * sum up, do not delay the journal, which takes the mutex.
 */
#include <net/sock.h>

#include "life.h"
#include "locks/locks.h"
#include "netlink/access.h"
#include "netlink/gen.h"
#include "netlink/journal.h"
#include "netlink/netlink.h"
#include "netlink/object.h"
#include "netns.h"
#include "server/ingress.h"
#include "server/server.h"
#include "time/clock.h"

static int read_param(struct genl_info *info, struct bftm_server_param *p)
{
	struct nlattr **a = info->attrs;

	bftm_server_param_default(p);
	if (!a[BFTMUTEX_A_SERVER_CLUSTER] || !a[BFTMUTEX_A_SERVER_ID] ||
	    !a[BFTMUTEX_A_SERVER_KEY]) {
		GENL_SET_ERR_MSG(info, "cluster, id and key are needed");
		return -EINVAL;
	}
	p->cluster = nla_get_u32(a[BFTMUTEX_A_SERVER_CLUSTER]);
	p->id = nla_get_u16(a[BFTMUTEX_A_SERVER_ID]);
	nla_memcpy(p->key, a[BFTMUTEX_A_SERVER_KEY], sizeof(p->key));
	if (a[BFTMUTEX_A_SERVER_PORT])
		p->port = nla_get_u16(a[BFTMUTEX_A_SERVER_PORT]);
	if (a[BFTMUTEX_A_SERVER_LEASE_MAX_NS])
		p->lease_max_ns = nla_get_u64(a[BFTMUTEX_A_SERVER_LEASE_MAX_NS]);
	if (a[BFTMUTEX_A_SERVER_RHO_PPM])
		p->rho_ppm = nla_get_u32(a[BFTMUTEX_A_SERVER_RHO_PPM]);
	if (a[BFTMUTEX_A_SERVER_MAX_LOCKS])
		p->max_locks = nla_get_u32(a[BFTMUTEX_A_SERVER_MAX_LOCKS]);
	if (a[BFTMUTEX_A_SERVER_MAX_CLIENTS])
		p->max_clients = nla_get_u32(a[BFTMUTEX_A_SERVER_MAX_CLIENTS]);
	if (a[BFTMUTEX_A_SERVER_MAX_WAITERS])
		p->max_waiters = nla_get_u32(a[BFTMUTEX_A_SERVER_MAX_WAITERS]);
	if (a[BFTMUTEX_A_SERVER_MAX_HOLDERS])
		p->max_holders = nla_get_u32(a[BFTMUTEX_A_SERVER_MAX_HOLDERS]);
	if (a[BFTMUTEX_A_SERVER_MAX_OBJECTS])
		p->max_objects = nla_get_u32(a[BFTMUTEX_A_SERVER_MAX_OBJECTS]);
	if (a[BFTMUTEX_A_SERVER_MAX_STATE])
		p->max_state = nla_get_u32(a[BFTMUTEX_A_SERVER_MAX_STATE]);
	if (a[BFTMUTEX_A_SERVER_OBJECT_MEMORY])
		p->object_memory = nla_get_u64(a[BFTMUTEX_A_SERVER_OBJECT_MEMORY]);
	if (a[BFTMUTEX_A_SERVER_NO_QUARANTINE])
		p->no_quarantine = nla_get_u32(a[BFTMUTEX_A_SERVER_NO_QUARANTINE]);
	if (a[BFTMUTEX_A_SERVER_INGRESS])
		nla_strscpy(p->ingress, a[BFTMUTEX_A_SERVER_INGRESS], sizeof(p->ingress));
	p->floor_known = a[BFTMUTEX_A_SERVER_TOKEN_FLOOR];
	if (p->floor_known)
		p->token_floor = nla_get_u64(a[BFTMUTEX_A_SERVER_TOKEN_FLOOR]);
	if (a[BFTMUTEX_A_SERVER_ROLL])
		p->roll = nla_get_u64(a[BFTMUTEX_A_SERVER_ROLL]);
	p->roll_unknown = a[BFTMUTEX_A_SERVER_ROLL_UNKNOWN];
	if (p->roll == BFTM_ROLL_LOST) {
		GENL_SET_ERR_MSG(info, "roll must be 1 to 18446744073709551614");
		return -ERANGE;
	}
	return bftm_netlink_read_journal(info, p) ?:
	       bftm_netlink_read_rules(info, &p->rules);
}

int bftmutex_nl_server_start_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct bftm_net *bn = bftm_net(genl_info_net(info));
	struct bftm_server_param p;
	struct nlattr *a;
	int err, rest;

	err = read_param(info, &p);
	if (!err) {
		err = bftm_netns_start(bn, &p, info->extack);
		if (err)
			bftm_rules_destroy(p.rules);
	}
	memzero_explicit(&p, sizeof(p));
	/*
	 * The kernel frees the message without wiping it, and quotes it when the command fails; a
	 * key may be in it twice.
	 */
	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rest)
		if (nla_type(a) == BFTMUTEX_A_SERVER_KEY)
			memzero_explicit(nla_data(a), nla_len(a));
	return err;
}

int bftmutex_nl_server_stop_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *id = info->attrs[BFTMUTEX_A_SERVER_ID];

	return bftm_netns_stop(bftm_net(genl_info_net(info)),
			       id ? nla_get_u16(id) : 0, info->extack);
}

static int put_stats(struct sk_buff *msg, const struct bftm_server *server)
{
	struct nlattr *nest = nla_nest_start(msg, BFTMUTEX_A_SERVER_STATS);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = BFTMUTEX_A_STATS_RECEIVED; i <= BFTMUTEX_A_STATS_MAX; i++)
		if (i != BFTMUTEX_A_STATS_PAD &&
		    nla_put_u64_64bit(msg, i, bftm_server_stat(server, i),
				      BFTMUTEX_A_STATS_PAD))
			return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static int put_server(struct sk_buff *msg, struct bftm_server *server)
{
	const struct bftm_server_param *p = &server->param;
	u64 now = bftm_clock_ns();
	u64 end = server->cfg.quarantine_until_ns;
	u64 floor = bftm_server_floor(server);
	char ingress[IFNAMSIZ];
	u32 members, awaited;

	bftm_netlink_count_members(server, &members, &awaited);
	bftm_ingress_name(server, ingress);
	if (nla_put_u32(msg, BFTMUTEX_A_SERVER_CLUSTER, p->cluster) ||
	    nla_put_u16(msg, BFTMUTEX_A_SERVER_ID, p->id) ||
	    nla_put_u16(msg, BFTMUTEX_A_SERVER_PORT, p->port) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_SERVER_LEASE_MAX_NS,
			      p->lease_max_ns, BFTMUTEX_A_SERVER_PAD) ||
	    nla_put_u32(msg, BFTMUTEX_A_SERVER_RHO_PPM, p->rho_ppm) ||
	    nla_put_u32(msg, BFTMUTEX_A_SERVER_MAX_LOCKS, p->max_locks) ||
	    nla_put_u32(msg, BFTMUTEX_A_SERVER_MAX_CLIENTS, p->max_clients) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_SERVER_EPOCH, server->cfg.epoch,
			      BFTMUTEX_A_SERVER_PAD) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_SERVER_QUARANTINE_NS,
			      now <= end ? end - now + 1 : 0,
			      BFTMUTEX_A_SERVER_PAD) ||
	    nla_put_u32(msg, BFTMUTEX_A_SERVER_LOCKS,
			bftm_locks_count(server)) ||
	    nla_put_u32(msg, BFTMUTEX_A_SERVER_CLIENTS,
			READ_ONCE(server->clients.count)) ||
	    nla_put_u32(msg, BFTMUTEX_A_SERVER_MAX_WAITERS, p->max_waiters) ||
	    nla_put_u32(msg, BFTMUTEX_A_SERVER_MAX_HOLDERS, p->max_holders) ||
	    nla_put_u32(msg, BFTMUTEX_A_SERVER_RULES, bftm_netlink_count_rules(server)) ||
	    nla_put_u32(msg, BFTMUTEX_A_SERVER_NO_QUARANTINE, p->no_quarantine) ||
	    nla_put_u32(msg, BFTMUTEX_A_SERVER_MEMBERS, members) ||
	    nla_put_u32(msg, BFTMUTEX_A_SERVER_AWAITED, awaited))
		return -EMSGSIZE;
	if (floor != BFTM_TOKEN_UNKNOWN &&
	    nla_put_u64_64bit(msg, BFTMUTEX_A_SERVER_TOKEN_FLOOR, floor,
			      BFTMUTEX_A_SERVER_PAD))
		return -EMSGSIZE;
	if (p->roll && nla_put_u64_64bit(msg, BFTMUTEX_A_SERVER_ROLL, p->roll,
					 BFTMUTEX_A_SERVER_PAD))
		return -EMSGSIZE;
	if (*ingress && nla_put_string(msg, BFTMUTEX_A_SERVER_INGRESS, ingress))
		return -EMSGSIZE;
	return bftm_netlink_put_objects(msg, server) ?:
	       bftm_netlink_put_journal(msg, server) ?: put_stats(msg, server);
}

int bftmutex_nl_server_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct bftm_net *bn = bftm_net(genl_info_net(info));
	struct sk_buff *msg;
	void *hdr;
	int err;

	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &bftm_family, 0, info->genlhdr->cmd);
	err = hdr ? 0 : -EMSGSIZE;
	if (!err) {
		down_read(&bn->life);
		err = bn->server ? put_server(msg, bn->server) : -ENOENT;
		up_read(&bn->life);
	}
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
}

/** struct listed_lock - a lock in a list, and its table */
struct listed_lock {
	const struct bftm_locks *locks;
	struct bftm_entry *entry;
};

static int put_lock(struct sk_buff *msg, const void *object)
{
	const struct listed_lock *l = object;
	const u8 *name = bftm_entry_name(l->locks, l->entry);
	u64 now = bftm_clock_ns();
	struct bftm_lock_view view;

	l->locks->ops->describe(l->entry->state, &view);
	if (nla_put(msg, BFTMUTEX_A_LOCK_NAME, *name, name + 1) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_LOCK_GNO, view.grant, BFTMUTEX_A_LOCK_PAD) ||
	    nla_put_u32(msg, BFTMUTEX_A_LOCK_WAITERS, view.waiters) ||
	    nla_put_u32(msg, BFTMUTEX_A_LOCK_HOLDERS, view.holders))
		return -EMSGSIZE;
	if (view.token_max != BFTM_TOKEN_UNKNOWN &&
	    nla_put_u64_64bit(msg, BFTMUTEX_A_LOCK_TOKEN, view.token_max, BFTMUTEX_A_LOCK_PAD))
		return -EMSGSIZE;
	if (!view.attempt || now > view.until_ns)
		return 0;
	if (nla_put_u32(msg, BFTMUTEX_A_LOCK_CLIENT, view.client) ||
	    nla_put_u32(msg, BFTMUTEX_A_LOCK_MODE, BFTM_MODE_EX - view.mode) ||
	    nla_put_u64_64bit(msg, BFTMUTEX_A_LOCK_ATTEMPT, view.attempt, BFTMUTEX_A_LOCK_PAD))
		return -EMSGSIZE;
	if (view.until_ns == BFTM_LEASE_NONE)
		return 0;
	return nla_put_u64_64bit(msg, BFTMUTEX_A_LOCK_REMAINING_NS, view.until_ns - now + 1,
				 BFTMUTEX_A_LOCK_PAD);
}

/** struct locks_listing - a list, and the table that it has reached */
struct locks_listing {
	struct bftm_dump dump;
	const struct bftm_locks *locks;
};

static int dump_lock(struct bftm_shard *s, struct bftm_entry *e, void *arg)
{
	struct locks_listing *list = arg;
	const struct listed_lock l = { list->locks, e };

	return bftm_dump_step(&list->dump, &l);
}

int bftmutex_nl_lock_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb)
{
	struct bftm_net *bn = bftm_net(sock_net(cb->skb->sk));
	struct locks_listing list = {
		.dump.skb = skb,
		.dump.cb = cb,
		.dump.cmd = BFTMUTEX_CMD_LOCK_GET,
		.dump.put = put_lock,
	};
	long *table = &cb->args[5];

	down_read(&bn->life);
	for (; bn->server && bftm_protocols[*table]; ++*table) {
		list.locks = bn->server->locks[*table];
		list.dump.bucket[0] = -1;
		if (bftm_locks_walk(bn->server->locks[*table], cb->args, dump_lock, &list))
			break;
		memset(cb->args, 0, 3 * sizeof(cb->args[0]));
	}
	up_read(&bn->life);
	return skb->len;
}

static int put_client(struct sk_buff *msg, const void *object)
{
	struct bftm_client *c = (struct bftm_client *)object;
	u64 now = bftm_clock_ns();
	int err;

	spin_lock_bh(&c->lock);
	err = nla_put_u32(msg, BFTMUTEX_A_CLIENT_ID, c->id) ?:
	      nla_put_u64_64bit(msg, BFTMUTEX_A_CLIENT_LAST_SEQ, c->window.top,
				BFTMUTEX_A_CLIENT_PAD) ?:
	      nla_put_u64_64bit(msg, BFTMUTEX_A_CLIENT_IDLE_NS,
				now > c->seen_ns ? now - c->seen_ns : 0,
				BFTMUTEX_A_CLIENT_PAD) ?:
	      nla_put_u64_64bit(msg, BFTMUTEX_A_CLIENT_RECEIVED, c->received,
				BFTMUTEX_A_CLIENT_PAD) ?:
	      nla_put_u64_64bit(msg, BFTMUTEX_A_CLIENT_REPLAYED, c->replayed,
				BFTMUTEX_A_CLIENT_PAD);
	spin_unlock_bh(&c->lock);
	return err;
}

int bftmutex_nl_client_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb)
{
	struct bftm_net *bn = bftm_net(sock_net(cb->skb->sk));
	struct bftm_clients *t;
	struct bftm_client *c;
	long index;

	/* cb->args: [0] bucket, [1] clients of it that were sent. */
	down_read(&bn->life);
	t = bn->server ? &bn->server->clients : NULL;
	for (; t && cb->args[0] < 1L << t->bits; cb->args[0]++, cb->args[1] = 0) {
		index = 0;
		rcu_read_lock();
		hlist_for_each_entry_rcu(c, &t->bucket[cb->args[0]], hash) {
			if (index++ < cb->args[1])
				continue;
			if (bftm_dump_one(skb, cb, BFTMUTEX_CMD_CLIENT_GET,
					  put_client, c)) {
				rcu_read_unlock();
				goto out;
			}
			cb->args[1] = index;
		}
		rcu_read_unlock();
	}
out:
	up_read(&bn->life);
	return skb->len;
}
