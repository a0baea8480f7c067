// SPDX-License-Identifier: GPL-2.0
/* Ten thousand submits of sixteen threads (a thousand in a short run), and the limits of a network namespace. */
#include <sys/resource.h>
#include <sysexits.h>

#include "harness.h"
#include "submit.h"

#define THREADS		16
#define EACH_MAX	625
#define COUNT_MAX	(THREADS * EACH_MAX)
#define REQUESTS_MAX	65536
#define HANDLES_MAX	131072
#define KEPT_MAX	64
#define BYTES_MAX	(64u << 20)

FIXTURE(many)
{
	struct bftm_nl nl;
	pthread_t helper;
	int fd;
};

FIXTURE_SETUP(many)
{
	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	self->fd = open_here(0);
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(many)
{
	close(self->fd);
	bftm_nl_close(&self->nl);
}

/* A helper with one object: a counter. It ends when it is told to. */
static void *count(void *arg)
{
	static struct asked a;
	struct bftm_nl *nl = arg;
	uint64_t version = 0;
	char response[32];

	while (!next_asked(nl, &a)) {
		version++;
		snprintf(response, sizeof(response), "%llu", (unsigned long long)version);
		if (a.op_len != 3 || memcmp(a.op, "add", 3)) {
			answer(nl, a.head.id, 0, version, "ended");
			return NULL;
		}
		if (answer(nl, a.head.id, 0, version, response))
			return arg;
	}
	return arg;
}

/* Submits of a thread, and of all. */
static int each(void)
{
	return short_run() ? EACH_MAX / 10 : EACH_MAX;
}

static int all(void)
{
	return THREADS * each();
}

/* Answers that a thread got. */
struct adder {
	pthread_t thread;
	int fd, failed;
	unsigned int got[EACH_MAX];
};

static void *add(void *arg)
{
	struct adder *a = arg;
	char response[32];
	int i;

	for (i = 0; i < each(); i++) {
		struct bftm_submit s = text_on("counter", "add");
		int fd = a->fd < 0 ? open_here(0) : a->fd;

		memset(response, 0, sizeof(response));
		make_room(&s, response, sizeof(response) - 1);
		if (submit(fd, &s) || s.number != strtoul(response, NULL, 10))
			a->failed++;
		a->got[i] = (unsigned int)s.number;
		if (a->fd < 0)
			close(fd);
	}
	return NULL;
}

/* Returns how many of 1 … all() were answered, each once and growing in each thread. */
static int add_all(struct bftm_nl *nl, pthread_t *helper, int fd)
{
	static struct adder adders[THREADS];
	static bool seen[COUNT_MAX + 1];
	int i, j, good = 0;

	pthread_create(helper, NULL, count, nl);
	for (i = 0; i < THREADS; i++) {
		adders[i].fd = fd;
		pthread_create(&adders[i].thread, NULL, add, &adders[i]);
	}
	for (i = 0; i < THREADS; i++) {
		unsigned int last = 0;

		pthread_join(adders[i].thread, NULL);
		if (adders[i].failed)
			return -1;
		for (j = 0; j < each(); j++) {
			unsigned int got = adders[i].got[j];

			if (got <= last || got > (unsigned int)all() || seen[got])
				return -1;
			seen[got] = true;
			last = got;
			good++;
		}
	}
	return good;
}

static void *end_helper(int fd, pthread_t helper)
{
	struct bftm_submit s = text_on("counter", "end");
	char response[32];
	void *failed;

	make_room(&s, response, sizeof(response));
	if (submit(fd, &s))
		abort();
	pthread_join(helper, &failed);
	return failed;
}

TEST_F_TIMEOUT(many, threads_on_one_handle, 1200)
{
	EXPECT_EQ(all(), add_all(&self->nl, &self->helper, self->fd));
	EXPECT_EQ(NULL, end_helper(self->fd, self->helper));
}

TEST_F_TIMEOUT(many, threads_on_many_handles, 1200)
{
	EXPECT_EQ(all(), add_all(&self->nl, &self->helper, -1));
	EXPECT_EQ(NULL, end_helper(self->fd, self->helper));
}

TEST_F_TIMEOUT(many, requests_up_to_the_limit, 1200)
{
	struct rlimit limit = { REQUESTS_MAX + 100, REQUESTS_MAX + 100 };
	struct program *p = calloc(1, sizeof(*p));
	struct bftm_submit s = text_on("x", "get");
	int fd = -1, i;
	uint64_t id;

	if (short_run())
		SKIP(return, "sixty thousand handles: in make check-all");
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	start_program(p, self->fd, s, 10);
	id = next_submit(&self->nl);
	for (i = 0; i < REQUESTS_MAX - 1; i++) {
		fd = open_here(O_NONBLOCK);
		ASSERT_EQ(-EINPROGRESS, acquire(fd, "lock", 0, 0, NULL));
	}
	fd = open_here(O_NONBLOCK);
	EXPECT_EQ(-ENOBUFS, acquire(fd, "lock", 0, 0, NULL));
	EXPECT_EQ(-ENOBUFS, submit(self->fd, &s));
	/* One of them less, one more; and none but that. */
	ASSERT_EQ(0, answer(&self->nl, id, 0, 1, "got"));
	EXPECT_EQ(0, end_program(p));
	EXPECT_EQ(-EINPROGRESS, acquire(fd, "lock", 0, 0, NULL));
	EXPECT_EQ(-ENOBUFS, submit(self->fd, &s));
	/* A helper that does not come back ends all of them at once. */
	release(fd);
	start_program(p, self->fd, s, 10);
	bftm_nl_close(&self->nl);
	EXPECT_EQ(-ENOTCONN, end_program(p));
	EXPECT_EQ(POLLIN, poll_for(fd - 1, POLLIN, LONG_MS));
	EXPECT_EQ(BFTM_STATE_FAILED, state_of(fd - 1));
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Time of an acquire of lock @i, the least of several. */
static uint64_t cost(int fd, int i)
{
	uint64_t least = ~0ull, begun, took;
	char name[16];
	int turn;

	snprintf(name, sizeof(name), "%d", i);
	for (turn = 0; turn < 5; turn++) {
		begun = now_ns();
		if (acquire(fd, name, 0, 0, NULL) != -EINPROGRESS)
			return 0;
		took = now_ns() - begun;
		least = took < least ? took : least;
		release(fd);
	}
	return least;
}

/* In an older module these requests were in one chain with every 1,024th other lock. */
TEST_F_TIMEOUT(many, who_want_one_lock_delay_no_other, 1200)
{
	enum { MANY_MAX = 30000, NAMES_MAX = 4096 };
	int many = short_run() ? MANY_MAX / 6 : MANY_MAX, names = short_run() ? 1100 : NAMES_MAX;
	struct rlimit limit = { MANY_MAX + 100, MANY_MAX + 100 };
	static uint64_t ns[NAMES_MAX], sorted[NAMES_MAX];
	int i, fd, turn, slow = 0;

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	for (i = 0; i < many; i++) {
		fd = open_here(O_NONBLOCK);
		ASSERT_EQ(-EINPROGRESS, acquire(fd, "lock", 0, 0, NULL));
	}
	fd = open_here(O_NONBLOCK);
	for (i = 0; i < names; i++)
		sorted[i] = ns[i] = cost(fd, i);
	qsort(sorted, names, sizeof(sorted[0]), by_value);
	ASSERT_NE(0, sorted[0]);
	/* A busy machine is slow now and then, but not always with the same. */
	for (i = 0; i < names; i++) {
		for (turn = 0; turn < 10 && ns[i] > 4 * sorted[names / 2]; turn++)
			ns[i] = cost(fd, i);
		slow += turn == 10;
	}
	TH_LOG("%llu ns, %d slow", (unsigned long long)sorted[names / 2], slow);
	EXPECT_EQ(0, slow);
}

TEST_F_TIMEOUT(many, handles_up_to_the_limit, 1200)
{
	struct rlimit limit = { HANDLES_MAX + 100, HANDLES_MAX + 100 };
	char words[128] = "";
	int fd = -1, i;
	FILE *tool;

	if (short_run())
		SKIP(return, "more than a hundred thousand handles: in make check-all");
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	for (i = 1; i < HANDLES_MAX; i++) {	/* the fixture's is one */
		fd = open_here(0);
		ASSERT_GE(fd, 0);
	}
	EXPECT_EQ(-ENFILE, open_here(0));
	tool = popen("bftmutex lock true 2>&1", "r");
	ASSERT_NE(NULL, tool);
	EXPECT_NE(NULL, fgets(words, sizeof(words), tool));
	EXPECT_NE(NULL, strstr(words, " or 131072 handles of this network namespace"));
	EXPECT_EQ(EX_OSERR << 8, pclose(tool));
	close(fd);
	EXPECT_EQ(fd, open_here(0));
}

static void *answer_long(void *arg)
{
	static const char response[BFTM_SUBMIT_MAX];
	static struct asked a;
	struct bftm_nl *nl = arg;

	while (!next_asked(nl, &a) && *(const char *)a.op == 'g')
		report(nl, a.head.id, NONE, 0, 1, response, sizeof(response));
	answer(nl, a.head.id, 0, 1, "ended");
	return NULL;
}

/* Each takes the room of the longest response, whatever room it gives itself. */
TEST_F_TIMEOUT(many, bytes_up_to_the_limit, 1200)
{
	static char op[BFTM_SUBMIT_MAX];
	struct bftm_submit s = text_on("x", "g"), first = s;
	const int most = BYTES_MAX / (1 + BFTM_SUBMIT_MAX);
	int fds[KEPT_MAX], i, err;
	char response[BFTM_SUBMIT_MAX];

	pthread_create(&self->helper, NULL, answer_long, &self->nl);
	for (i = 0; i < KEPT_MAX; i++)
		fds[i] = open_here(0);
	for (i = 0; i < most; i++) {
		s = text_on("x", "g");
		ASSERT_EQ(-EOVERFLOW, submit(fds[i / KEPT_MAX], &s));
		if (!i)
			first = s;
	}
	s = text_on("x", "g");
	EXPECT_EQ(-ENOBUFS, submit(self->fd, &s));
	make_room(&s, response, sizeof(response));
	EXPECT_EQ(-ENOBUFS, submit(self->fd, &s));
	/* The rest of the memory can be used to the last byte. */
	ASSERT_EQ(0, fetch(fds[0], first.id, response, sizeof(response), NULL));
	memset(op, 'g', sizeof(op));
	s = op_on("x", op, BYTES_MAX - (most - 1) * (1 + BFTM_SUBMIT_MAX) - BFTM_SUBMIT_MAX + 1);
	EXPECT_EQ(-ENOBUFS, submit(self->fd, &s));
	s.op_len--;
	EXPECT_EQ(-EOVERFLOW, submit(self->fd, &s));
	EXPECT_EQ(0, fetch(self->fd, s.id, response, sizeof(response), NULL));
	for (i = 0; i < KEPT_MAX; i++)
		close(fds[i]);
	/* All of the memory is free again. */
	for (i = 0; i < KEPT_MAX; i++) {
		s = text_on("x", "g");
		err = submit(self->fd, &s);
		EXPECT_EQ(-EOVERFLOW, err);
	}
	close(self->fd);
	self->fd = open_here(0);
	end_helper(self->fd, self->helper);
}

TEST_HARNESS_MAIN
