/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the tests of the netlink family: calls with any attributes. */
#ifndef BFTM_TEST_NETLINK_H
#define BFTM_TEST_NETLINK_H

#include <arpa/inet.h>
#include <net/if.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <sys/socket.h>

#include "kernel/nl.h"
#include "selftests/module/device/handle.h"

#define SERVER_CLUSTER	9
#define SERVER_ID	3

/* Easily found wherever it should not be. */
extern const uint8_t server_key[BFTMUTEX_KEY_LEN];

/* An empty network namespace of our own, with lo up. */
int fresh_netns(void);

/* The attributes without which no server starts. */
struct nl_msg *start_msg(struct bftm_nl *nl);

int send_msg(struct bftm_nl *nl, struct nl_msg *msg);

/* A command without attributes. */
int command(struct bftm_nl *nl, uint8_t cmd, int flags);

int start_server(struct bftm_nl *nl);
int stop_server(struct bftm_nl *nl);

/* Copy of one number out of a reply. */
struct wanted {
	int attr;
	uint64_t value;
	bool there;
	int messages;
};

int take_number(struct nlattr **attr, void *arg);
uint64_t server_value(struct bftm_nl *nl, int attr);

/* A handle or a request, as a dump, an event or helper-pull tells of it. */
struct seen {
	int count;
	int state;
	uint32_t kind, flags, way, mode, reason, sends, goal, conversion, convert_flags;
	uint64_t id, lease_ns, timeout_at_ns, attempt, deadline_ns, end_ns, token, configuration, prio, silent;
	char cluster[BFTM_CLUSTER_MAX + 1];
	char name[BFTM_NAME_MAX + 1];
	uint32_t value_flags;
	int value_len;
	char value[BFTM_VALUE_MAX];
};

/* Where the low @len bytes of @value are, as this machine stores numbers. */
static inline void *low_bytes(uint64_t *value, int len)
{
	return (char *)value + (htons(1) == 1 ? 8 - len : 0);
}

uint64_t number(struct nlattr *attr);
int take(struct nlattr **attr, void *arg);

#endif /* BFTM_TEST_NETLINK_H */
