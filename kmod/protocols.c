// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The protocols for locks that hosts run. */
#include "core/backoff/protocol.h"
#include "core/protocol.h"

const struct bftm_protocol *const bftm_protocols[] = {
	&bftm_backoff,
	NULL,
};
