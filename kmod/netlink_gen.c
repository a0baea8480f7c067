// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/bftmutex.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/bftmutex_netlink.h>

/* Integer value ranges */
static struct netlink_range_validation bftmutex_a_server_lease_max_ns_range = {
	.min	= 1000000ULL,
	.max	= 3600000000000ULL,
};

static struct netlink_range_validation bftmutex_a_server_rho_ppm_range = {
	.min	= 1ULL,
	.max	= 100000ULL,
};

static struct netlink_range_validation bftmutex_a_server_max_locks_range = {
	.min	= 64ULL,
	.max	= 16777216ULL,
};

static struct netlink_range_validation bftmutex_a_server_max_clients_range = {
	.min	= 1ULL,
	.max	= 1048576ULL,
};

/* BFTMUTEX_CMD_SERVER_START - do */
static const struct nla_policy bftmutex_server_start_nl_policy[BFTMUTEX_A_SERVER_MAX_CLIENTS + 1] = {
	[BFTMUTEX_A_SERVER_CLUSTER] = NLA_POLICY_MIN(NLA_U32, 1),
	[BFTMUTEX_A_SERVER_ID] = NLA_POLICY_MIN(NLA_U16, 1),
	[BFTMUTEX_A_SERVER_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[BFTMUTEX_A_SERVER_KEY] = NLA_POLICY_EXACT_LEN(BFTMUTEX_KEY_LEN),
	[BFTMUTEX_A_SERVER_LEASE_MAX_NS] = NLA_POLICY_FULL_RANGE(NLA_U64, &bftmutex_a_server_lease_max_ns_range),
	[BFTMUTEX_A_SERVER_RHO_PPM] = NLA_POLICY_FULL_RANGE(NLA_U32, &bftmutex_a_server_rho_ppm_range),
	[BFTMUTEX_A_SERVER_MAX_LOCKS] = NLA_POLICY_FULL_RANGE(NLA_U32, &bftmutex_a_server_max_locks_range),
	[BFTMUTEX_A_SERVER_MAX_CLIENTS] = NLA_POLICY_FULL_RANGE(NLA_U32, &bftmutex_a_server_max_clients_range),
};

/* BFTMUTEX_CMD_SERVER_STOP - do */
static const struct nla_policy bftmutex_server_stop_nl_policy[BFTMUTEX_A_SERVER_ID + 1] = {
	[BFTMUTEX_A_SERVER_ID] = NLA_POLICY_MIN(NLA_U16, 1),
};

/* BFTMUTEX_CMD_HELPER_DONE - do */
static const struct nla_policy bftmutex_helper_done_nl_policy[BFTMUTEX_A_HANDLE_TOKEN + 1] = {
	[BFTMUTEX_A_HANDLE_ID] = { .type = NLA_U64, },
	[BFTMUTEX_A_HANDLE_ERROR] = { .type = NLA_U32, },
	[BFTMUTEX_A_HANDLE_ATTEMPT] = { .type = NLA_U64, },
	[BFTMUTEX_A_HANDLE_ATTEMPTS] = { .type = NLA_U32, },
	[BFTMUTEX_A_HANDLE_DEADLINE_NS] = { .type = NLA_U64, },
	[BFTMUTEX_A_HANDLE_TOKEN] = { .type = NLA_U64, },
};

/* Ops table for bftmutex */
const struct genl_ops bftmutex_nl_ops[9] = {
	{
		.cmd		= BFTMUTEX_CMD_SERVER_START,
		.doit		= bftmutex_nl_server_start_doit,
		.policy		= bftmutex_server_start_nl_policy,
		.maxattr	= BFTMUTEX_A_SERVER_MAX_CLIENTS,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= BFTMUTEX_CMD_SERVER_STOP,
		.doit		= bftmutex_nl_server_stop_doit,
		.policy		= bftmutex_server_stop_nl_policy,
		.maxattr	= BFTMUTEX_A_SERVER_ID,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd	= BFTMUTEX_CMD_SERVER_GET,
		.doit	= bftmutex_nl_server_get_doit,
	},
	{
		.cmd	= BFTMUTEX_CMD_LOCK_GET,
		.dumpit	= bftmutex_nl_lock_get_dumpit,
		.flags	= GENL_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd	= BFTMUTEX_CMD_CLIENT_GET,
		.dumpit	= bftmutex_nl_client_get_dumpit,
		.flags	= GENL_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd	= BFTMUTEX_CMD_HANDLE_GET,
		.dumpit	= bftmutex_nl_handle_get_dumpit,
		.flags	= GENL_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd	= BFTMUTEX_CMD_HELPER_REGISTER,
		.doit	= bftmutex_nl_helper_register_doit,
		.flags	= GENL_ADMIN_PERM,
	},
	{
		.cmd	= BFTMUTEX_CMD_HELPER_PULL,
		.doit	= bftmutex_nl_helper_pull_doit,
		.flags	= GENL_ADMIN_PERM,
	},
	{
		.cmd		= BFTMUTEX_CMD_HELPER_DONE,
		.doit		= bftmutex_nl_helper_done_doit,
		.policy		= bftmutex_helper_done_nl_policy,
		.maxattr	= BFTMUTEX_A_HANDLE_TOKEN,
		.flags		= GENL_ADMIN_PERM,
	},
};

const struct genl_multicast_group bftmutex_nl_mcgrps[] = {
	[BFTMUTEX_NLGRP_EVENTS] = { "events", .flags = GENL_MCAST_CAP_NET_ADMIN, },
};
