/* SPDX-License-Identifier: GPL-2.0 */
/* A server of the network namespace of a netlink socket, as scenarios start it. */
#ifndef BFTM_RACES_SERVER_H
#define BFTM_RACES_SERVER_H

#include <arpa/inet.h>
#include <inttypes.h>

#include "crypto/keys.h"
#include "selftests/module/netlink/netlink.h"
#include "races.h"

/* Quarantine and leases are over at once, or as soon as a program has used one. */
#define SHORT		MS
#define LONGER		(100 * MS)
/* For traffic to be answered; most times it is at once. */
#define WAIT_MS		200

/* Ask as often as what was asked for is only late. */
static inline bool soon(bool (*is_so)(void *arg), void *arg)
{
	uint64_t end = now_ns() + LONG_MS * MS;

	while (!is_so(arg)) {
		if (now_ns() > end)
			return false;
		usleep(200);
	}
	return true;
}

/** races_start_msg() - server-start, to which attributes can be added; ends on no key */
struct nl_msg *races_start_msg(struct races *r, struct bftm_nl *nl, uint32_t max_locks,
			       uint64_t lease_max_ns);

/** races_stop() - stop the server of this namespace. False: it did not, and said. */
bool races_stop(struct bftm_nl *nl);

/** races_start_server() - with so many locks at most. False: said. */
bool races_start_server(struct races *r, struct bftm_nl *nl, uint32_t max_locks,
			uint64_t lease_max_ns);

/** races_load() - the module, with @param besides dyndbg. Return: 0, -errno. */
int races_load(struct races *r, const char *param);

#endif /* BFTM_RACES_SERVER_H */
