/* SPDX-License-Identifier: GPL-2.0 */
/* The journal of a server in netlink messages. */
#ifndef BFTM_NETLINK_JOURNAL_H
#define BFTM_NETLINK_JOURNAL_H

#include <net/genetlink.h>

struct bftm_net;
struct bftm_server;
struct bftm_server_param;

/**
 * bftm_netlink_read_journal() - the journal's attributes of a server to be started
 * @info: the request; gets the reason of a failure
 * @p:    gets durability and number of the file
 * Return: 0; -EINVAL: durability and journal do not fit together.
 */
int bftm_netlink_read_journal(struct genl_info *info, struct bftm_server_param *p);

/**
 * bftm_netlink_put_journal() - the state of the journal of a server that runs. Return: 0 or
 * -EMSGSIZE.
 * @msg:    gets the attributes
 * @server: that runs
 */
int bftm_netlink_put_journal(struct sk_buff *msg, const struct bftm_server *server);

/** bftm_netlink_journal_closed() - a socket was closed, of the journal or of another process. */
void bftm_netlink_journal_closed(struct bftm_net *bn, u32 portid);

#endif /* BFTM_NETLINK_JOURNAL_H */
