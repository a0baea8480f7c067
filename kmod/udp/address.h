/* SPDX-License-Identifier: GPL-2.0 */
/* Where datagrams come from. */
#ifndef BFTM_ADDRESS_H
#define BFTM_ADDRESS_H

#include <linux/in6.h>
#include <linux/types.h>

/**
 * struct bftm_address - where a datagram came from, and so where to send one
 * @remote6: the other's, for AF_INET6
 * @local6:  ours
 * @remote4: the other's, for AF_INET
 * @local4:  ours
 * @port:    the other's; ours is the server's
 * @family:  AF_INET, AF_INET6, or 0 for nowhere
 * @ifindex: of the interface, 0 unless the address means nothing without it: a link's own, or
 *           one of a VRF, whose device it is then
 * @mark:    for a datagram there, where the namespace reflects marks; else 0
 */
struct bftm_address {
	union {
		struct {
			struct in6_addr remote6;
			struct in6_addr local6;
		};
		struct {
			__be32 remote4;
			__be32 local4;
		};
	};
	__be16 port;
	u16 family;
	int ifindex;
	u32 mark;
};

#endif /* BFTM_ADDRESS_H */
