/* SPDX-License-Identifier: GPL-2.0 */
/* Frames at a device, with messages about locks, that IP would certainly bring to a socket. */
#ifndef BFTM_FRAME_H
#define BFTM_FRAME_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/types.h>

struct bftm_address;

/**
 * struct bftm_frame - datagrams that are looked for
 * @port:     to which they go
 * @only4:    none of IPv6
 * @answered: the source gets an answer, so it has to be another host's address; else nobody uses
 *            the source, and over IPv4 it is not looked at
 */
struct bftm_frame {
	__be16 port;
	bool only4;
	bool answered;
};

/**
 * bftm_frame_fits() - has this frame a message about locks that is for a socket of its namespace?
 * @skb:   the frame at its device's ingress, beginning with the header of IP; not changed
 * @frame: what is looked for
 * @ret:   both ends
 *
 * The socket is one that hears the port at every address and by every device, and IP and UDP would
 * bring the frame there, unless a filter, rp_filter or, where it is not looked at, the source is
 * in the way. False whenever that is not certain: then IP decides. Messages about objects, whose
 * answers may have to wait, and other versions go through IP. A frame that fits is in one piece,
 * nobody else has it or may still write to it, and its headers are the shortest ones.
 *
 * Context: softirqs off, RCU read side.
 */
bool bftm_frame_fits(struct sk_buff *skb, const struct bftm_frame *frame,
		     struct bftm_address *ret);

/** bftm_frame_ip_len() - bytes of the header of IP of a frame that fits, whose ends are @family */
static inline unsigned int bftm_frame_ip_len(u16 family)
{
	return family == AF_INET ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
}

#endif /* BFTM_FRAME_H */
