// SPDX-License-Identifier: GPL-2.0
/*
 * A server that is stopped and started while a lock is held there, again and again: in
 * its quarantine neither the holder nor another gets anything but WAIT. Longest leases
 * are drawn anew each time, 1 to 4 ms.
 *
 *	reloads COUNT SEED SERVER-KEY ADDRESS CREDENTIALS CREDENTIALS
 *
 * runs where clients are, with the server in /run/netns/bftm-s1. The last line on stdout
 * has what was counted; each violation is a line on stderr, and the exit status is 1.
 */
#include <fcntl.h>
#include <sched.h>

#include "kernel/nl.h"
#include "core/lease.h"
#include "selftests/lib/datagram.h"
#include "selftests/core/sim/rng.h"

#define LOCK	"reload"

/* The holder of the lock when the server stops, and its rival. */
struct client {
	struct peer peer;
	u64 attempt;
	u32 k;
};

static struct {
	u64 asked, waited, early;
	u64 least_ns;		/* from the end of a quarantine to a grant */
} total = { .least_ns = ~0ull };

static u64 now_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

static void enter_server(struct bftm_nl *nl)
{
	int fd = open("/run/netns/bftm-s1", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET) < 0 || bftm_nl_open(nl) < 0) {
		perror("bftm-s1");
		exit(EX_NOINPUT);
	}
	close(fd);
}

static void call(struct bftm_nl *nl, struct nl_msg *msg, const char *what)
{
	int err = bftm_nl_call(nl, msg, NULL, 0, NULL);

	if (!err)
		return;
	fprintf(stderr, "reloads: %s: %s %s\n", what, strerror(-err), nl->error);
	exit(EX_UNAVAILABLE);
}

static void start(struct bftm_nl *nl, const struct bftm_master *master, u64 lease_max_ns)
{
	struct nl_msg *msg = bftm_nl_msg(nl, BFTMUTEX_CMD_SERVER_START, 0);

	nla_put_u32(msg, BFTMUTEX_A_SERVER_CLUSTER, master->cluster);
	nla_put_u16(msg, BFTMUTEX_A_SERVER_ID, master->server);
	nla_put(msg, BFTMUTEX_A_SERVER_KEY, sizeof(master->key), master->key);
	nla_put_u64(msg, BFTMUTEX_A_SERVER_LEASE_MAX_NS, lease_max_ns);
	nla_put_u32(msg, BFTMUTEX_A_SERVER_MAX_LOCKS, 64);
	nla_put_u32(msg, BFTMUTEX_A_SERVER_MAX_CLIENTS, 16);
	call(nl, msg, "start");
}

static void stop(struct bftm_nl *nl)
{
	call(nl, bftm_nl_msg(nl, BFTMUTEX_CMD_SERVER_STOP, 0), "stop");
}

/* One TRY. Return: its answer; one in another epoch is asked again. */
static struct bftm_msg try_once(struct client *c, u64 lease_ns)
{
	struct bftm_msg m, r;
	int turn;

	for (turn = 0; turn < 4; turn++) {
		m = request(BFTM_MSG_TRY, LOCK, c->attempt);
		m.k = ++c->k;
		m.lease_ns = lease_ns;
		tell(&c->peer, m);
		do {
			if (!hear(&c->peer, &r, PATIENCE_MS)) {
				fprintf(stderr, "reloads: no answer\n");
				exit(EX_UNAVAILABLE);
			}
		} while (r.seq != c->peer.seq);
		if (r.type != BFTM_MSG_STALE)
			return r;
		c->peer.epoch = r.server_epoch;
	}
	fprintf(stderr, "reloads: a new epoch with each answer\n");
	exit(EX_PROTOCOL);
}

static void next_attempt(struct client *c)
{
	c->attempt = fresh();
	c->k = 0;
}

static void give_back(struct client *c)
{
	ask(&c->peer, request(BFTM_MSG_RELEASE, LOCK, c->attempt), BFTM_MSG_RELEASED, "RELEASE");
}

/* Nothing comes unasked for half of the time that a server says it will take. */
static void listen_to(struct client *c, u64 left_ns)
{
	const struct timespec half = { .tv_nsec = (long)(left_ns / 2) };
	struct pollfd fd[2] = {
		{ .fd = c[0].peer.fd, .events = POLLIN },
		{ .fd = c[1].peer.fd, .events = POLLIN },
	};

	/* Near the end there is no time to lose. */
	if (left_ns > 100000 && left_ns < BFTM_NS_PER_SEC && ppoll(fd, 2, &half, NULL) > 0) {
		total.early++;
		fprintf(stderr, "heard something %" PRIu64 " ns too early\n", left_ns);
	}
}

/* Both ask in turn until one gets it: not before @quarantine_ns, nor @deadline_ns. */
static struct client *contend(struct client *c, u64 quarantine_ns, u64 deadline_ns, u64 lease_ns)
{
	u64 not_before = quarantine_ns > deadline_ns ? quarantine_ns : deadline_ns, at;
	struct bftm_msg answer;
	unsigned int turn;

	for (turn = 0;; turn++) {
		answer = try_once(&c[turn % 2], lease_ns);
		at = now_ns();
		total.asked++;
		if (answer.type == BFTM_MSG_FREE)
			break;
		total.waited++;
		if (answer.type != BFTM_MSG_WAIT) {
			fprintf(stderr, "reloads: %s instead of WAIT\n",
				bftm_msg_name(answer.type));
			exit(EX_PROTOCOL);
		}
		listen_to(c, answer.lease_ns);
	}
	if (at <= not_before) {
		total.early++;
		fprintf(stderr, "granted %" PRIu64 " ns too early\n", not_before - at);
	} else if (at - not_before < total.least_ns) {
		total.least_ns = at - not_before;
	}
	return &c[turn % 2];
}

static void reloads(struct bftm_nl *nl, const struct bftm_master *master, struct client *c,
		    u64 count, u64 seed)
{
	u64 lease_max = 4 * BFTM_NS_PER_MS, lease, deadline, began, i;
	struct rng rng = { seed };
	struct client *holder;

	start(nl, master, lease_max);
	for (i = 0; i < count; i++) {
		next_attempt(&c[0]);
		next_attempt(&c[1]);
		lease = rng_between(&rng, BFTM_LEASE_MIN_NS, lease_max);
		do {
			deadline = now_ns() + bftm_lease_at_client(lease, BFTM_RHO_DEFAULT_PPM);
		} while (try_once(&c[0], lease).type != BFTM_MSG_FREE);
		stop(nl);
		lease_max = rng_between(&rng, BFTM_LEASE_MIN_NS, 4 * BFTM_NS_PER_MS);
		began = now_ns();
		start(nl, master, lease_max);
		holder = contend(c, began + bftm_lease_at_server(lease_max, BFTM_RHO_DEFAULT_PPM),
				 deadline, BFTM_LEASE_MIN_NS);
		give_back(holder);
	}
	stop(nl);
}

int main(int argc, char **argv)
{
	struct client c[2] = {};
	struct bftm_master master;
	struct bftm_nl nl;
	u64 count, seed;

	if (argc != 7) {
		fprintf(stderr, "usage: reloads COUNT SEED KEY ADDRESS CREDENTIALS CREDENTIALS\n");
		return EX_USAGE;
	}
	count = strtoull(argv[1], NULL, 10);
	seed = strtoull(argv[2], NULL, 10);
	if (!count || bftm_master_load(argv[3], &master) < 0) {
		fprintf(stderr, "reloads: a COUNT of 1 or more and a key file, not '%s', '%s'\n",
			argv[1], argv[3]);
		return EX_USAGE;
	}
	open_peer(&c[0].peer, master.server, argv[4], argv[5]);
	open_peer(&c[1].peer, master.server, argv[4], argv[6]);
	enter_server(&nl);
	reloads(&nl, &master, c, count, seed);
	printf("%" PRIu64 " reloads, asked %" PRIu64 " times, %" PRIu64 " WAIT, %" PRIu64
	       " granted too early, the soonest %" PRIu64 " ns after the end\n", count,
	       total.asked, total.waited, total.early, total.least_ns);
	return total.early || failures;
}
