// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "version1.h"

void version1_put(const struct bftm_msg *m, struct bftm_mac *mac, struct version1 *ret)
{
	*ret = (struct version1){
		.version = 1, .type = m->type, .proto = BFTM_PROTO_BACKOFF,
		.name_len = m->name_len,
		.cluster = cpu_to_le32(m->cluster), .client = cpu_to_le32(m->client),
		.server = cpu_to_le16(m->server), .flags = 0,
		.epoch = cpu_to_le64(m->server_epoch), .seq = cpu_to_le64(m->seq),
		.attempt = cpu_to_le64(m->attempt), .k = cpu_to_le32(m->k),
		.position = cpu_to_le32(m->position), .lease_ns = cpu_to_le64(m->lease_ns),
		.prio = cpu_to_le64(m->prio), .gno = cpu_to_le64(m->gno),
		.token = cpu_to_le64(m->token),
	};
	memcpy(ret->name, m->name, m->name_len);
	if (bftm_mac_sign_bytes(mac, ret, sizeof(*ret)) < 0)
		abort();
}
