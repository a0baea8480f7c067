/* SPDX-License-Identifier: GPL-2.0 */
/* Tells frames that are certainly requests for the server from all others. */
#ifndef BFTM_INGRESS_REQUEST_H
#define BFTM_INGRESS_REQUEST_H

#include <linux/types.h>

struct bftm_address;
struct bftm_server;
struct sk_buff;

/**
 * bftm_ingress_is_request() - may the server take this frame before IP sees it?
 * @server: the server
 * @skb:    the frame at its device's ingress, beginning with the header of IP
 * @ret:    where it came from
 *
 * Yes if IP and UDP would certainly bring it to the server's socket, and it is about locks, in
 * this version of the wire format. Then its headers are those of Ethernet, IP and UDP, without
 * options, and its buffer may become the answer. Answers about objects may have to wait for the
 * journal: their requests go through IP.
 *
 * Context: softirqs off, RCU read side.
 * Return: false: it is left as it was, and @ret means nothing.
 */
bool bftm_ingress_is_request(const struct bftm_server *server, struct sk_buff *skb,
			     struct bftm_address *ret);

#endif /* BFTM_INGRESS_REQUEST_H */
