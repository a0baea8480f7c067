/* SPDX-License-Identifier: GPL-2.0 */
/* Access rules in netlink messages. */
#ifndef BFTM_NETLINK_ACCESS_H
#define BFTM_NETLINK_ACCESS_H

#include <net/genetlink.h>

struct bftm_rules;
struct bftm_server;

/**
 * bftm_netlink_read_rules() - the access rules of a request
 * @info: the request; gets the reason of a failure
 * @ret:  the list, the caller's; NULL when the request has none
 * Return: 0; -E2BIG for too many, -EINVAL or -ERANGE for a wrong one, -ENOMEM.
 */
int bftm_netlink_read_rules(struct genl_info *info, struct bftm_rules **ret);

/** bftm_netlink_count_members() - clients that need no lease, and of these the awaited ones */
void bftm_netlink_count_members(const struct bftm_server *server, u32 *ret_members,
				u32 *ret_awaited);

/** bftm_netlink_count_rules() - number of the rules in force */
u32 bftm_netlink_count_rules(const struct bftm_server *server);

#endif /* BFTM_NETLINK_ACCESS_H */
