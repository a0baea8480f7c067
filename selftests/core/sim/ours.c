// SPDX-License-Identifier: GPL-2.0
/* The shipped cores, as they are. */
#include "core/backoff/protocol.h"
#include "protocol.h"

const struct protocol protocol_ours = {
	.name = "ours",
	.what = "kmod/core: leases from the send, F FREE win; asynchronous",
	.releases = true,
	.core = &bftm_backoff,
};

const struct protocol protocol_sigma = {
	.name = "sigma",
	.what = "kmod/core: m FREE win, and servers restart without a quarantine; asynchronous",
	.releases = true,
	.spares = true,
	.core = &bftm_backoff,
};
