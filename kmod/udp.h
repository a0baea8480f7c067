/* SPDX-License-Identifier: GPL-2.0 */
/* Datagrams from the kernel, by a socket that exists. */
#ifndef BFTM_UDP_H
#define BFTM_UDP_H

#include <linux/kcov.h>
#include <linux/skbuff.h>
#include <linux/types.h>

struct bftm_address;
struct dst_cache;
struct dst_entry;
struct net;
struct sock;

/**
 * bftm_udp_room() - a datagram of @len bytes to be written
 * Context: softirqs off. Return: NULL without memory.
 */
struct sk_buff *bftm_udp_room(size_t len);

/**
 * bftm_udp_out4() - put the headers before a datagram and send it
 * @skb:  its payload, with room for them; its route is set
 * @to:   both ends, of AF_INET
 * @port: of the source, as on the wire
 */
void bftm_udp_out4(struct net *net, struct sock *sk, struct sk_buff *skb,
		   const struct bftm_address *to, __be16 port);

/** bftm_udp_out6() - the same of AF_INET6; takes a reference to the route @dst */
void bftm_udp_out6(struct sock *sk, struct dst_entry *dst, struct sk_buff *skb,
		   const struct bftm_address *to, __be16 port);

/**
 * bftm_udp_send() - send it
 * @port: of the source, as on the wire
 * @to:   without a local address the route decides
 * @route: to there, remembered
 * @skb:  of bftm_udp_room(); the caller's still when it fails
 *
 * Context: softirqs off. Return: 0, or why it cannot go.
 */
int bftm_udp_send(struct net *net, struct sock *sk, __be16 port,
		  const struct bftm_address *to, struct dst_cache *route, struct sk_buff *skb);

/**
 * bftm_udp_hear() - what is done with a datagram, and who fuzzes sees where it has gone
 * @hear: an encap_rcv; it is called as is by a kernel without KCOV
 *
 * Context: softirq. Return: what @hear returns.
 */
static __always_inline int bftm_udp_hear(int (*hear)(struct sock *sk, struct sk_buff *skb),
					 struct sock *sk, struct sk_buff *skb)
{
	int passed;

	kcov_remote_start_common(skb_get_kcov_handle(skb));
	passed = hear(sk, skb);
	kcov_remote_stop();
	return passed;
}

#endif /* BFTM_UDP_H */
