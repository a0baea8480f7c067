// SPDX-License-Identifier: GPL-2.0
/*
 * Measures how many requests a server answers when several clients ask at once, each bound to a
 * processor of its own:
 *
 *	load NAME ROUNDS SERVER ADDRESS CREDENTIALS...
 *
 * The client of the first CREDENTIALS runs on processor 0, the next on processor 1. Each takes and
 * releases a lock of its own without end, BURST requests at a time. Prints NAME: the time of a
 * round, divided by the requests of all clients that were answered in it.
 */
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "selftests/lib/datagram.h"
#include "bench.h"

#define BURST		64
#define ROUND_NS	(200 * BENCH_MS)

struct load {
	const char *server, *address, *credentials;
	int processor;
};

static void take_and_release(struct peer *p, const char *lock, u64 *attempt)
{
	struct bftm_wire wire = {};
	struct bftm_msg m;
	int i;

	for (i = 0; i < BURST; i++) {
		m = request(i & 1 ? BFTM_MSG_RELEASE : BFTM_MSG_TRY, lock, *attempt += !(i & 1));
		prepare(p, &m, &wire);
		if (send(p->fd, wire.data, wire.len, 0) < 0)
			err(EX_UNAVAILABLE, "send");
	}
	for (i = 0; i < BURST; i++) {
		ssize_t len = recv(p->fd, wire.data, sizeof(wire.data), 0);

		if (len < 0)
			err(EX_UNAVAILABLE, "%d of %d requests answered", i, BURST);
		wire.len = (size_t)len;
	}
	if (wire.len < BFTM_DATAGRAM_MIN || !bftm_mac_verify(p->reply, &wire) ||
	    bftm_wire_get(wire.data, wire.len, &m) != BFTM_WIRE_OK || m.type != BFTM_MSG_RELEASED)
		errx(EX_PROTOCOL, "a wrong answer");
}

static _Noreturn void client(const struct load *load, atomic_ulong *answered)
{
	const struct timeval patience = { .tv_sec = 5 };
	struct peer p = {};
	char lock[16];
	cpu_set_t set;
	u64 attempt;

	CPU_ZERO(&set);
	CPU_SET(load->processor, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		err(EX_OSERR, "processor %d", load->processor);
	open_peer(&p, (u16)bench_number("SERVER", load->server, 1, 65535), load->address,
		  load->credentials);
	setsockopt(p.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	snprintf(lock, sizeof(lock), "load-%d", load->processor);
	hello(&p);
	attempt = fresh();
	for (;;) {
		take_and_release(&p, lock, &attempt);
		*answered += BURST;
	}
}

static void nobody_ended(void)
{
	if (waitpid(-1, NULL, WNOHANG))
		errx(EX_SOFTWARE, "a client has ended");
}

int main(int argc, char **argv)
{
	struct bench_times t;
	atomic_ulong *answered;
	u32 rounds, i;

	if (argc < 6)
		errx(EX_USAGE, "load NAME ROUNDS SERVER ADDRESS CREDENTIALS...");
	rounds = bench_number("ROUNDS", argv[2], 1, BENCH_COUNT_MAX);
	bench_alloc(&t, rounds);
	answered = mmap(NULL, sizeof(*answered), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (answered == MAP_FAILED)
		err(EX_OSERR, "memory");
	for (i = 5; i < (u32)argc; i++) {
		struct load load = { argv[3], argv[4], argv[i], (int)i - 5 };
		pid_t pid = fork();

		if (pid < 0)
			err(EX_OSERR, "fork");
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			client(&load, answered);
		}
	}
	/* The first round is for getting warm. */
	for (i = 0; i <= rounds; i++) {
		u64 begin = bench_now(), before = *answered, requests;

		bench_settle(ROUND_NS);
		requests = *answered - before;
		nobody_ended();
		if (!requests)
			errx(EX_UNAVAILABLE, "no answer in a round");
		if (i)
			bench_add(&t, (bench_now() - begin) / requests);
	}
	bench_print(argv[1], &t);
	printf("%s.requests %lu requests\n", argv[1], *answered);
	return 0;
}
