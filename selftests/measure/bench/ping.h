/* SPDX-License-Identifier: GPL-2.0 */
/* ICMP echo, as ping(8) has it. */
#ifndef BFTM_BENCH_PING_H
#define BFTM_BENCH_PING_H

#include <netinet/ip_icmp.h>

#include "bench.h"

#define PING_LEN	56	/* what ping(8) sends */

/* @fd is of bench_connect(address, 0, SOCK_DGRAM, IPPROTO_ICMP); returns ns. */
static inline uint64_t ping_once(int fd, uint16_t sequence, const char *address)
{
	struct {
		struct icmphdr head;
		char data[PING_LEN];
	} out = { .head.type = ICMP_ECHO }, in;
	uint64_t before, took;

	out.head.un.echo.sequence = htons(sequence);
	before = bench_now();
	if (send(fd, &out, sizeof(out), 0) < 0 || recv(fd, &in, sizeof(in), 0) < 0)
		err(EX_UNAVAILABLE, "%s", address);
	took = bench_now() - before;
	if (in.head.type != ICMP_ECHOREPLY || in.head.un.echo.sequence != out.head.un.echo.sequence)
		errx(EX_PROTOCOL, "%s: another answer", address);
	return took;
}

#endif /* BFTM_BENCH_PING_H */
