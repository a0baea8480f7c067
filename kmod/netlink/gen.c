// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/bftmutex.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink/gen.h"

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

static struct netlink_range_validation bftmutex_a_server_max_waiters_range = {
	.min	= 1ULL,
	.max	= 65536ULL,
};

static struct netlink_range_validation bftmutex_a_server_token_floor_range = {
	.max	= 9223372036854775807ULL,
};

static struct netlink_range_validation bftmutex_a_server_max_objects_range = {
	.min	= 1ULL,
	.max	= 65536ULL,
};

static struct netlink_range_validation bftmutex_a_server_max_state_range = {
	.min	= 1024ULL,
	.max	= 1048576ULL,
};

static struct netlink_range_validation bftmutex_a_server_object_memory_range = {
	.min	= 16777216ULL,
	.max	= 1099511627776ULL,
};

static struct netlink_range_validation bftmutex_a_rule_client_first_range = {
	.min	= 1ULL,
	.max	= 4294967294ULL,
};

static struct netlink_range_validation bftmutex_a_rule_client_last_range = {
	.min	= 1ULL,
	.max	= 4294967294ULL,
};

static struct netlink_range_validation bftmutex_a_rule_lease_max_ns_range = {
	.min	= 1000000ULL,
	.max	= 3600000000000ULL,
};

static struct netlink_range_validation bftmutex_a_rule_max_waiters_range = {
	.min	= 1ULL,
	.max	= 65536ULL,
};

static struct netlink_range_validation bftmutex_a_eviction_client_range = {
	.min	= 1ULL,
	.max	= 4294967294ULL,
};

static struct netlink_range_validation bftmutex_a_noted_client_range = {
	.min	= 1ULL,
	.max	= 4294967294ULL,
};

static struct netlink_range_validation bftmutex_a_noted_incarnation_range = {
	.min	= 1ULL,
	.max	= 4294967294ULL,
};

static struct netlink_range_validation bftmutex_a_member_id_range = {
	.min	= 1ULL,
	.max	= 4294967294ULL,
};

static struct netlink_range_validation bftmutex_a_member_noted_range = {
	.min	= 1ULL,
	.max	= 4294967294ULL,
};

static struct netlink_range_validation bftmutex_a_session_client_id_range = {
	.min	= 1ULL,
	.max	= 4294967294ULL,
};

static struct netlink_range_validation bftmutex_a_session_rho_ppm_range = {
	.min	= 1ULL,
	.max	= 100000ULL,
};

static struct netlink_range_validation bftmutex_a_session_delta_ns_range = {
	.min	= 1000ULL,
	.max	= 60000000000ULL,
};

static struct netlink_range_validation bftmutex_a_session_lease_ns_range = {
	.min	= 1000000ULL,
	.max	= 3600000000000ULL,
};

static struct netlink_range_validation bftmutex_a_session_lease_max_ns_range = {
	.min	= 1000000ULL,
	.max	= 3600000000000ULL,
};

/* Common nested types */
const struct nla_policy bftmutex_eviction_nl_policy[BFTMUTEX_A_EVICTION_INCARNATION + 1] = {
	[BFTMUTEX_A_EVICTION_CLIENT] = NLA_POLICY_FULL_RANGE(NLA_U32, &bftmutex_a_eviction_client_range),
	[BFTMUTEX_A_EVICTION_INCARNATION] = NLA_POLICY_MIN(NLA_U32, 1),
};

const struct nla_policy bftmutex_noted_nl_policy[BFTMUTEX_A_NOTED_INCARNATION + 1] = {
	[BFTMUTEX_A_NOTED_CLIENT] = NLA_POLICY_FULL_RANGE(NLA_U32, &bftmutex_a_noted_client_range),
	[BFTMUTEX_A_NOTED_INCARNATION] = NLA_POLICY_FULL_RANGE(NLA_U32, &bftmutex_a_noted_incarnation_range),
};

const struct nla_policy bftmutex_peer_nl_policy[BFTMUTEX_A_PEER_PAD + 1] = {
	[BFTMUTEX_A_PEER_SERVER_ID] = NLA_POLICY_MIN(NLA_U16, 1),
	[BFTMUTEX_A_PEER_EPOCH] = { .type = NLA_U64, },
	[BFTMUTEX_A_PEER_ADDRESS] = NLA_POLICY_EXACT_LEN(16),
	[BFTMUTEX_A_PEER_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[BFTMUTEX_A_PEER_IFINDEX] = { .type = NLA_U32, },
	[BFTMUTEX_A_PEER_REQUEST_KEY] = NLA_POLICY_EXACT_LEN(BFTMUTEX_PAIR_KEY_LEN),
	[BFTMUTEX_A_PEER_REPLY_KEY] = NLA_POLICY_EXACT_LEN(BFTMUTEX_PAIR_KEY_LEN),
};

const struct nla_policy bftmutex_rank_nl_policy[BFTMUTEX_A_RANK_PAD + 1] = {
	[BFTMUTEX_A_RANK_COUNT] = { .type = NLA_U64, },
	[BFTMUTEX_A_RANK_CLIENT] = { .type = NLA_U32, },
	[BFTMUTEX_A_RANK_INCARNATION] = { .type = NLA_U32, },
};

const struct nla_policy bftmutex_rule_nl_policy[BFTMUTEX_A_RULE_LEASELESS + 1] = {
	[BFTMUTEX_A_RULE_CLIENT_FIRST] = NLA_POLICY_FULL_RANGE(NLA_U32, &bftmutex_a_rule_client_first_range),
	[BFTMUTEX_A_RULE_CLIENT_LAST] = NLA_POLICY_FULL_RANGE(NLA_U32, &bftmutex_a_rule_client_last_range),
	[BFTMUTEX_A_RULE_PREFIX] = { .type = NLA_BINARY, },
	[BFTMUTEX_A_RULE_DENY] = { .type = NLA_FLAG, },
	[BFTMUTEX_A_RULE_LEASE_MAX_NS] = NLA_POLICY_FULL_RANGE(NLA_U64, &bftmutex_a_rule_lease_max_ns_range),
	[BFTMUTEX_A_RULE_MAX_WAITERS] = NLA_POLICY_FULL_RANGE(NLA_U32, &bftmutex_a_rule_max_waiters_range),
	[BFTMUTEX_A_RULE_LEASELESS] = { .type = NLA_FLAG, },
};

const struct nla_policy bftmutex_state_nl_policy[BFTMUTEX_A_STATE_PAD + 1] = {
	[BFTMUTEX_A_STATE_VERSION] = { .type = NLA_U64, },
	[BFTMUTEX_A_STATE_LENGTH] = { .type = NLA_U32, },
	[BFTMUTEX_A_STATE_DIGEST] = NLA_POLICY_EXACT_LEN(BFTMUTEX_DIGEST_LEN),
};

/* BFTMUTEX_CMD_SERVER_START - do */
static const struct nla_policy bftmutex_server_start_nl_policy[BFTMUTEX_A_SERVER_MAX_HOLDERS + 1] = {
	[BFTMUTEX_A_SERVER_CLUSTER] = NLA_POLICY_MIN(NLA_U32, 1),
	[BFTMUTEX_A_SERVER_ID] = NLA_POLICY_MIN(NLA_U16, 1),
	[BFTMUTEX_A_SERVER_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[BFTMUTEX_A_SERVER_KEY] = NLA_POLICY_EXACT_LEN(BFTMUTEX_KEY_LEN),
	[BFTMUTEX_A_SERVER_LEASE_MAX_NS] = NLA_POLICY_FULL_RANGE(NLA_U64, &bftmutex_a_server_lease_max_ns_range),
	[BFTMUTEX_A_SERVER_RHO_PPM] = NLA_POLICY_FULL_RANGE(NLA_U32, &bftmutex_a_server_rho_ppm_range),
	[BFTMUTEX_A_SERVER_MAX_LOCKS] = NLA_POLICY_FULL_RANGE(NLA_U32, &bftmutex_a_server_max_locks_range),
	[BFTMUTEX_A_SERVER_MAX_CLIENTS] = NLA_POLICY_FULL_RANGE(NLA_U32, &bftmutex_a_server_max_clients_range),
	[BFTMUTEX_A_SERVER_MAX_WAITERS] = NLA_POLICY_FULL_RANGE(NLA_U32, &bftmutex_a_server_max_waiters_range),
	[BFTMUTEX_A_SERVER_TOKEN_FLOOR] = NLA_POLICY_FULL_RANGE(NLA_U64, &bftmutex_a_server_token_floor_range),
	[BFTMUTEX_A_SERVER_RULE] = NLA_POLICY_NESTED(bftmutex_rule_nl_policy),
	[BFTMUTEX_A_SERVER_MAX_OBJECTS] = NLA_POLICY_FULL_RANGE(NLA_U32, &bftmutex_a_server_max_objects_range),
	[BFTMUTEX_A_SERVER_MAX_STATE] = NLA_POLICY_FULL_RANGE(NLA_U32, &bftmutex_a_server_max_state_range),
	[BFTMUTEX_A_SERVER_OBJECT_MEMORY] = NLA_POLICY_FULL_RANGE(NLA_U64, &bftmutex_a_server_object_memory_range),
	[BFTMUTEX_A_SERVER_DURABILITY] = NLA_POLICY_MAX(NLA_U32, 2),
	[BFTMUTEX_A_SERVER_JOURNAL_ID] = NLA_POLICY_MIN(NLA_U64, 1),
	[BFTMUTEX_A_SERVER_EVICTION] = NLA_POLICY_NESTED(bftmutex_eviction_nl_policy),
	[BFTMUTEX_A_SERVER_ROLL] = NLA_POLICY_MIN(NLA_U64, 1),
	[BFTMUTEX_A_SERVER_NOTED] = NLA_POLICY_NESTED(bftmutex_noted_nl_policy),
	[BFTMUTEX_A_SERVER_ROLL_UNKNOWN] = { .type = NLA_FLAG, },
	[BFTMUTEX_A_SERVER_NO_QUARANTINE] = NLA_POLICY_MAX(NLA_U32, 30),
	[BFTMUTEX_A_SERVER_INGRESS] = { .type = NLA_NUL_STRING, .len = BFTMUTEX_DEVICE_NAME_MAX, },
	[BFTMUTEX_A_SERVER_MAX_HOLDERS] = NLA_POLICY_RANGE(NLA_U32, 1, 4096),
};

/* BFTMUTEX_CMD_SERVER_STOP - do */
static const struct nla_policy bftmutex_server_stop_nl_policy[BFTMUTEX_A_SERVER_ID + 1] = {
	[BFTMUTEX_A_SERVER_ID] = NLA_POLICY_MIN(NLA_U16, 1),
};

/* BFTMUTEX_CMD_ACCESS_SET - do */
static const struct nla_policy bftmutex_access_set_nl_policy[BFTMUTEX_A_SERVER_EVICTION + 1] = {
	[BFTMUTEX_A_SERVER_RULE] = NLA_POLICY_NESTED(bftmutex_rule_nl_policy),
	[BFTMUTEX_A_SERVER_EVICTION] = NLA_POLICY_NESTED(bftmutex_eviction_nl_policy),
};

/* BFTMUTEX_CMD_HELPER_DONE - do */
static const struct nla_policy bftmutex_helper_done_nl_policy[BFTMUTEX_A_HANDLE_VALUE + 1] = {
	[BFTMUTEX_A_HANDLE_ID] = { .type = NLA_U64, },
	[BFTMUTEX_A_HANDLE_ERROR] = { .type = NLA_U32, },
	[BFTMUTEX_A_HANDLE_CLUSTER] = { .type = NLA_NUL_STRING, .len = BFTMUTEX_CLUSTER_NAME_MAX, },
	[BFTMUTEX_A_HANDLE_LEASE_NS] = { .type = NLA_U64, },
	[BFTMUTEX_A_HANDLE_ATTEMPT] = { .type = NLA_U64, },
	[BFTMUTEX_A_HANDLE_ATTEMPTS] = { .type = NLA_U32, },
	[BFTMUTEX_A_HANDLE_DEADLINE_NS] = { .type = NLA_U64, },
	[BFTMUTEX_A_HANDLE_TOKEN] = { .type = NLA_U64, },
	[BFTMUTEX_A_HANDLE_SENDS] = { .type = NLA_U32, },
	[BFTMUTEX_A_HANDLE_CONFIGURATION] = { .type = NLA_U64, },
	[BFTMUTEX_A_HANDLE_END_NS] = { .type = NLA_U64, },
	[BFTMUTEX_A_HANDLE_WHY] = { .type = NLA_NUL_STRING, .len = BFTMUTEX_WHY_MAX, },
	[BFTMUTEX_A_HANDLE_VALUE_FLAGS] = NLA_POLICY_MASK(NLA_U32, 0xf),
	[BFTMUTEX_A_HANDLE_VALUE] = { .type = NLA_BINARY, },
};

/* BFTMUTEX_CMD_HELPER_RENEWED - do */
static const struct nla_policy bftmutex_helper_renewed_nl_policy[BFTMUTEX_A_HANDLE_END_NS + 1] = {
	[BFTMUTEX_A_HANDLE_ID] = { .type = NLA_U64, },
	[BFTMUTEX_A_HANDLE_DEADLINE_NS] = { .type = NLA_U64, },
	[BFTMUTEX_A_HANDLE_SENDS] = { .type = NLA_U32, },
	[BFTMUTEX_A_HANDLE_END_NS] = { .type = NLA_U64, },
};

/* BFTMUTEX_CMD_HELPER_SUSPECT - do */
static const struct nla_policy bftmutex_helper_suspect_nl_policy[BFTMUTEX_A_SUSPECT_COUNT + 1] = {
	[BFTMUTEX_A_SUSPECT_CLUSTER] = { .type = NLA_NUL_STRING, .len = BFTMUTEX_CLUSTER_NAME_MAX, },
	[BFTMUTEX_A_SUSPECT_SERVER_ID] = NLA_POLICY_MIN(NLA_U16, 1),
	[BFTMUTEX_A_SUSPECT_EVIDENCE] = { .type = NLA_NUL_STRING, .len = BFTMUTEX_EVIDENCE_MAX, },
	[BFTMUTEX_A_SUSPECT_COUNT] = { .type = NLA_U64, },
};

/* BFTMUTEX_CMD_HELPER_SUBMITTED - do */
static const struct nla_policy bftmutex_helper_submitted_nl_policy[BFTMUTEX_A_HANDLE_NUMBER + 1] = {
	[BFTMUTEX_A_HANDLE_ID] = { .type = NLA_U64, },
	[BFTMUTEX_A_HANDLE_ERROR] = { .type = NLA_U32, },
	[BFTMUTEX_A_HANDLE_STATUS] = NLA_POLICY_MAX(NLA_U32, 4095),
	[BFTMUTEX_A_HANDLE_NUMBER] = { .type = NLA_U64, },
	[BFTMUTEX_A_HANDLE_RESPONSE] = { .type = NLA_BINARY, },
};

/* BFTMUTEX_CMD_JOURNAL_OPEN - do */
static const struct nla_policy bftmutex_journal_open_nl_policy[BFTMUTEX_A_JOURNAL_ID + 1] = {
	[BFTMUTEX_A_JOURNAL_ID] = { .type = NLA_U64, },
};

/* BFTMUTEX_CMD_JOURNAL_DONE - do */
static const struct nla_policy bftmutex_journal_done_nl_policy[BFTMUTEX_A_JOURNAL_CHANGE + 1] = {
	[BFTMUTEX_A_JOURNAL_NAME] = { .type = NLA_BINARY, },
	[BFTMUTEX_A_JOURNAL_CHANGE] = { .type = NLA_U64, },
};

/* BFTMUTEX_CMD_JOURNAL_LOAD - do */
static const struct nla_policy bftmutex_journal_load_nl_policy[BFTMUTEX_A_JOURNAL_RECOVERING + 1] = {
	[BFTMUTEX_A_JOURNAL_NAME] = { .type = NLA_BINARY, },
	[BFTMUTEX_A_JOURNAL_RANK] = NLA_POLICY_NESTED(bftmutex_rank_nl_policy),
	[BFTMUTEX_A_JOURNAL_SIGNATURE] = NLA_POLICY_EXACT_LEN(BFTMUTEX_SIGNATURE_LEN),
	[BFTMUTEX_A_JOURNAL_PROPOSER] = NLA_POLICY_NESTED(bftmutex_rank_nl_policy),
	[BFTMUTEX_A_JOURNAL_COMMITTED] = NLA_POLICY_NESTED(bftmutex_state_nl_policy),
	[BFTMUTEX_A_JOURNAL_PROPOSED] = NLA_POLICY_NESTED(bftmutex_state_nl_policy),
	[BFTMUTEX_A_JOURNAL_RECOVERING] = { .type = NLA_FLAG, },
	[BFTMUTEX_A_JOURNAL_BODY] = NLA_POLICY_MAX(NLA_U32, 1),
	[BFTMUTEX_A_JOURNAL_OFFSET] = { .type = NLA_U32, },
	[BFTMUTEX_A_JOURNAL_PIECE] = { .type = NLA_BINARY, },
};

/* BFTMUTEX_CMD_JOURNAL_LOADED - do */
static const struct nla_policy bftmutex_journal_loaded_nl_policy[BFTMUTEX_A_JOURNAL_COMPLETE + 1] = {
	[BFTMUTEX_A_JOURNAL_COMPLETE] = { .type = NLA_FLAG, },
};

/* BFTMUTEX_CMD_HELPER_LEND - do */
static const struct nla_policy bftmutex_helper_lend_nl_policy[BFTMUTEX_A_SESSION_INGRESS + 1] = {
	[BFTMUTEX_A_SESSION_CLUSTER] = { .type = NLA_NUL_STRING, .len = BFTMUTEX_CLUSTER_NAME_MAX, },
	[BFTMUTEX_A_SESSION_STANDARD] = { .type = NLA_FLAG, },
	[BFTMUTEX_A_SESSION_CLUSTER_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[BFTMUTEX_A_SESSION_CLIENT_ID] = NLA_POLICY_FULL_RANGE(NLA_U32, &bftmutex_a_session_client_id_range),
	[BFTMUTEX_A_SESSION_LIARS] = NLA_POLICY_MAX(NLA_U32, 10),
	[BFTMUTEX_A_SESSION_RHO_PPM] = NLA_POLICY_FULL_RANGE(NLA_U32, &bftmutex_a_session_rho_ppm_range),
	[BFTMUTEX_A_SESSION_DELTA_NS] = NLA_POLICY_FULL_RANGE(NLA_U64, &bftmutex_a_session_delta_ns_range),
	[BFTMUTEX_A_SESSION_LEASE_NS] = NLA_POLICY_FULL_RANGE(NLA_U64, &bftmutex_a_session_lease_ns_range),
	[BFTMUTEX_A_SESSION_LEASE_MAX_NS] = NLA_POLICY_FULL_RANGE(NLA_U64, &bftmutex_a_session_lease_max_ns_range),
	[BFTMUTEX_A_SESSION_COUNTERS] = { .type = NLA_U64, },
	[BFTMUTEX_A_SESSION_SOCKET] = { .type = NLA_U32, },
	[BFTMUTEX_A_SESSION_PEER] = NLA_POLICY_NESTED(bftmutex_peer_nl_policy),
	[BFTMUTEX_A_SESSION_CONFIGURATION] = { .type = NLA_U64, },
	[BFTMUTEX_A_SESSION_NEEDED] = NLA_POLICY_RANGE(NLA_U32, 1, 31),
	[BFTMUTEX_A_SESSION_FORGETFUL] = { .type = NLA_U32, },
	[BFTMUTEX_A_SESSION_ASK] = NLA_POLICY_MAX(NLA_U32, 2),
	[BFTMUTEX_A_SESSION_BACKOFF] = { .type = NLA_FLAG, },
	[BFTMUTEX_A_SESSION_INGRESS] = { .type = NLA_NUL_STRING, .len = BFTMUTEX_DEVICE_NAME_MAX, },
};

/* BFTMUTEX_CMD_HELPER_CONVERTED - do */
static const struct nla_policy bftmutex_helper_converted_nl_policy[BFTMUTEX_A_HANDLE_VALUE + 1] = {
	[BFTMUTEX_A_HANDLE_ID] = { .type = NLA_U64, },
	[BFTMUTEX_A_HANDLE_CONVERSION] = { .type = NLA_U32, },
	[BFTMUTEX_A_HANDLE_ERROR] = { .type = NLA_U32, },
	[BFTMUTEX_A_HANDLE_DEADLINE_NS] = { .type = NLA_U64, },
	[BFTMUTEX_A_HANDLE_END_NS] = { .type = NLA_U64, },
	[BFTMUTEX_A_HANDLE_TOKEN] = { .type = NLA_U64, },
	[BFTMUTEX_A_HANDLE_SENDS] = { .type = NLA_U32, },
	[BFTMUTEX_A_HANDLE_VALUE_FLAGS] = NLA_POLICY_MASK(NLA_U32, 0xf),
	[BFTMUTEX_A_HANDLE_VALUE] = { .type = NLA_BINARY, },
};

/* BFTMUTEX_CMD_HELPER_WANTED - do */
static const struct nla_policy bftmutex_helper_wanted_nl_policy[BFTMUTEX_A_HANDLE_MODE + 1] = {
	[BFTMUTEX_A_HANDLE_ID] = { .type = NLA_U64, },
	[BFTMUTEX_A_HANDLE_MODE] = { .type = NLA_U32, },
};

/* BFTMUTEX_CMD_MEMBER_EVICT - do */
static const struct nla_policy bftmutex_member_evict_nl_policy[BFTMUTEX_A_MEMBER_EVICTED + 1] = {
	[BFTMUTEX_A_MEMBER_ID] = NLA_POLICY_FULL_RANGE(NLA_U32, &bftmutex_a_member_id_range),
	[BFTMUTEX_A_MEMBER_EVICTED] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* BFTMUTEX_CMD_HELPER_EVICTED - do */
static const struct nla_policy bftmutex_helper_evicted_nl_policy[BFTMUTEX_A_HANDLE_ID + 1] = {
	[BFTMUTEX_A_HANDLE_ID] = { .type = NLA_U64, },
};

/* BFTMUTEX_CMD_MEMBER_NOTE - do */
static const struct nla_policy bftmutex_member_note_nl_policy[BFTMUTEX_A_MEMBER_ROLL + 1] = {
	[BFTMUTEX_A_MEMBER_ID] = NLA_POLICY_FULL_RANGE(NLA_U32, &bftmutex_a_member_id_range),
	[BFTMUTEX_A_MEMBER_NOTED] = NLA_POLICY_FULL_RANGE(NLA_U32, &bftmutex_a_member_noted_range),
	[BFTMUTEX_A_MEMBER_ROLL] = NLA_POLICY_MIN(NLA_U64, 1),
};

/* Ops table for bftmutex */
const struct genl_ops bftmutex_nl_ops[28] = {
	{
		.cmd		= BFTMUTEX_CMD_SERVER_START,
		.doit		= bftmutex_nl_server_start_doit,
		.policy		= bftmutex_server_start_nl_policy,
		.maxattr	= BFTMUTEX_A_SERVER_MAX_HOLDERS,
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
		.cmd		= BFTMUTEX_CMD_ACCESS_SET,
		.doit		= bftmutex_nl_access_set_doit,
		.policy		= bftmutex_access_set_nl_policy,
		.maxattr	= BFTMUTEX_A_SERVER_EVICTION,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd	= BFTMUTEX_CMD_ACCESS_GET,
		.dumpit	= bftmutex_nl_access_get_dumpit,
		.flags	= GENL_ADMIN_PERM | GENL_CMD_CAP_DUMP,
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
		.maxattr	= BFTMUTEX_A_HANDLE_VALUE,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= BFTMUTEX_CMD_HELPER_RENEWED,
		.doit		= bftmutex_nl_helper_renewed_doit,
		.policy		= bftmutex_helper_renewed_nl_policy,
		.maxattr	= BFTMUTEX_A_HANDLE_END_NS,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= BFTMUTEX_CMD_HELPER_SUSPECT,
		.doit		= bftmutex_nl_helper_suspect_doit,
		.policy		= bftmutex_helper_suspect_nl_policy,
		.maxattr	= BFTMUTEX_A_SUSPECT_COUNT,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= BFTMUTEX_CMD_HELPER_SUBMITTED,
		.doit		= bftmutex_nl_helper_submitted_doit,
		.policy		= bftmutex_helper_submitted_nl_policy,
		.maxattr	= BFTMUTEX_A_HANDLE_NUMBER,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd	= BFTMUTEX_CMD_OBJECT_GET,
		.dumpit	= bftmutex_nl_object_get_dumpit,
		.flags	= GENL_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= BFTMUTEX_CMD_JOURNAL_OPEN,
		.doit		= bftmutex_nl_journal_open_doit,
		.policy		= bftmutex_journal_open_nl_policy,
		.maxattr	= BFTMUTEX_A_JOURNAL_ID,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd	= BFTMUTEX_CMD_JOURNAL_PULL,
		.doit	= bftmutex_nl_journal_pull_doit,
		.flags	= GENL_ADMIN_PERM,
	},
	{
		.cmd		= BFTMUTEX_CMD_JOURNAL_DONE,
		.doit		= bftmutex_nl_journal_done_doit,
		.policy		= bftmutex_journal_done_nl_policy,
		.maxattr	= BFTMUTEX_A_JOURNAL_CHANGE,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= BFTMUTEX_CMD_JOURNAL_LOAD,
		.doit		= bftmutex_nl_journal_load_doit,
		.policy		= bftmutex_journal_load_nl_policy,
		.maxattr	= BFTMUTEX_A_JOURNAL_RECOVERING,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= BFTMUTEX_CMD_JOURNAL_LOADED,
		.doit		= bftmutex_nl_journal_loaded_doit,
		.policy		= bftmutex_journal_loaded_nl_policy,
		.maxattr	= BFTMUTEX_A_JOURNAL_COMPLETE,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= BFTMUTEX_CMD_HELPER_LEND,
		.doit		= bftmutex_nl_helper_lend_doit,
		.policy		= bftmutex_helper_lend_nl_policy,
		.maxattr	= BFTMUTEX_A_SESSION_INGRESS,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd	= BFTMUTEX_CMD_LOCAL_GET,
		.doit	= bftmutex_nl_local_get_doit,
		.flags	= GENL_ADMIN_PERM,
	},
	{
		.cmd		= BFTMUTEX_CMD_HELPER_CONVERTED,
		.doit		= bftmutex_nl_helper_converted_doit,
		.policy		= bftmutex_helper_converted_nl_policy,
		.maxattr	= BFTMUTEX_A_HANDLE_VALUE,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= BFTMUTEX_CMD_HELPER_WANTED,
		.doit		= bftmutex_nl_helper_wanted_doit,
		.policy		= bftmutex_helper_wanted_nl_policy,
		.maxattr	= BFTMUTEX_A_HANDLE_MODE,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd	= BFTMUTEX_CMD_MEMBER_GET,
		.dumpit	= bftmutex_nl_member_get_dumpit,
		.flags	= GENL_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= BFTMUTEX_CMD_MEMBER_EVICT,
		.doit		= bftmutex_nl_member_evict_doit,
		.policy		= bftmutex_member_evict_nl_policy,
		.maxattr	= BFTMUTEX_A_MEMBER_EVICTED,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= BFTMUTEX_CMD_HELPER_EVICTED,
		.doit		= bftmutex_nl_helper_evicted_doit,
		.policy		= bftmutex_helper_evicted_nl_policy,
		.maxattr	= BFTMUTEX_A_HANDLE_ID,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= BFTMUTEX_CMD_MEMBER_NOTE,
		.doit		= bftmutex_nl_member_note_doit,
		.policy		= bftmutex_member_note_nl_policy,
		.maxattr	= BFTMUTEX_A_MEMBER_ROLL,
		.flags		= GENL_ADMIN_PERM,
	},
};

const struct genl_multicast_group bftmutex_nl_mcgrps[] = {
	[BFTMUTEX_NLGRP_EVENTS] = { "events", .flags = GENL_MCAST_CAP_NET_ADMIN, },
	[BFTMUTEX_NLGRP_RENEWALS] = { "renewals", .flags = GENL_MCAST_CAP_NET_ADMIN, },
};
