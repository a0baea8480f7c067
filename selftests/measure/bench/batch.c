// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the cost of a request for the server: bursts of signed requests, whose answers are read
 * when all have come.
 *
 *	batch NAME BURSTS SERVER ADDRESS CREDENTIALS [KIND]
 *
 * KIND is "right" (the default); "forged", with a wrong tag, or "stray", for
 * another server, to which there is no answer; or "lost", which never arrive.
 * Prints NAME_send and NAME_total, for one burst of BURST requests; total has the
 * taking of the answers, NAME_take, in it.
 *
 * A server in user space runs between sending and taking, without a switch of
 * context a datagram: the client goes before all others while it sends, and after
 * them afterwards. That is the best that can happen to such a server.
 */
#include <sched.h>

#include "selftests/lib/datagram.h"
#include "bench.h"
#include "mark.h"

#define BURST	64
#define WARM_UP	5

static struct bftm_wire out[BURST], in;
static u64 attempt;

static void run_as(int policy, int priority)
{
	const struct sched_param param = { .sched_priority = priority };

	if (sched_setscheduler(0, policy, &param) < 0)
		err(EX_NOPERM, "scheduler");
}

/* TRY and RELEASE of one lock in turn. */
static void make(struct peer *p, const char *kind)
{
	struct bftm_msg m;
	int i;

	for (i = 0; i < BURST; i++) {
		m = request(i & 1 ? BFTM_MSG_RELEASE : BFTM_MSG_TRY, "batch", attempt += !(i & 1));
		if (!strcmp(kind, "stray"))
			m.server = p->server + 1;
		prepare(p, &m, &out[i]);
		out[i].data[out[i].len - 1] ^= !strcmp(kind, "forged");
	}
}

static void burst(struct peer *p, bool answered, struct bench_times t[3])
{
	u64 before, sent, taking, taken;
	int i;

	run_as(SCHED_FIFO, 1);
	mark("begin");
	before = bench_now();
	for (i = 0; i < BURST; i++)
		if (send(p->fd, out[i].data, out[i].len, 0) < 0)
			err(EX_UNAVAILABLE, "send");
	sent = bench_now();
	run_as(SCHED_IDLE, 0);
	taking = bench_now();
	for (i = 0; answered && i < BURST; i++) {
		in.len = (size_t)recv(p->fd, in.data, sizeof(in.data), 0);
		if (in.len < BFTM_DATAGRAM_MIN || in.len > sizeof(in.data))
			err(EX_UNAVAILABLE, "%d of %d answered", i, BURST);
	}
	taken = bench_now();
	mark("end");
	bench_add(&t[0], sent - before);
	bench_add(&t[1], taken - before);
	bench_add(&t[2], taken - taking);
	if (answered && !bftm_mac_verify(p->reply, &in))
		errx(EX_PROTOCOL, "a wrong tag");
}

int main(int argc, char **argv)
{
	static const char *const part[] = { "_send", "_total", "_take" };
	const struct timeval patience = { .tv_sec = 5 };
	const char *kind = argc == 7 ? argv[6] : "right";
	bool answered = !strcmp(kind, "right");
	struct bench_times t[3];
	struct peer p = {};
	char name[128];
	u32 count, i;

	if (argc < 6 || argc > 7 || (!answered && strcmp(kind, "forged") &&
				     strcmp(kind, "stray") && strcmp(kind, "lost")))
		errx(EX_USAGE, "batch NAME BURSTS SERVER ADDRESS CREDENTIALS [forged|stray|lost]");
	count = bench_number("BURSTS", argv[2], 1, BENCH_COUNT_MAX);
	open_peer(&p, (u16)bench_number("SERVER", argv[3], 1, 65534), argv[4], argv[5]);
	setsockopt(p.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (strcmp(kind, "lost"))
		hello(&p);
	for (i = 0; i < 3; i++)
		bench_alloc(&t[i], count);
	attempt = fresh();
	for (i = 0; i < WARM_UP + count; i++) {
		make(&p, kind);
		if (i == WARM_UP)
			t[0].count = t[1].count = t[2].count = 0;
		burst(&p, answered, t);
		bench_settle(BENCH_MS);
	}
	for (i = 0; i < (answered ? 3u : 1u); i++) {
		snprintf(name, sizeof(name), "%s%s", argv[1], part[i]);
		bench_print(name, &t[i]);
	}
	return failures != 0;
}
