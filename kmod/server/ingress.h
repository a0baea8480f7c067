/* SPDX-License-Identifier: GPL-2.0 */
/* Requests that are taken at a network device, before IP, routing and sockets. */
#ifndef BFTM_INGRESS_H
#define BFTM_INGRESS_H

#include <linux/skbuff.h>

struct bftm_address;
struct bftm_server;
struct netlink_ext_ack;

/**
 * bftm_ingress_open() - hook the server into the device that param.ingress names, if it names one
 * @server: the server, whose sockets are open; the hook takes nothing before bftm_ingress_begin()
 * @extack: gets the reason of a failure; may be NULL
 * Context: process. Return: 0 or an error; then bftm_hook_close() is due all the same.
 */
int bftm_ingress_open(struct bftm_server *server, struct netlink_ext_ack *extack);

/** bftm_ingress_begin() - from now on the hook, if there is one, takes requests */
void bftm_ingress_begin(struct bftm_server *server);

/**
 * bftm_ingress_name() - the device that has the hook now
 * @server: the server, which stays
 * @ret:    its name, of IFNAMSIZ bytes; empty for none
 * Context: process.
 */
void bftm_ingress_name(const struct bftm_server *server, char *ret);

/**
 * bftm_ingress_device() - the device that a request was taken at
 * @skb: the request, of a server that has a hook or had one
 *
 * Every request that came through IP has a route, and one that was taken at a device has none.
 *
 * Return: NULL when it came by a socket.
 */
static inline struct net_device *bftm_ingress_device(const struct sk_buff *skb)
{
	return skb_dst(skb) ? NULL : skb->dev;
}

/**
 * bftm_ingress_send() - send an answer back the way that its request came, below IP
 * @server: the server
 * @dev:    the request's bftm_ingress_device()
 * @skb:    the request, whose payload is the signed answer now; taken in any case
 * @to:     both ends, as the request had them
 *
 * The frame's header is still where the request had it, in front of the headers of IP and UDP.
 *
 * Context: softirqs off, RCU read side.
 */
void bftm_ingress_send(struct bftm_server *server, struct net_device *dev, struct sk_buff *skb,
		       const struct bftm_address *to);

#endif /* BFTM_INGRESS_H */
