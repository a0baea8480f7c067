// SPDX-License-Identifier: GPL-2.0
/*
 * One server asked by a client in user space, each datagram signed and verified:
 *
 *	try NAME COUNT SERVER ADDRESS CREDENTIALS
 *
 * Prints NAME, a TRY that is granted from the first byte of the request to the
 * last check of the answer; NAME_wire, what of it passes between send and recv;
 * and NAME_macs, what its two tags cost the client.
 */
#include "selftests/lib/datagram.h"
#include "bench.h"

#define WARM_UP	20

static struct bftm_wire wire;

/* Prepared as prepare() does, but for the tag. */
static void fill(struct peer *p, struct bftm_msg *m)
{
	m->proto = BFTM_PROTO_BACKOFF;
	m->cluster = p->cluster;
	m->client = p->client;
	m->server = p->server;
	m->server_epoch = p->epoch;
	m->seq = ++p->seq;
	bftm_wire_put(m, &wire);
}

static void once(struct peer *p, struct bftm_msg m, u8 want, struct bench_times t[3])
{
	u64 begin = bench_now(), sign, sent, got, end;
	struct bftm_wire in;
	struct bftm_msg r;
	ssize_t len;

	fill(p, &m);
	sign = bench_now();
	if (bftm_mac_sign(p->request, &wire) < 0)
		abort();
	sent = bench_now();
	if (send(p->fd, wire.data, wire.len, 0) != (ssize_t)wire.len)
		err(EX_UNAVAILABLE, "send");
	len = recv(p->fd, in.data, sizeof(in.data), 0);
	got = bench_now();
	if (len < BFTM_DATAGRAM_MIN)
		errx(EX_PROTOCOL, "no answer");
	in.len = (size_t)len;
	if (!bftm_mac_verify(p->reply, &in))
		errx(EX_PROTOCOL, "a wrong answer");
	end = bench_now();
	if (bftm_wire_get(in.data, in.len, &r) != BFTM_WIRE_OK || r.type != want || r.seq != m.seq)
		errx(EX_PROTOCOL, "%s instead of %s", bftm_msg_name(r.type), bftm_msg_name(want));
	if (!t)
		return;
	bench_add(&t[0], bench_now() - begin);
	bench_add(&t[1], got - sent);
	bench_add(&t[2], sent - sign + end - got);
}

int main(int argc, char **argv)
{
	static const char *const part[] = { "", "_wire", "_macs" };
	const struct timeval patience = { .tv_sec = 5 };
	struct bench_times t[3];
	char name[128];
	u32 count, i;
	struct peer p = {};
	u64 attempt;

	if (argc != 6)
		errx(EX_USAGE, "try NAME COUNT SERVER ADDRESS CREDENTIALS");
	count = bench_number("COUNT", argv[2], 1, BENCH_COUNT_MAX);
	open_peer(&p, (u16)bench_number("SERVER", argv[3], 1, 65535), argv[4], argv[5]);
	setsockopt(p.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	for (i = 0; i < 3; i++)
		bench_alloc(&t[i], count);
	hello(&p);
	attempt = fresh();
	for (i = 0; i < WARM_UP + count; i++) {
		once(&p, request(BFTM_MSG_TRY, "bench", ++attempt), BFTM_MSG_FREE,
		     i < WARM_UP ? NULL : t);
		once(&p, request(BFTM_MSG_RELEASE, "bench", attempt), BFTM_MSG_RELEASED, NULL);
	}
	for (i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s%s", argv[1], part[i]);
		bench_print(name, &t[i]);
	}
	return failures != 0;
}
