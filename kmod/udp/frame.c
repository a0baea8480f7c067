// SPDX-License-Identifier: GPL-2.0
/*
 * Is a frame, as it comes from its device, a datagram that IP and UDP would certainly bring to a
 * socket of this namespace? Nothing of the frame is changed: IP goes on with every other one.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/route.h>
#include <net/sock.h>
#include <net/xfrm.h>

#include "core/ordering/wire.h"
#include "udp/address.h"
#include "udp/frame.h"

/* Of a device. Frames to a device with more addresses go through IP: no walk is longer. */
#define ADDRESSES_MAX	64

/*
 * Nobody else has the datagram or may still read it, and its way depends on nothing but its
 * addresses: a mark may choose a route, and a program of BPF a socket.
 */
static bool frame_is_ours(struct sk_buff *skb)
{
	const struct skb_shared_info *info = skb_shinfo(skb);

	return !skb_shared(skb) && !skb_cloned(skb) && !skb_is_gso(skb) && !info->flags &&
	       !info->tx_flags && !skb->mark && !skb_dst(skb) && !skb_vlan_tag_present(skb) &&
	       !secpath_exists(skb) && !skb_sk_is_prefetched(skb);
}

/* From one host to this device, with a plain header, which can be turned round for an answer. */
static bool frame_is_plain(const struct sk_buff *skb)
{
	const struct ethhdr *eth = eth_hdr(skb);

	return skb->pkt_type == PACKET_HOST && skb_mac_header_was_set(skb) &&
	       skb_network_offset(skb) == 0 && skb_mac_header_len(skb) == ETH_HLEN &&
	       eth->h_proto == skb->protocol && is_valid_ether_addr(eth->h_source) &&
	       ether_addr_equal(eth->h_dest, skb->dev->dev_addr);
}

static bool policies_exist(const struct net *net)
{
#ifdef CONFIG_XFRM
	return READ_ONCE(net->xfrm.policy_count[XFRM_POLICY_IN]) ||
	       READ_ONCE(net->xfrm.policy_count[XFRM_POLICY_OUT]) ||
	       READ_ONCE(net->xfrm.policy_default[XFRM_POLICY_IN]) == XFRM_USERPOLICY_BLOCK ||
	       READ_ONCE(net->xfrm.policy_default[XFRM_POLICY_OUT]) == XFRM_USERPOLICY_BLOCK;
#else
	return false;
#endif
}

static bool udp_fits(const struct sk_buff *skb, unsigned int ip_len,
		     const struct bftm_frame *frame)
{
	const struct udphdr *uh = (const void *)(skb->data + ip_len);
	const u8 *payload = (const u8 *)(uh + 1);

	if (skb->len < ip_len + sizeof(*uh) + BFTM_DATAGRAM_MIN ||
	    skb->len > ip_len + sizeof(*uh) + BFTM_WIRE_LEN_MAX)
		return false;
	return uh->dest == frame->port && uh->source && uh->check &&
	       uh->len == htons(skb->len - ip_len) && *payload == BFTM_WIRE_VERSION &&
	       !bftm_order_shaped(payload);
}

/* @sum: of what is in front of the UDP header */
static bool checksum_is_right(const struct sk_buff *skb, unsigned int ip_len, __sum16 sum)
{
	switch (skb->ip_summed) {
	case CHECKSUM_UNNECESSARY:
		return true;
	case CHECKSUM_PARTIAL:	/* of this machine, where nothing can have spoilt it */
		return skb_checksum_start_offset(skb) == ip_len &&
		       skb->csum_offset == offsetof(struct udphdr, check);
	default:
		return !sum;
	}
}

/* IP drops what comes from an address of this host, or of many hosts, by any device. */
static bool remote4_fits(struct net *net, const struct bftm_frame *frame, __be32 remote)
{
	if (!frame->answered)
		return true;
	return !ipv4_is_zeronet(remote) && !ipv4_is_loopback(remote) &&
	       inet_addr_type(net, remote) == RTN_UNICAST;
}

static bool local4_fits(const struct net_device *dev, __be32 local)
{
	const struct in_device *in = __in_dev_get_rcu(dev);
	const struct in_ifaddr *a;
	bool ours = false;
	int count = 0;

	if (!in || ipv4_is_loopback(local))
		return false;
	in_dev_for_each_ifa_rcu(a, in) {
		if (count++ == ADDRESSES_MAX)
			return false;
		ours |= a->ifa_local == local;
	}
	return ours;
}

static bool datagram4(const struct sk_buff *skb, const struct bftm_frame *frame,
		      struct bftm_address *ret)
{
	const struct iphdr *ip = (const void *)skb->data;
	const unsigned int len = sizeof(*ip);
	const struct udphdr *uh = (const void *)(ip + 1);
	__sum16 sum = 0;

	if (skb->len < len || *(const u8 *)ip != 0x45 || ip->protocol != IPPROTO_UDP ||
	    !udp_fits(skb, len, frame) || ip->tot_len != htons(skb->len) ||
	    ip->frag_off & ~htons(IP_DF) || !ip->ttl || ip_fast_csum(ip, ip->ihl) ||
	    !remote4_fits(dev_net(skb->dev), frame, ip->saddr) ||
	    !local4_fits(skb->dev, ip->daddr))
		return false;
	if (skb->ip_summed == CHECKSUM_NONE || skb->ip_summed == CHECKSUM_COMPLETE)
		sum = csum_tcpudp_magic(ip->saddr, ip->daddr, skb->len - len, IPPROTO_UDP,
					csum_partial(uh, skb->len - len, 0));
	ret->family = AF_INET;
	ret->port = uh->source;
	ret->remote4 = ip->saddr;
	ret->local4 = ip->daddr;
	return checksum_is_right(skb, len, sum);
}

#if IS_ENABLED(CONFIG_IPV6)
/* An address of a link means nothing without its interface. */
static bool address6_is_host(const struct in6_addr *a)
{
	const int type = ipv6_addr_type(a);

	return type & IPV6_ADDR_UNICAST &&
	       !(type & (IPV6_ADDR_LINKLOCAL | IPV6_ADDR_LOOPBACK | IPV6_ADDR_MAPPED));
}

static bool addresses6_fit(const struct net_device *dev, const struct in6_addr *remote,
			   const struct in6_addr *local)
{
	struct inet6_dev *in = __in6_dev_get(dev);
	const struct inet6_ifaddr *a;
	bool ours = false;
	int count = 0;

	if (!in || READ_ONCE(in->cnf.disable_ipv6) || !address6_is_host(remote) ||
	    !address6_is_host(local))
		return false;
	list_for_each_entry_rcu(a, &in->addr_list, if_list) {
		if (count++ == ADDRESSES_MAX || ipv6_addr_equal(&a->addr, remote))
			return false;
		ours |= ipv6_addr_equal(&a->addr, local) &&
			!(READ_ONCE(a->flags) & (IFA_F_TENTATIVE | IFA_F_DADFAILED));
	}
	return ours;
}

static bool datagram6(const struct sk_buff *skb, const struct bftm_frame *frame,
		      struct bftm_address *ret)
{
	const struct ipv6hdr *ip = (const void *)skb->data;
	const unsigned int len = sizeof(*ip);
	const struct udphdr *uh = (const void *)(ip + 1);
	__sum16 sum = 0;

	if (skb->len < len || ip->version != 6 || ip->nexthdr != IPPROTO_UDP ||
	    !udp_fits(skb, len, frame) || ip->payload_len != htons(skb->len - len) ||
	    !ip->hop_limit || !addresses6_fit(skb->dev, &ip->saddr, &ip->daddr))
		return false;
	if (skb->ip_summed == CHECKSUM_NONE || skb->ip_summed == CHECKSUM_COMPLETE)
		sum = csum_ipv6_magic(&ip->saddr, &ip->daddr, skb->len - len, IPPROTO_UDP,
				      csum_partial(uh, skb->len - len, 0));
	ret->family = AF_INET6;
	ret->port = uh->source;
	ret->remote6 = ip->saddr;
	ret->local6 = ip->daddr;
	return checksum_is_right(skb, len, sum);
}
#else
static bool datagram6(const struct sk_buff *skb, const struct bftm_frame *frame,
		      struct bftm_address *ret)
{
	return false;
}
#endif

bool bftm_frame_fits(struct sk_buff *skb, const struct bftm_frame *frame,
		     struct bftm_address *ret)
{
	if (skb_is_nonlinear(skb))
		return false;
	memset(ret, 0, sizeof(*ret));
	if (skb->protocol == htons(ETH_P_IP)) {
		if (!datagram4(skb, frame, ret))
			return false;
	} else if (skb->protocol != htons(ETH_P_IPV6) || frame->only4 ||
		   !datagram6(skb, frame, ret)) {
		return false;
	}
	/* A bridge, a bond, a VRF or a macvlan decides about what comes by its ports. */
	return frame_is_ours(skb) && frame_is_plain(skb) &&
	       skb->len <= READ_ONCE(skb->dev->mtu) &&
	       !netdev_master_upper_dev_get_rcu(skb->dev) &&
	       !rcu_access_pointer(skb->dev->rx_handler) && !policies_exist(dev_net(skb->dev));
}
