/* SPDX-License-Identifier: GPL-2.0 */
/* Datagrams of other versions of the wire format. */
#ifndef BFTM_OTHER_VERSION_H
#define BFTM_OTHER_VERSION_H

#include <linux/types.h>

struct bftm_address;
struct bftm_server;
struct sk_buff;

/**
 * bftm_is_other_version() - is this datagram of another version than the server's?
 * @skb: begins with its UDP header
 */
bool bftm_is_other_version(const struct sk_buff *skb);

/**
 * bftm_other_version_receive() - a datagram of another version
 * @server: the server
 * @skb:    as of struct bftm_service, with the same end
 * @from:   where the datagram came from
 *
 * An authentic and fresh request of a later version is answered by VERSION. The first authentic
 * one of version 1 of each client is logged. All else is dropped.
 *
 * Context: softirq, RCU read side. Return: true when it was answered.
 */
bool bftm_other_version_receive(struct bftm_server *server, struct sk_buff **skb,
				const struct bftm_address *from);

#endif /* BFTM_OTHER_VERSION_H */
