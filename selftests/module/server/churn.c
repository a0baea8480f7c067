// SPDX-License-Identifier: GPL-2.0
/*
 * Clients contend for one lock of a server that is started and stopped: they queue, are granted,
 * yield, release or disappear, in turn, until killed. Then the program prints the datagrams it got:
 * "answers=… pushes=…".
 *
 *	churn SERVER ADDRESS CREDENTIALS...
 *
 * All random choices follow from BFTMUTEX_SEED.
 */
#include <signal.h>

#include "selftests/lib/datagram.h"

#define PEERS_MAX 8

static volatile sig_atomic_t ended;
static unsigned long answers, pushes;

static void on_term(int signal)
{
	(void)signal;
	ended = 1;
}

static void say(struct peer *p, struct bftm_msg m)
{
	struct bftm_wire wire;

	prepare(p, &m, &wire);
	/* Lost while no server is there. */
	if (send(p->fd, wire.data, wire.len, 0) < 0)
		return;
}

static void try_again(struct peer *p, u64 attempt, u32 k)
{
	struct bftm_msg m = request(BFTM_MSG_TRY, "churn", attempt);

	m.flags = 0;
	m.k = k;
	m.prio = (u64)rand() % 4;
	/* Many leases are over before the next request. */
	m.lease_ns = BFTM_LEASE_MIN_NS;
	say(p, m);
}

static void react(struct peer *p, const struct bftm_msg *r)
{
	struct bftm_msg m = request(BFTM_MSG_YIELD, "churn", r->attempt);

	p->epoch = r->server_epoch;
	answers++;
	pushes += !r->seq;
	switch (r->type) {
	case BFTM_MSG_INQUIRE:
		m.gno = r->gno;
		say(p, m);
		break;
	case BFTM_MSG_FREE:
		/* Every fourth leaves it to the timer. */
		if (rand() % 4)
			say(p, request(BFTM_MSG_RELEASE, "churn", r->attempt));
		break;
	}
}

int main(int argc, char **argv)
{
	const char *seed = getenv("BFTMUTEX_SEED");
	int n = argc - 3, i, turn;
	struct peer p[PEERS_MAX];
	struct bftm_msg r;

	if (n < 1 || n > PEERS_MAX) {
		fputs("usage: churn SERVER ADDRESS CREDENTIALS...\n", stderr);
		return EX_USAGE;
	}
	srand(seed ? (unsigned int)strtoul(seed, NULL, 10) : 1);
	signal(SIGTERM, on_term);
	for (i = 0; i < n; i++)
		open_peer(&p[i], (u16)atoi(argv[1]), argv[2], argv[3 + i]);
	for (turn = 0; !ended; turn++) {
		for (i = 0; i < n; i++) {
			try_again(&p[i], fresh(), 1);
			while (hear(&p[i], &r, 0))
				react(&p[i], &r);
		}
		/* Leaves the processor to others, if there is only one. */
		usleep(turn % 4 ? 500 : 5000);
	}
	printf("answers=%lu pushes=%lu\n", answers, pushes);
	return failures != 0;
}
