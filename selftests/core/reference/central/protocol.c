// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "client.h"
#include "message.h"
#include "quorum.h"
#include "server.h"

const struct bftm_protocol protocol_central = {
	.number = PROTO_CENTRAL,
	.name = "central",
	.servers_needed = central_servers_needed,
	.server = &central_server,
	.client = &central_client,
};
