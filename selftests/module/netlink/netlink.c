// SPDX-License-Identifier: GPL-2.0
#include "netlink.h"

const uint8_t server_key[BFTMUTEX_KEY_LEN] = "the key that nobody may ever see";

int fresh_netns(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd, err;

	if (unshare(CLONE_NEWNET) < 0)
		return -errno;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	err = ioctl(fd, SIOCSIFFLAGS, &ifr) < 0 ? -errno : 0;
	close(fd);
	return err;
}

struct nl_msg *start_msg(struct bftm_nl *nl)
{
	struct nl_msg *msg = bftm_nl_msg(nl, BFTMUTEX_CMD_SERVER_START, 0);

	nla_put_u32(msg, BFTMUTEX_A_SERVER_CLUSTER, SERVER_CLUSTER);
	nla_put_u16(msg, BFTMUTEX_A_SERVER_ID, SERVER_ID);
	nla_put(msg, BFTMUTEX_A_SERVER_KEY, sizeof(server_key), server_key);
	return msg;
}

int send_msg(struct bftm_nl *nl, struct nl_msg *msg)
{
	return bftm_nl_call(nl, msg, NULL, 0, NULL);
}

int command(struct bftm_nl *nl, uint8_t cmd, int flags)
{
	return send_msg(nl, bftm_nl_msg(nl, cmd, flags));
}

int start_server(struct bftm_nl *nl)
{
	return send_msg(nl, start_msg(nl));
}

int stop_server(struct bftm_nl *nl)
{
	return command(nl, BFTMUTEX_CMD_SERVER_STOP, 0);
}

int take_number(struct nlattr **attr, void *arg)
{
	struct wanted *w = arg;
	struct nlattr *a = attr[w->attr];

	w->messages++;
	w->value = number(a);
	w->there = a;
	return 0;
}

uint64_t server_value(struct bftm_nl *nl, int attr)
{
	struct wanted w = { .attr = attr };

	if (bftm_nl_call(nl, bftm_nl_msg(nl, BFTMUTEX_CMD_SERVER_GET, 0), take_number,
			 BFTMUTEX_A_SERVER_MAX, &w))
		return UINT64_MAX;
	return w.value;
}

uint64_t number(struct nlattr *attr)
{
	uint64_t value = 0;

	if (attr)
		memcpy(low_bytes(&value, nla_len(attr)), nla_data(attr), (size_t)nla_len(attr));
	return value;
}

int take(struct nlattr **attr, void *arg)
{
	struct seen *s = arg;

	s->count++;
	s->state = (int)number(attr[BFTMUTEX_A_HANDLE_STATE]);
	s->kind = (uint32_t)number(attr[BFTMUTEX_A_HANDLE_KIND]);
	s->flags = (uint32_t)number(attr[BFTMUTEX_A_HANDLE_FLAGS]);
	s->way = (uint32_t)number(attr[BFTMUTEX_A_HANDLE_WAY]);
	s->mode = (uint32_t)number(attr[BFTMUTEX_A_HANDLE_MODE]);
	s->goal = (uint32_t)number(attr[BFTMUTEX_A_HANDLE_GOAL]);
	s->conversion = (uint32_t)number(attr[BFTMUTEX_A_HANDLE_CONVERSION]);
	s->convert_flags = (uint32_t)number(attr[BFTMUTEX_A_HANDLE_CONVERT_FLAGS]);
	s->id = number(attr[BFTMUTEX_A_HANDLE_ID]);
	s->lease_ns = number(attr[BFTMUTEX_A_HANDLE_LEASE_NS]);
	s->timeout_at_ns = number(attr[BFTMUTEX_A_HANDLE_TIMEOUT_AT_NS]);
	s->attempt = number(attr[BFTMUTEX_A_HANDLE_ATTEMPT]);
	s->deadline_ns = number(attr[BFTMUTEX_A_HANDLE_DEADLINE_NS]);
	s->reason = (uint32_t)number(attr[BFTMUTEX_A_HANDLE_REASON]);
	s->sends = (uint32_t)number(attr[BFTMUTEX_A_HANDLE_SENDS]);
	s->token = number(attr[BFTMUTEX_A_HANDLE_TOKEN]);
	s->configuration = number(attr[BFTMUTEX_A_HANDLE_CONFIGURATION]);
	s->end_ns = number(attr[BFTMUTEX_A_HANDLE_END_NS]);
	s->prio = number(attr[BFTMUTEX_A_HANDLE_PRIORITY]);
	s->silent = number(attr[BFTMUTEX_A_HANDLE_SILENT]);
	if (attr[BFTMUTEX_A_HANDLE_CLUSTER])
		nla_strlcpy(s->cluster, attr[BFTMUTEX_A_HANDLE_CLUSTER], sizeof(s->cluster));
	memset(s->name, 0, sizeof(s->name));
	if (attr[BFTMUTEX_A_HANDLE_NAME])
		memcpy(s->name, nla_data(attr[BFTMUTEX_A_HANDLE_NAME]),
		       (size_t)nla_len(attr[BFTMUTEX_A_HANDLE_NAME]));
	s->value_flags = (uint32_t)number(attr[BFTMUTEX_A_HANDLE_VALUE_FLAGS]);
	s->value_len = attr[BFTMUTEX_A_HANDLE_VALUE] ? nla_len(attr[BFTMUTEX_A_HANDLE_VALUE]) : 0;
	if (s->value_len > 0 && s->value_len <= BFTM_VALUE_MAX)
		memcpy(s->value, nla_data(attr[BFTMUTEX_A_HANDLE_VALUE]), (size_t)s->value_len);
	return 0;
}
