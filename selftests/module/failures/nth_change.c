// SPDX-License-Identifier: GPL-2.0
/* A client of objects that asks for a rank, which a journal must have before the answer. */
#include "selftests/module/objects/order_raw.h"
#include "nth_change.h"

void nth_change(uint32_t cluster, uint16_t server, const uint8_t *key, const char *object)
{
	struct peer p = { .cluster = cluster, .client = 1, .server = server, .seq = fresh() };
	struct bftm_msg hello = { .type = BFTM_MSG_HELLO };
	struct bftm_master master = { .cluster = cluster, .server = server };
	struct bftm_pair pair;
	struct answer a;
	struct bftm_wire wire;

	memcpy(master.key, key, sizeof(master.key));
	p.fd = open_socket("127.0.0.1");
	if (p.fd < 0 || bftm_derive(&master, p.client, &pair) < 0)
		abort();
	p.request = bftm_mac_new(pair.request);
	p.reply = bftm_mac_new(pair.reply);
	prepare(&p, &hello, &wire);
	say_wire(&p, &wire);
	if (!hear_order(&p, &a, PATIENCE_MS))
		abort();
	p.epoch = a.plain.server_epoch;
	snprintf(name, sizeof(name), "%s", object);
	/* Held until it is in the journal. */
	tell_order(&p, get(2));
	bftm_mac_free(p.request);
	bftm_mac_free(p.reply);
	close(p.fd);
}
