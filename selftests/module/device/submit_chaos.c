// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that submit, are signalled, run out of time and of room, against helpers that answer in
 * any order, refuse, are silent and die. In all cases an operation is handed to one helper only,
 * and a program gets the answer that a helper gave.
 *
 * All random choices follow from BFTMUTEX_SEED:
 *	BFTMUTEX_SEED=N selftests/vm/run -- selftests/module/device/submit.sh submit_chaos
 */
#include "harness.h"
#include "submit.h"

#define THREADS	6
#define EACH	120
#define COUNT	(THREADS * EACH)
#define GIVEN	8	/* operations that a helper has at once */

/* For each operation: how often it was handed over, and its answer. */
static struct {
	int handed, answered, refused;
} ops[COUNT];

static unsigned int seed;
static volatile int running;

/* Results that the programs got. */
static int outcomes[EOWNERDEAD + 1];

struct worker {
	pthread_t thread;
	int number, fd, wrong;
	unsigned int random;
};

static void on_signal(int signo)
{
	(void)signo;
}

/* Is it what the counts of the helpers say? */
static bool is_right(int op, int err, const struct bftm_submit *s, const char *response)
{
	int handed = __atomic_load_n(&ops[op].handed, __ATOMIC_SEQ_CST);
	char want[64];

	switch (err) {
	case 0:
		snprintf(want, sizeof(want), "response to %d", op);
		return handed == 1 && ops[op].answered == 1 && s->number == (uint64_t)op + 1 &&
		       s->response_len == strlen(want) && !memcmp(response, want, strlen(want));
	case -EACCES:
		return handed == 1 && ops[op].refused == 1;
	case -EINTR:
	case -ETIMEDOUT:
		return handed <= 1;
	case -EOWNERDEAD:
		return handed <= 1;	/* or the answer to its pull was lost */
	case -ENOTCONN:
		return !handed;	/* the machine stood still */
	default:
		return false;
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	char response[64], text[16];
	int i, err;

	for (i = 0; i < EACH; i++) {
		int op = w->number * EACH + i;
		struct bftm_submit s;

		snprintf(text, sizeof(text), "%d", op);
		s = text_on("x", text);
		s.timeout_ns = rand_r(&w->random) % 10 ? 0 : 1;
		make_room(&s, response, rand_r(&w->random) % 2 ? sizeof(response) : 5);
		err = submit(w->fd, &s);
		if (err == -EOVERFLOW)
			err = fetch(w->fd, s.id, response, sizeof(response), &s);
		if (err <= 0 && err >= -EOWNERDEAD)
			__atomic_add_fetch(&outcomes[-err], 1, __ATOMIC_SEQ_CST);
		if (!is_right(op, err, &s, response)) {
			fprintf(stderr, "operation %d: error %d\n", op, err);
			w->wrong++;
		}
	}
	__atomic_sub_fetch(&running, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/* One that was handed over. */
struct given {
	uint64_t id;
	int op;
};

static void decide(struct bftm_nl *nl, const struct given *g, unsigned int *random)
{
	char response[64];

	if (rand_r(random) % 4 == 0) {
		ops[g->op].refused++;
		refuse(nl, g->id, EACCES);
		return;
	}
	ops[g->op].answered++;
	snprintf(response, sizeof(response), "response to %d", g->op);
	answer(nl, g->id, 0, (uint64_t)g->op + 1, response);
}

/* Runs one helper after the other, until the programs are done. Returns how many died. */
static int help(struct bftm_nl *nl, unsigned int random)
{
	static struct asked a;
	struct given given[GIVEN];
	int count = 0, deaths = 0, i;

	while (__atomic_load_n(&running, __ATOMIC_SEQ_CST)) {
		nl->notified = false;
		if (count < GIVEN && !pull_asked(nl, &a)) {
			a.op[a.op_len] = '\0';
			if (a.head.kind == BFTMUTEX_REQUEST_KIND_SUBMIT) {
				given[count] = (struct given){ a.head.id, atoi(a.op) };
				__atomic_add_fetch(&ops[given[count++].op].handed, 1, __ATOMIC_SEQ_CST);
			}
		} else if (!count && !nl->notified) {
			poll_for(nl_socket_get_fd(nl->sock), POLLIN, 10);
		}
		if (count && rand_r(&random) % 3 == 0) {
			i = rand_r(&random) % count;
			/*
			 * This helper never answers some operations; it dies, or the programs get a
			 * signal.
			 */
			if (rand_r(&random) % 16)
				decide(nl, &given[i], &random);
			given[i] = given[--count];
		}
		if (rand_r(&random) % 64 == 0) {
			take_over(nl);
			count = 0;
			deaths++;
		}
	}
	return deaths;
}

/* A signal for some program every now and then. */
static void *disturb(void *arg)
{
	struct worker *workers = arg;
	unsigned int random = seed;

	while (__atomic_load_n(&running, __ATOMIC_SEQ_CST)) {
		pthread_kill(workers[rand_r(&random) % THREADS].thread, SIGUSR1);
		sleep_ns(3 * MS);
	}
	return NULL;
}

TEST(chaos)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct worker workers[THREADS] = {};
	const char *text = getenv("BFTMUTEX_SEED");
	pthread_t disturber;
	struct bftm_nl nl;
	int i, shared;

	seed = text ? (unsigned int)atoi(text) : (unsigned int)now_ns();
	TH_LOG("BFTMUTEX_SEED=%u", seed);
	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&nl));
	ASSERT_EQ(0, command(&nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	sigaction(SIGUSR1, &action, NULL);
	shared = open_here(0);
	running = THREADS;
	for (i = 0; i < THREADS; i++) {
		workers[i].number = i;
		workers[i].random = seed + (unsigned int)i;
		workers[i].fd = i % 2 ? open_here(0) : shared;
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	pthread_create(&disturber, NULL, disturb, workers);
	TH_LOG("%d helpers died", help(&nl, seed));
	pthread_join(disturber, NULL);
	for (i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		EXPECT_EQ(0, workers[i].wrong);
	}
	for (i = 0; i < COUNT; i++)
		EXPECT_LE(ops[i].handed, 1);
	TH_LOG("%d answered, %d refused, %d interrupted, %d timed out, %d of a dead helper",
	       outcomes[0], outcomes[EACCES], outcomes[EINTR], outcomes[ETIMEDOUT],
	       outcomes[EOWNERDEAD]);
	bftm_nl_close(&nl);
}

TEST_HARNESS_MAIN
