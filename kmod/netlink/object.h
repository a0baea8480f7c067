/* SPDX-License-Identifier: GPL-2.0 */
/* The objects of a server in netlink messages. */
#ifndef BFTM_NETLINK_OBJECT_H
#define BFTM_NETLINK_OBJECT_H

struct bftm_server;
struct sk_buff;

/**
 * bftm_netlink_put_objects() - of a server: its limits on objects, and what it has
 * @msg:    gets the attributes
 * @server: that runs
 * Return: 0 or -EMSGSIZE.
 */
int bftm_netlink_put_objects(struct sk_buff *msg, const struct bftm_server *server);

#endif /* BFTM_NETLINK_OBJECT_H */
