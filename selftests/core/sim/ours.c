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
