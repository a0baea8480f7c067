/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/bftmutex.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_BFTMUTEX_GEN_H
#define _LINUX_BFTMUTEX_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/bftmutex_netlink.h>

/* Common nested types */
extern const struct nla_policy bftmutex_eviction_nl_policy[BFTMUTEX_A_EVICTION_INCARNATION + 1];
extern const struct nla_policy bftmutex_noted_nl_policy[BFTMUTEX_A_NOTED_INCARNATION + 1];
extern const struct nla_policy bftmutex_peer_nl_policy[BFTMUTEX_A_PEER_PAD + 1];
extern const struct nla_policy bftmutex_rank_nl_policy[BFTMUTEX_A_RANK_PAD + 1];
extern const struct nla_policy bftmutex_rule_nl_policy[BFTMUTEX_A_RULE_LEASELESS + 1];
extern const struct nla_policy bftmutex_state_nl_policy[BFTMUTEX_A_STATE_PAD + 1];

/* Ops table for bftmutex */
extern const struct genl_ops bftmutex_nl_ops[28];

int bftmutex_nl_server_start_doit(struct sk_buff *skb, struct genl_info *info);
int bftmutex_nl_server_stop_doit(struct sk_buff *skb, struct genl_info *info);
int bftmutex_nl_server_get_doit(struct sk_buff *skb, struct genl_info *info);
int bftmutex_nl_access_set_doit(struct sk_buff *skb, struct genl_info *info);
int bftmutex_nl_access_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb);
int bftmutex_nl_lock_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb);
int bftmutex_nl_client_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb);
int bftmutex_nl_handle_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb);
int bftmutex_nl_helper_register_doit(struct sk_buff *skb,
				     struct genl_info *info);
int bftmutex_nl_helper_pull_doit(struct sk_buff *skb, struct genl_info *info);
int bftmutex_nl_helper_done_doit(struct sk_buff *skb, struct genl_info *info);
int bftmutex_nl_helper_renewed_doit(struct sk_buff *skb,
				    struct genl_info *info);
int bftmutex_nl_helper_suspect_doit(struct sk_buff *skb,
				    struct genl_info *info);
int bftmutex_nl_helper_submitted_doit(struct sk_buff *skb,
				      struct genl_info *info);
int bftmutex_nl_object_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb);
int bftmutex_nl_journal_open_doit(struct sk_buff *skb, struct genl_info *info);
int bftmutex_nl_journal_pull_doit(struct sk_buff *skb, struct genl_info *info);
int bftmutex_nl_journal_done_doit(struct sk_buff *skb, struct genl_info *info);
int bftmutex_nl_journal_load_doit(struct sk_buff *skb, struct genl_info *info);
int bftmutex_nl_journal_loaded_doit(struct sk_buff *skb,
				    struct genl_info *info);
int bftmutex_nl_helper_lend_doit(struct sk_buff *skb, struct genl_info *info);
int bftmutex_nl_local_get_doit(struct sk_buff *skb, struct genl_info *info);
int bftmutex_nl_helper_converted_doit(struct sk_buff *skb,
				      struct genl_info *info);
int bftmutex_nl_helper_wanted_doit(struct sk_buff *skb, struct genl_info *info);
int bftmutex_nl_member_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb);
int bftmutex_nl_member_evict_doit(struct sk_buff *skb, struct genl_info *info);
int bftmutex_nl_helper_evicted_doit(struct sk_buff *skb,
				    struct genl_info *info);
int bftmutex_nl_member_note_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	BFTMUTEX_NLGRP_EVENTS,
	BFTMUTEX_NLGRP_RENEWALS,
};

extern const struct genl_multicast_group bftmutex_nl_mcgrps[2];

#endif /* _LINUX_BFTMUTEX_GEN_H */
