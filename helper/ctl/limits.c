// SPDX-License-Identifier: GPL-2.0
#include "config/conf.h"
#include "ctl/ctl.h"
#include "ctl/limits.h"

static const struct {
	int key;
	const char *option;
	int attr;
	int bits;
	u64 min, max;
} table[CTL_LIMITS] = {
	[CTL_MAX_LOCKS] = { 'L', "--max-locks", BFTMUTEX_A_SERVER_MAX_LOCKS, 32,
			    BFTM_LOCKS_MIN, BFTM_LOCKS_MAX },
	[CTL_MAX_CLIENTS] = { 'c', "--max-clients", BFTMUTEX_A_SERVER_MAX_CLIENTS, 32,
			      BFTM_CLIENTS_MIN, BFTM_CLIENTS_MAX },
	[CTL_MAX_WAITERS] = { 'w', "--max-waiters", BFTMUTEX_A_SERVER_MAX_WAITERS, 32,
			      BFTM_WAITERS_MIN, BFTM_WAITERS_MAX },
	[CTL_MAX_HOLDERS] = { 'H', "--max-holders", BFTMUTEX_A_SERVER_MAX_HOLDERS, 32,
			      BFTM_HOLDERS_MIN, BFTM_HOLDERS_MAX },
	[CTL_MAX_OBJECTS] = { 'o', "--max-objects", BFTMUTEX_A_SERVER_MAX_OBJECTS, 32,
			      BFTM_OBJECTS_MIN, BFTM_OBJECTS_MAX },
	[CTL_MAX_STATE] = { 'S', "--max-state", BFTMUTEX_A_SERVER_MAX_STATE, 32,
			    BFTM_STATE_MIN, BFTM_STATE_MAX },
	[CTL_OBJECT_MEMORY] = { 'm', "--object-memory", BFTMUTEX_A_SERVER_OBJECT_MEMORY, 64,
				BFTM_OBJECT_MEMORY_MIN, BFTM_OBJECT_MEMORY_MAX },
};

error_t ctl_limits_parse(struct argp_state *state, int key, const char *arg,
			 struct ctl_limits *limits)
{
	int i;

	for (i = 0; i < CTL_LIMITS; i++) {
		if (table[i].key != key)
			continue;
		limits->value[i] = ctl_number(state, table[i].option, arg, table[i].min,
					      table[i].max);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void limits_take(struct ctl_limits *limits, enum ctl_limit which, u64 value)
{
	if (!limits->value[which])
		limits->value[which] = value;
}

void ctl_limits_conf(struct ctl_limits *limits, const struct bftm_conf_cluster *cluster,
		     const struct bftm_conf_server *server)
{
	limits_take(limits, CTL_MAX_HOLDERS, server->max_holders);
	limits_take(limits, CTL_MAX_OBJECTS, server->max_objects);
	limits_take(limits, CTL_MAX_STATE, server->max_state);
	limits_take(limits, CTL_MAX_STATE, cluster->state_max);
	limits_take(limits, CTL_OBJECT_MEMORY, server->object_memory);
}

int ctl_limits_put(const struct ctl_limits *limits, struct nl_msg *msg)
{
	int i, r = 0;

	for (i = 0; i < CTL_LIMITS; i++) {
		if (!limits->value[i])
			continue;
		if (table[i].bits == 32)
			r |= nla_put_u32(msg, table[i].attr, (u32)limits->value[i]);
		else
			r |= nla_put_u64(msg, table[i].attr, limits->value[i]);
	}
	return r;
}
