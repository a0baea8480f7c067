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
 * struct bftm_udp_rooms - memory for datagrams of one length that are sent at once, zeroed first
 * @at:   of the next
 * @left: so many have memory already
 */
struct bftm_udp_rooms {
	void *at;
	u32 left;
};

/**
 * bftm_udp_room() - a datagram to be written
 * @rooms: memory that the calls share
 * @count: this one and those that follow it: so many calls take what is in @rooms
 * @len:   bytes of each
 * Context: softirqs off. Return: NULL without memory.
 */
struct sk_buff *bftm_udp_room(struct bftm_udp_rooms *rooms, u32 count, size_t len);

/** bftm_udp_rooms_end() - after fewer calls than the first one was told: gives back what is left */
static inline void bftm_udp_rooms_end(const struct bftm_udp_rooms *rooms)
{
	if (rooms->left)
		skb_free_frag(rooms->at);
}

/**
 * bftm_udp_out4() - put the headers before a datagram and send it
 * @net:  namespace of @sk
 * @sk:   by its type of service
 * @skb:  its payload, with room for them; its route is set. Taken in any case.
 * @to:   both ends, of AF_INET
 * @port: of the source, as on the wire
 * Return: negative when it did not go out, such as -EPERM of a packet filter.
 */
int bftm_udp_out4(struct net *net, struct sock *sk, struct sk_buff *skb,
		  const struct bftm_address *to, __be16 port);

/** bftm_udp_out6() - the same of AF_INET6, by @sk's traffic class */
int bftm_udp_out6(struct net *net, struct sock *sk, struct sk_buff *skb,
		  const struct bftm_address *to, __be16 port);

/**
 * bftm_udp_send() - send it, as if a program had by this socket
 * @net:  namespace of @sk
 * @sk:   of AF_INET6; its device, mark, priority, owner and room for what is sent count
 * @to:   without a local address the route decides
 * @route: to there, remembered
 * @skb:  of bftm_udp_room(); taken in any case
 *
 * Context: softirqs off. Return: negative when it did not go out.
 */
int bftm_udp_send(struct net *net, struct sock *sk, const struct bftm_address *to,
		  struct dst_cache *route, struct sk_buff *skb);

/**
 * bftm_udp_hear() - hand a datagram on, so that a fuzzer sees where it has gone
 * @hear: an encap_rcv; it is called as is by a kernel without KCOV
 * @sk:   that it came by
 * @skb:  the datagram
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
