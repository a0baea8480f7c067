/* SPDX-License-Identifier: GPL-2.0 */
/* Network namespaces begin and end, and so do the servers in them. */
#ifndef BFTM_LIFE_H
#define BFTM_LIFE_H

#include <linux/types.h>

struct bftm_net;
struct bftm_server_param;
struct netlink_ext_ack;

/**
 * bftm_netns_start() - start a server in a namespace
 * @bn:     the namespace
 * @p:      how to start it, checked by the caller
 * @extack: gets the reason of a failure; may be NULL
 * Return: 0, -EEXIST when one runs, or why it cannot start.
 */
int bftm_netns_start(struct bftm_net *bn, const struct bftm_server_param *p,
		     struct netlink_ext_ack *extack);

/** bftm_netns_stop() - @id: 0 for any. Return: 0, -ENOENT for no such server. */
int bftm_netns_stop(struct bftm_net *bn, u16 id,
		    struct netlink_ext_ack *extack);

/**
 * bftm_netns_restart() - start the namespace's server over, if one runs: it has lost its memory
 * @bn: the namespace
 * Context: process.
 */
void bftm_netns_restart(struct bftm_net *bn);

int bftm_netns_init(void);
void bftm_netns_exit(void);

#endif /* BFTM_LIFE_H */
