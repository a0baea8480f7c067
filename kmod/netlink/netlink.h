/* SPDX-License-Identifier: GPL-2.0 */
/* The generic netlink family; Documentation/netlink/specs/bftmutex.yaml. */
#ifndef BFTM_NETLINK_H
#define BFTM_NETLINK_H

#include <net/genetlink.h>

struct bftm_acquire;
struct bftm_handle;

extern struct genl_family bftm_family;

int bftm_netlink_init(void);
void bftm_netlink_exit(void);

/**
 * bftm_dump_one() - add one message to a dump
 * @skb:    of the dump
 * @cb:     likewise
 * @cmd:    command of the message
 * @put:    writes its attributes
 * @object: for @put
 * Return: 0, or -EMSGSIZE when it did not fit and nothing was added.
 */
int bftm_dump_one(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd,
		  int (*put)(struct sk_buff *msg, const void *object),
		  const void *object);

/**
 * struct bftm_dump - a dump of a table in shards
 * @skb:      of the dump
 * @cb:       likewise; @cb->args are [0] shard, [1] bucket, [2] entries of the bucket ([3], [4])
 *            that were sent, [5] the table, if there are several
 * @cmd:      command of its messages
 * @put:      as for bftm_dump_one()
 * @bucket:   of the previous entry; in a new walk [0] is -1
 * @index:    of the next entry in its bucket
 */
struct bftm_dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	u8 cmd;
	int (*put)(struct sk_buff *msg, const void *object);
	long bucket[2];
	long index;
};

/** bftm_dump_step() - for a walk at @cb->args. Return: as bftm_dump_one(). */
int bftm_dump_step(struct bftm_dump *d, const void *object);

/** bftm_netlink_put_arg() - the arguments of an acquire. Return: 0 or -EMSGSIZE. */
int bftm_netlink_put_arg(struct sk_buff *msg, const struct bftm_acquire *arg);

/* The functions of bftm_notify. */
int bftm_netlink_hint(struct net *net, u32 portid, u8 cmd);
void bftm_netlink_event(struct bftm_handle *h);
void bftm_netlink_renew_event(struct bftm_handle *h);

#endif /* BFTM_NETLINK_H */
