// SPDX-License-Identifier: GPL-2.0
/* The shipped cores, as they are. */
#include "core/quorum.h"
#include "protocol.h"

const struct protocol protocol_ours = {
	.name = "ours",
	.what = "kmod/core: leases from the send, F FREE win; asynchronous",
	.releases = true,
	.servers_needed = bftm_servers_needed,
	.start = bftm_contend_start,
	.answer = bftm_contend_answer,
	.wake = bftm_contend_wake,
	.stop = bftm_contend_stop,
	.end = bftm_contend_end,
	.core = &bftm_backoff,
};
