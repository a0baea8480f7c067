// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* In place of kmod/protocols.c: with the protocols that no host runs. */
#include "core/backoff/protocol.h"
#include "core/protocol.h"
#include "central/message.h"

const struct bftm_protocol *const bftm_protocols[] = {
	&bftm_backoff,
	&protocol_central,
	NULL,
};
