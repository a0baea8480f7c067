// SPDX-License-Identifier: GPL-2.0
#include "lender.h"

const uint8_t request_key[16] = "request", reply_key[16] = "reply";

int bound(uint16_t *ret_port)
{
	struct sockaddr_in6 addr = { .sin6_family = AF_INET6 };
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, len) ||
	    getsockname(fd, (struct sockaddr *)&addr, &len))
		abort();
	if (ret_port)
		*ret_port = ntohs(addr.sin6_port);
	return fd;
}

static void put_peer(lend_t *self, struct nl_msg *msg, uint32_t u)
{
	struct nlattr *nest = nla_nest_start(msg, BFTMUTEX_A_SESSION_PEER);
	struct in6_addr address;

	/* Half of them by IPv6. */
	if (self->far)
		inet_pton(AF_INET6, u % 2 ? "fd09::1" : "::ffff:10.9.0.1", &address);
	else
		inet_pton(AF_INET6, u % 2 ? "::1" : "::ffff:127.0.0.1", &address);
	if (self->peer_leave_out != BFTMUTEX_A_PEER_SERVER_ID)
		nla_put_u16(msg, BFTMUTEX_A_PEER_SERVER_ID, (uint16_t)(self->twins ? 1 : 1 + u));
	if (self->peer_leave_out != BFTMUTEX_A_PEER_EPOCH)
		nla_put_u64(msg, BFTMUTEX_A_PEER_EPOCH, self->epoch[u % N]);
	if (self->peer_leave_out != BFTMUTEX_A_PEER_ADDRESS)
		nla_put(msg, BFTMUTEX_A_PEER_ADDRESS, sizeof(address), &address);
	if (self->peer_leave_out != BFTMUTEX_A_PEER_PORT)
		nla_put_u16(msg, BFTMUTEX_A_PEER_PORT, self->port[u % N]);
	if (self->peer_leave_out != BFTMUTEX_A_PEER_REQUEST_KEY)
		nla_put(msg, BFTMUTEX_A_PEER_REQUEST_KEY, sizeof(request_key), request_key);
	if (self->peer_leave_out != BFTMUTEX_A_PEER_REPLY_KEY)
		nla_put(msg, BFTMUTEX_A_PEER_REPLY_KEY, sizeof(reply_key), reply_key);
	nla_nest_end(msg, nest);
}

int lend(lend_t *self)
{
	struct nl_msg *msg = bftm_nl_msg_room(&self->nl, BFTMUTEX_CMD_HELPER_LEND, 0, 8192);
	static const struct {
		int attr;
		uint32_t value;
	} numbers[] = {
		{ BFTMUTEX_A_SESSION_CLUSTER_ID, 9 }, { BFTMUTEX_A_SESSION_CLIENT_ID, CLIENT },
		{ BFTMUTEX_A_SESSION_RHO_PPM, 2000 },
	}, long_numbers[] = {
		{ BFTMUTEX_A_SESSION_DELTA_NS, DELTA }, { BFTMUTEX_A_SESSION_LEASE_NS, SEC },
	};
	uint32_t i;

	if (self->leave_out != BFTMUTEX_A_SESSION_CLUSTER)
		nla_put_string(msg, BFTMUTEX_A_SESSION_CLUSTER, self->cluster);
	nla_put_flag(msg, BFTMUTEX_A_SESSION_STANDARD);
	for (i = 0; i < 3; i++)
		if (numbers[i].attr != self->leave_out)
			nla_put_u32(msg, numbers[i].attr, self->wrong == numbers[i].attr ?
				    (uint32_t)self->value : numbers[i].value);
	for (i = 0; i < 2; i++)
		if (long_numbers[i].attr != self->leave_out)
			nla_put_u64(msg, long_numbers[i].attr, self->wrong == long_numbers[i].attr ?
				    self->value : long_numbers[i].value);
	if (self->leave_out != BFTMUTEX_A_SESSION_LIARS)
		nla_put_u32(msg, BFTMUTEX_A_SESSION_LIARS, self->liars);
	if (self->leave_out != BFTMUTEX_A_SESSION_LEASE_MAX_NS)
		nla_put_u64(msg, BFTMUTEX_A_SESSION_LEASE_MAX_NS, LEASE);
	if (self->leave_out != BFTMUTEX_A_SESSION_COUNTERS)
		nla_put_u64(msg, BFTMUTEX_A_SESSION_COUNTERS, self->counters_attr);
	if (self->leave_out != BFTMUTEX_A_SESSION_SOCKET)
		nla_put_u32(msg, BFTMUTEX_A_SESSION_SOCKET, (uint32_t)self->socket_attr);
	if (self->needed)
		nla_put_u32(msg, BFTMUTEX_A_SESSION_NEEDED, self->needed);
	if (self->forgetful)
		nla_put_u32(msg, BFTMUTEX_A_SESSION_FORGETFUL, self->forgetful);
	if (self->ask)
		nla_put_u32(msg, BFTMUTEX_A_SESSION_ASK, self->ask);
	if (self->backoff)
		nla_put_flag(msg, BFTMUTEX_A_SESSION_BACKOFF);
	if (self->device)
		nla_put_string(msg, BFTMUTEX_A_SESSION_INGRESS, self->device);
	if (self->configuration)
		nla_put_u64(msg, BFTMUTEX_A_SESSION_CONFIGURATION, self->configuration);
	for (i = 0; i < self->peers; i++)
		put_peer(self, msg, i);
	return send_msg(&self->nl, msg);
}

int told(lend_t *self, int u, int ms, struct bftm_msg *ret, struct sockaddr_in6 *from)
{
	socklen_t len = sizeof(*from);
	struct bftm_wire wire;
	ssize_t n;

	if (!poll_for(self->server[u], POLLIN, ms))
		return 0;
	n = recvfrom(self->server[u], wire.data, sizeof(wire.data), 0, (struct sockaddr *)from, &len);
	wire.len = n < BFTM_TAG_LEN ? BFTM_TAG_LEN : (size_t)n;
	if (bftm_wire_get(wire.data, wire.len, ret) || !bftm_mac_verify(self->request_mac, &wire) ||
	    ret->server != u + 1 || ret->client != CLIENT || ret->cluster != 9 ||
	    ret->server_epoch != self->epoch[u])
		return -1;
	return ret->type;
}

void say(lend_t *self, int u, struct bftm_msg msg, uint8_t type, const struct sockaddr_in6 *to,
	 struct bftm_mac *mac)
{
	struct bftm_wire wire;

	msg.type = type;
	msg.flags = 0;
	msg.gno = 1;
	/* Of TRY it is the mode that is held, of FREE the modes that share a token. */
	if (type == BFTM_MSG_FREE)
		msg.arg = 0;
	bftm_wire_put(&msg, &wire);
	bftm_mac_sign(mac, &wire);
	if (sendto(self->server[u], wire.data, wire.len, 0, (const struct sockaddr *)to,
		   sizeof(*to)) != (ssize_t)wire.len)
		abort();
}

int asked(lend_t *self, int first, int last, uint8_t type, uint8_t answer)
{
	struct sockaddr_in6 from;
	struct bftm_msg msg;
	int u, got;

	for (u = first; u <= last; u++) {
		got = told(self, u, LONG_MS, &msg, &from);
		if (got != type)
			return got ?: -2;
		if (answer)
			say(self, u, msg, answer, &from, self->reply_mac);
	}
	return 0;
}

bool silence(lend_t *self)
{
	struct sockaddr_in6 from;
	struct bftm_msg msg;
	int u;

	for (u = 0; u < N; u++)
		if (told(self, u, 2, &msg, &from))
			return false;
	return true;
}

int begin(lend_t *self, uint32_t flags)
{
	struct bftm_acquire arg = want("lock", LEASE, 0, flags);

	return call(self->fd, BFTM_IOC_ACQUIRE, &arg);
}

bool holds(lend_t *self, uint32_t flags)
{
	return begin(self, flags) == -EINPROGRESS &&
	       !asked(self, 0, 2, BFTM_MSG_TRY, BFTM_MSG_FREE) &&
	       poll_for(self->fd, POLLIN, LONG_MS) == POLLIN &&
	       state_of(self->fd) == BFTM_STATE_HELD;
}
