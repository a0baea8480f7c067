// SPDX-License-Identifier: GPL-2.0
/*
 * Clients that a server knows and that want nothing:
 *
 *	register FIRST LAST ADDRESS MASTER-KEY-FILE
 */
#include "selftests/lib/datagram.h"
#include "bench.h"

int main(int argc, char **argv)
{
	struct bftm_master master;
	struct bftm_pair pair;
	struct peer p = {};
	u32 last;

	if (argc != 5)
		errx(EX_USAGE, "register FIRST LAST ADDRESS MASTER-KEY-FILE");
	p.client = bench_number("FIRST", argv[1], 1, BFTM_CLIENT_ID_MAX);
	last = bench_number("LAST", argv[2], p.client, BFTM_CLIENT_ID_MAX);
	if (bftm_master_load(argv[4], &master) < 0)
		return EX_NOINPUT;
	p.cluster = master.cluster;
	p.server = master.server;
	p.fd = open_socket(argv[3]);
	p.seq = fresh();
	for (; p.client <= last && !failures; p.client++) {
		if (p.fd < 0 || bftm_derive(&master, p.client, &pair) < 0)
			errx(EX_UNAVAILABLE, "%s", argv[3]);
		p.request = bftm_mac_new(pair.request);
		p.reply = bftm_mac_new(pair.reply);
		hello(&p);
		/* In its epoch: from now on the server knows where it is. */
		ask(&p, request(BFTM_MSG_RELEASE, "none", fresh()), BFTM_MSG_RELEASED, "RELEASE");
		bftm_mac_free(p.request);
		bftm_mac_free(p.reply);
	}
	return failures ? EX_PROTOCOL : 0;
}
