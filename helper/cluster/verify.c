// SPDX-License-Identifier: GPL-2.0
#include <netinet/in.h>
#include <string.h>

#include "cluster/cluster.h"
#include "cluster/verify.h"

static int index_of(const struct bftm_cluster *cl, u16 server)
{
	u32 u;

	for (u = 0; u < cl->conf.n; u++)
		if (cl->conf.server[u].id == server)
			return (int)u;
	return -1;
}

/* Only the address says who it was; it proves nothing. */
static void count_bad(struct bftm_cluster *cl, const struct sockaddr_in6 *from)
{
	u32 u;

	for (u = 0; u < cl->conf.n; u++)
		if (!memcmp(&cl->conf.server[u].addr, from, sizeof(*from)))
			cl->peer[u].record.bad++;
}

/* @u: the server that the datagram names, -1 for none. */
static int verified(struct bftm_cluster *cl, int u, const void *data, size_t len,
		    const struct sockaddr_in6 *from)
{
	if (u >= 0 && bftm_mac_verify_bytes(cl->peer[u].reply_mac, data, len))
		return u;
	count_bad(cl, from);
	return -1;
}

int bftm_verify(struct bftm_cluster *cl, const void *data, size_t len,
		const struct sockaddr_in6 *from, struct bftm_msg *ret)
{
	int u = -1;

	if (!bftm_wire_get(data, len, ret) && ret->type & BFTM_MSG_REPLY &&
	    ret->cluster == cl->conf.id && ret->client == cl->cred.client)
		u = index_of(cl, ret->server);
	return verified(cl, u, data, len, from);
}

int bftm_verify_order(struct bftm_cluster *cl, const void *data, size_t len,
		      const struct sockaddr_in6 *from, struct bftm_order_msg *ret)
{
	int u = -1;

	if (!bftm_order_wire_get(data, len, ret) && ret->type & BFTM_MSG_REPLY &&
	    ret->cluster == cl->conf.id && ret->client == cl->cred.client)
		u = index_of(cl, ret->server);
	return verified(cl, u, data, len, from);
}

bool bftm_verify_fresh(struct bftm_cluster *cl, u32 u, u64 seq)
{
	struct bftm_peer *peer = &cl->peer[u];

	if (seq <= cl->first_seq || seq > bftm_identity_seq(cl->identity)) {
		peer->record.bad++;
		return false;
	}
	if (!bftm_window_take(&peer->answers, seq)) {
		peer->record.repeated++;
		return false;
	}
	peer->heard_ns = bftm_now();
	peer->asked_ns = 0;
	peer->record.received++;
	return true;
}
