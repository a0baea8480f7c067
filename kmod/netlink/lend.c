// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink, sessions that the helper lends. The family's policy has checked the form and range of
 * every attribute, nested ones included.
 */
#include <linux/in6.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "client/line.h"
#include "client/request.h"
#include "client/session.h"
#include "compat.h"
#include "netlink/gen.h"
#include "netlink/netlink.h"
#include "netns.h"

static void read_key(const struct nlattr *a, u64 ret[2])
{
	ret[0] = get_unaligned_le64(nla_data(a));
	ret[1] = get_unaligned_le64(nla_data(a) + 8);
}

static int read_peer(const struct nlattr *nest, struct bftm_session_peer *ret,
		     struct netlink_ext_ack *extack)
{
	struct nlattr *a[BFTMUTEX_A_PEER_MAX + 1];
	int i, err;

	err = nla_parse_nested(a, BFTMUTEX_A_PEER_MAX, nest, bftmutex_peer_nl_policy, extack);
	if (err)
		return err;
	for (i = 1; i < BFTMUTEX_A_PEER_PAD; i++) {
		if (a[i] || i == BFTMUTEX_A_PEER_IFINDEX || i == BFTMUTEX_A_PEER_EPOCH)
			continue;
		NL_SET_ERR_MSG_ATTR(extack, nest,
				    "a peer needs server-id, address, port and both keys");
		return -EINVAL;
	}
	ret->id = nla_get_u16(a[BFTMUTEX_A_PEER_SERVER_ID]);
	if (a[BFTMUTEX_A_PEER_EPOCH])
		ret->known.epoch = nla_get_u64(a[BFTMUTEX_A_PEER_EPOCH]);
	ret->known.sent_epoch = ret->known.epoch;
	read_key(a[BFTMUTEX_A_PEER_REQUEST_KEY], ret->pair.request);
	read_key(a[BFTMUTEX_A_PEER_REPLY_KEY], ret->pair.reply);
	ret->to.port = htons(nla_get_u16(a[BFTMUTEX_A_PEER_PORT]));
	ret->to.family = AF_INET6;
	ret->to.remote6 = nla_get_in6_addr(a[BFTMUTEX_A_PEER_ADDRESS]);
	if (ipv6_addr_v4mapped(&ret->to.remote6)) {
		__be32 remote = ret->to.remote6.s6_addr32[3];

		memset(&ret->to.remote6, 0, sizeof(ret->to.remote6));
		ret->to.family = AF_INET;
		ret->to.remote4 = remote;
	} else if (a[BFTMUTEX_A_PEER_IFINDEX]) {
		ret->to.ifindex = nla_get_u32(a[BFTMUTEX_A_PEER_IFINDEX]);
	}
	return 0;
}

static u32 count_peers(const struct genl_info *info)
{
	const struct nlattr *a;
	u32 count = 0;
	int rest;

	/* The family's own table of attributes has only the last of several peers. */
	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rest)
		count += nla_type(a) == BFTMUTEX_A_SESSION_PEER;
	return count;
}

static int read_peers(const struct genl_info *info, struct bftm_session *s)
{
	const struct nlattr *a;
	u32 u = 0, v;
	int rest, err;

	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rest) {
		if (nla_type(a) != BFTMUTEX_A_SESSION_PEER)
			continue;
		err = read_peer(a, &s->peer[u], info->extack);
		if (err)
			return err;
		for (v = 0; v < u; v++) {
			if (s->peer[v].id != s->peer[u].id)
				continue;
			NL_SET_ERR_MSG_ATTR(info->extack, a, "two peers have one server-id");
			return -EINVAL;
		}
		u++;
	}
	return 0;
}

static bool is_whole(const struct genl_info *info)
{
	int i;

	for (i = 1; i < BFTMUTEX_A_SESSION_PEER; i++)
		if (!info->attrs[i] && i != BFTMUTEX_A_SESSION_STANDARD)
			return false;
	return true;
}

/* Fewer grants would let two clients in, and more could not be had while liars are silent. */
static int check_needed(const struct genl_info *info, u32 n)
{
	const struct nlattr *needed = info->attrs[BFTMUTEX_A_SESSION_NEEDED];
	u32 b = nla_get_u32(info->attrs[BFTMUTEX_A_SESSION_LIARS]);

	if (!needed || (nla_get_u32(needed) >= bftm_free_needed(n, b) &&
			nla_get_u32(needed) <= n - b))
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, needed,
			    "needed must be (peers + liars + 1) / 2, rounded up, to peers - liars");
	return -ERANGE;
}

/* A bit beyond the peers would be of a server that does not exist. */
static int check_forgetful(const struct genl_info *info, u32 n)
{
	const struct nlattr *forgetful = info->attrs[BFTMUTEX_A_SESSION_FORGETFUL];

	if (!forgetful || !(nla_get_u32(forgetful) & ~bftm_all(n)))
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, forgetful,
			    "forgetful must be a sum of 2^i for peers i, from 0 to 2^peers - 1");
	return -ERANGE;
}

static struct bftm_session *read_session(struct genl_info *info, u32 n)
{
	struct nlattr **a = info->attrs;
	struct bftm_session *s;
	int err;

	s = kvzalloc(struct_size(s, peer, n), GFP_KERNEL_ACCOUNT);
	if (!s)
		return ERR_PTR(-ENOMEM);
	nla_strscpy(s->cluster, a[BFTMUTEX_A_SESSION_CLUSTER], sizeof(s->cluster));
	s->standard = nla_get_flag(a[BFTMUTEX_A_SESSION_STANDARD]);
	s->id = nla_get_u32(a[BFTMUTEX_A_SESSION_CLUSTER_ID]);
	s->client = nla_get_u32(a[BFTMUTEX_A_SESSION_CLIENT_ID]);
	s->lease_ns = nla_get_u64(a[BFTMUTEX_A_SESSION_LEASE_NS]);
	s->lease_max_ns = nla_get_u64(a[BFTMUTEX_A_SESSION_LEASE_MAX_NS]);
	/* The helper lends sessions only of clusters with this protocol. */
	s->protocol = bftm_protocol_of(BFTM_PROTO_BACKOFF);
	s->cfg.n = n;
	s->cfg.b = nla_get_u32(a[BFTMUTEX_A_SESSION_LIARS]);
	s->cfg.rho_ppm = nla_get_u32(a[BFTMUTEX_A_SESSION_RHO_PPM]);
	s->cfg.delta_ns = nla_get_u64(a[BFTMUTEX_A_SESSION_DELTA_NS]);
	s->cfg.resend_ns = BFTM_RESEND_DELTAS * s->cfg.delta_ns;
	if (a[BFTMUTEX_A_SESSION_NEEDED])
		s->cfg.m = nla_get_u32(a[BFTMUTEX_A_SESSION_NEEDED]);
	if (a[BFTMUTEX_A_SESSION_FORGETFUL])
		s->cfg.forgetful = nla_get_u32(a[BFTMUTEX_A_SESSION_FORGETFUL]);
	if (a[BFTMUTEX_A_SESSION_CONFIGURATION])
		s->configuration = nla_get_u64(a[BFTMUTEX_A_SESSION_CONFIGURATION]);
	s->queues = !nla_get_flag(a[BFTMUTEX_A_SESSION_BACKOFF]);
	err = read_peers(info, s);
	/* A helper that does not know the attribute asks all servers. */
	if (a[BFTMUTEX_A_SESSION_ASK])
		bftm_session_ask(s, nla_get_u32(a[BFTMUTEX_A_SESSION_ASK]));
	if (err) {
		kvfree_sensitive(s, struct_size(s, peer, n));
		return ERR_PTR(err);
	}
	return s;
}

static int netlink_lend(struct genl_info *info)
{
	struct bftm_net *bn = bftm_net(genl_info_net(info));
	struct nlattr **a = info->attrs;
	u32 n = count_peers(info);
	struct bftm_session *s;
	struct bftm_loan loan = {};
	char cluster[BFTM_CLUSTER_MAX + 1];
	int err;

	if (!bftm_upcall_is_helper(bn, info->snd_portid))
		return -EPERM;
	if (!n && a[BFTMUTEX_A_SESSION_CLUSTER]) {
		nla_strscpy(cluster, a[BFTMUTEX_A_SESSION_CLUSTER], sizeof(cluster));
		bftm_session_revoke(bn, cluster, info->snd_portid);
		return 0;
	}
	if (!is_whole(info)) {
		GENL_SET_ERR_MSG(info,
				 "cluster, cluster-id, client-id, liars, rho-ppm, delta-ns, lease-ns, lease-max-ns, counters and socket are needed");
		return -EINVAL;
	}
	if (n > BFTM_SERVERS_MAX || n < 3 * nla_get_u32(a[BFTMUTEX_A_SESSION_LIARS]) + 1) {
		GENL_SET_ERR_MSG(info, "there must be 3 liars + 1 peers or more, and at most 31");
		return -ERANGE;
	}
	err = check_needed(info, n) ?: check_forgetful(info, n);
	if (err)
		return err;
	if (!IS_ALIGNED(nla_get_u64(a[BFTMUTEX_A_SESSION_COUNTERS]),
			sizeof(struct bftm_counters))) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[BFTMUTEX_A_SESSION_COUNTERS],
				    "counters must be at a multiple of 32");
		return -EINVAL;
	}
	s = read_session(info, n);
	if (IS_ERR(s))
		return PTR_ERR(s);
	nla_strscpy(cluster, a[BFTMUTEX_A_SESSION_CLUSTER], sizeof(cluster));
	loan.cluster = cluster;
	loan.fd = nla_get_u32(a[BFTMUTEX_A_SESSION_SOCKET]);
	loan.counters = nla_get_u64(a[BFTMUTEX_A_SESSION_COUNTERS]);
	if (a[BFTMUTEX_A_SESSION_INGRESS])
		nla_strscpy(loan.ingress, a[BFTMUTEX_A_SESSION_INGRESS], sizeof(loan.ingress));
	err = bftm_session_lend(bn, s, info->snd_portid, &loan, info->extack);
	if (err == -ENODEV)
		NL_SET_BAD_ATTR(info->extack, a[BFTMUTEX_A_SESSION_INGRESS]);
	else if (err == -EFAULT)
		NL_SET_ERR_MSG_ATTR(info->extack, a[BFTMUTEX_A_SESSION_COUNTERS],
				    "counters must be in memory that can be written");
	else if (err == -ESTALE)
		NL_SET_ERR_MSG_ATTR(info->extack, a[BFTMUTEX_A_SESSION_COUNTERS],
				    "counters must not be below those that were lent before");
	else if (err == -ENOSPC)
		NL_SET_ERR_MSG_ATTR(info->extack, a[BFTMUTEX_A_SESSION_CLUSTER],
				    "64 other clusters are lent, and more cannot be: take one back");
	else if (err == -EBADF || err == -ENOTSOCK || err == -EINVAL)
		NL_SET_ERR_MSG_ATTR(info->extack, a[BFTMUTEX_A_SESSION_SOCKET],
				    "socket must be a bound IPv6 UDP socket of this namespace that nobody else serves");
	return err == -ESTALE ? -EINVAL : err;
}

/* The kernel frees the message without wiping it, and quotes it when the command fails. */
static void wipe_keys(const struct genl_info *info)
{
	struct nlattr *peer, *a;
	int rest, left;

	nlmsg_for_each_attr(peer, info->nlhdr, GENL_HDRLEN, rest) {
		if (nla_type(peer) != BFTMUTEX_A_SESSION_PEER)
			continue;
		nla_for_each_nested(a, peer, left)
			if (nla_type(a) == BFTMUTEX_A_PEER_REQUEST_KEY ||
			    nla_type(a) == BFTMUTEX_A_PEER_REPLY_KEY)
				memzero_explicit(nla_data(a), nla_len(a));
	}
}

int bftmutex_nl_helper_lend_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err = netlink_lend(info);

	wipe_keys(info);
	return err;
}
