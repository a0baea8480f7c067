/* SPDX-License-Identifier: GPL-2.0 */
/* A netlink packet in the making, part by part. A part for which it has no room is left out. */
#ifndef BFTM_FUZZ_PACKET_H
#define BFTM_FUZZ_PACKET_H

#include <linux/netlink.h>
#include <string.h>

#include "core/types.h"

/** struct packet - @len of @room bytes are made */
struct packet {
	u8 *bytes;
	size_t len, room;
};

/** packet_add() - a part of zeroes; Return: NULL when there is no room */
static inline void *packet_add(struct packet *p, size_t len)
{
	size_t padded = NLMSG_ALIGN(len);
	u8 *at = p->bytes + p->len;

	if (padded > p->room - p->len)
		return NULL;
	p->len += padded;
	return memset(at, 0, padded);
}

static inline void packet_add_bytes(struct packet *p, const void *data, size_t len)
{
	void *at = packet_add(p, len);

	if (at && len)
		memcpy(at, data, len);
}

/** packet_since() - bytes that were made since the part @at began */
static inline size_t packet_since(const struct packet *p, const void *at)
{
	return (size_t)(p->bytes + p->len - (const u8 *)at);
}

#endif /* BFTM_FUZZ_PACKET_H */
