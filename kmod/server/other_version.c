// SPDX-License-Identifier: GPL-2.0
#include <linux/skbuff.h>
#include <uapi/linux/udp.h>

#include "compat.h"
#include "core/serve.h"
#include "server/other_version.h"
#include "server/receive.h"
#include "server/socket.h"
#include "time/clock.h"

/* Version 1: the numbers of client and server stood elsewhere; keys and tag are the same. */
#define V1		1
#define V1_TYPE_AT	1
#define V1_CLIENT_AT	8
#define V1_SERVER_AT	12
#define V1_LEN_MIN	160

bool bftm_is_other_version(const struct sk_buff *skb)
{
	u8 byte;
	const u8 *version = skb_header_pointer(skb, sizeof(struct udphdr), 1, &byte);

	/* An empty datagram has no version; its length is what is wrong with it. */
	return version && *version != BFTM_WIRE_VERSION;
}

static void log_outdated(const struct bftm_server *server, const struct bftm_client *c,
			 const struct bftm_address *from)
{
	if (from->family == AF_INET)
		pr_warn("bftmutex: server %u: client %u at %pI4 speaks version 1, this server %d: upgrade that host\n",
			server->cfg.id, c->id, &from->remote4, BFTM_WIRE_VERSION);
	else
		pr_warn("bftmutex: server %u: client %u at %pI6c speaks version 1, this server %d: upgrade that host\n",
			server->cfg.id, c->id, &from->remote6, BFTM_WIRE_VERSION);
}

/* Once a client: a datagram that was recorded can be sent again by anybody. */
static void hear_outdated(struct bftm_server *server, const u8 *buf, size_t len,
			  const struct bftm_address *from)
{
	struct bftm_received r = {
		.server = server, .from = from, .buf = buf, .len = len, .now = bftm_clock_ns(),
	};
	struct bftm_msg head = { .client = get_unaligned_le32(buf + V1_CLIENT_AT) };
	bool said;

	if (get_unaligned_le16(buf + V1_SERVER_AT) != server->cfg.id ||
	    buf[V1_TYPE_AT] & BFTM_MSG_REPLY)
		return;
	if (bftm_received_sender(&r, &head) == BFTM_SENDER_GENUINE) {
		spin_lock(&r.client->lock);
		said = r.client->outdated;
		r.client->outdated = true;
		spin_unlock(&r.client->lock);
		if (!said)
			log_outdated(server, r.client, from);
	}
	memzero_explicit(&r.pair, sizeof(r.pair));
}

/* BAD_VERSION counts it already. */
static bool take(void *arg, const struct bftm_msg *head)
{
	struct bftm_received *r = arg;

	return bftm_client_take(r->client, head->seq, r->now, NULL);
}

static bool answer_later(struct bftm_server *server, struct sk_buff **skb, const u8 *buf,
			 size_t len, const struct bftm_address *from)
{
	static const struct bftm_shell shell = {
		.sender = bftm_received_sender,
		.take = take,
	};
	struct bftm_received r = {
		.server = server, .from = from, .buf = buf, .len = len, .now = bftm_clock_ns(),
	};
	struct bftm_msg head, reply;
	bool answer;

	if (bftm_wire_get(buf, len, &head) != BFTM_WIRE_BAD_VERSION)
		return false;
	answer = bftm_serve_version(&shell, &r, &server->cfg, &head, &reply) == BFTM_SERVED;
	if (answer)
		bftm_socket_answer(server, skb, from, r.pair.reply, &reply);
	memzero_explicit(&r.pair, sizeof(r.pair));
	return answer;
}

bool bftm_other_version_receive(struct bftm_server *server, struct sk_buff **skb,
				const struct bftm_address *from)
{
	size_t len = (*skb)->len - sizeof(struct udphdr);
	const u8 *buf;

	bftm_count(server, BAD_VERSION);
	/* Another may have mapped what is not in the linear part. */
	if (len > BFTM_DATAGRAM_MAX || len < BFTM_VERSION_LEN || len % 8 ||
	    !pskb_may_pull(*skb, (*skb)->len))
		return false;
	buf = (*skb)->data + sizeof(struct udphdr);
	if (buf[0] > BFTM_WIRE_VERSION)
		return answer_later(server, skb, buf, len, from);
	if (buf[0] == V1 && len >= V1_LEN_MIN)
		hear_outdated(server, buf, len, from);
	return false;
}
