// SPDX-License-Identifier: GPL-2.0
/*
 * Many scenarios, by several processes: worker j of J runs every J-th seed and
 * writes down a pipe what it did since the last time. The first failure ends it
 * all. A worker that dies has left the number of its seed in shared memory.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

#define REPORT_NS	(300 * BFTM_NS_PER_MS)

/** struct report - of a worker, about what it did since the last one */
struct report {
	struct stats stats;
	u64 digest;
	u64 failed_seed;
	u64 cpu_ns;
	bool failed;
};

/** struct batch - what the parent knows */
struct batch {
	const struct options *opt;
	volatile u64 *current;	/* seed of each worker, shared with them */
	struct stats stats;
	u64 digest;
	u64 cpu_ns;
	u64 start_ns;
	u64 failed_seed;
	u64 dead_seed;
	bool failed;
	bool dead;
	bool terminal;
	pid_t pid[256];
};

static u64 clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (u64)t.tv_sec * BFTM_NS_PER_SEC + (u64)t.tv_nsec;
}

static void send_report(int fd, struct report *r, u64 *cpu_ns)
{
	u64 cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	r->cpu_ns = cpu - *cpu_ns;
	*cpu_ns = cpu;
	/* Less than PIPE_BUF: it arrives in one piece. */
	if (write(fd, r, sizeof(*r)) != sizeof(*r))
		_exit(1);
	memset(r, 0, sizeof(*r));
}

static void work(struct batch *b, u32 j, int fd)
{
	const struct options *opt = b->opt;
	u64 next = clock_ns(CLOCK_MONOTONIC) + REPORT_NS, cpu_ns = 0, i, now;
	struct world *w = calloc(1, sizeof(*w));
	struct report r = {};
	struct outcome o;
	struct plan p;

	for (i = j; w && i < opt->runs; i += opt->jobs) {
		b->current[j] = opt->seed + i;
		plan_draw(&p, opt->seed + i, &opt->wish);
		world_run(w, &p, NULL, NULL, &o);
		stats_add(&r.stats, &o.stats);
		r.digest ^= o.hash;
		if (o.failed.checker) {
			r.failed = true;
			r.failed_seed = opt->seed + i;
			break;
		}
		now = clock_ns(CLOCK_MONOTONIC);
		if (now < next)
			continue;
		send_report(fd, &r, &cpu_ns);
		next = now + REPORT_NS;
		if (opt->seconds && now - b->start_ns > opt->seconds * BFTM_NS_PER_SEC)
			break;
	}
	send_report(fd, &r, &cpu_ns);
	_exit(0);
}

static void progress(const struct batch *b)
{
	u64 wall = clock_ns(CLOCK_MONOTONIC) - b->start_ns;
	u64 left = 0;

	if (!b->terminal)
		return;
	if (b->opt->seconds)
		left = b->opt->seconds > wall / BFTM_NS_PER_SEC ?
		       b->opt->seconds - wall / BFTM_NS_PER_SEC : 0;
	else if (b->stats.scenarios)
		left = (u64)((double)wall / 1e9 / (double)b->stats.scenarios *
			     (double)(b->opt->runs - b->stats.scenarios));
	fprintf(stderr, "\r%llu scenarios, %llu wins, %.0f simulated seconds; %llu s left \033[K",
		(unsigned long long)b->stats.scenarios, (unsigned long long)b->stats.wins,
		(double)b->stats.sim_ns / 1e9, (unsigned long long)left);
}

static void take_report(struct batch *b, const struct report *r)
{
	stats_add(&b->stats, &r->stats);
	b->digest ^= r->digest;
	b->cpu_ns += r->cpu_ns;
	if (r->failed && (!b->failed || r->failed_seed < b->failed_seed)) {
		b->failed = true;
		b->failed_seed = r->failed_seed;
	}
}

static void collect(struct batch *b, int fd)
{
	struct report r;
	ssize_t len;
	u32 j;

	while ((len = read(fd, &r, sizeof(r))) != 0) {
		if (len < 0 && errno == EINTR)
			continue;
		if (len != sizeof(r))
			break;
		take_report(b, &r);
		progress(b);
		if (b->failed)
			for (j = 0; j < b->opt->jobs; j++)
				kill(b->pid[j], SIGTERM);
	}
}

static void wait_all(struct batch *b)
{
	int status;
	u32 j;

	for (j = 0; j < b->opt->jobs; j++) {
		if (waitpid(b->pid[j], &status, 0) < 0 || WIFEXITED(status) ||
		    (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM))
			continue;
		b->dead = true;
		b->dead_seed = b->current[j];
	}
}

static void start_workers(struct batch *b, int fd[2])
{
	u32 j;

	fflush(stdout);
	for (j = 0; j < b->opt->jobs; j++) {
		b->pid[j] = fork();
		if (b->pid[j] < 0) {
			perror("bftmutex-sim: fork");
			exit(1);
		}
		if (!b->pid[j]) {
			close(fd[0]);
			work(b, j, fd[1]);
		}
	}
	close(fd[1]);
}

int batch_run(const struct options *opt)
{
	struct batch b = { .opt = opt, .terminal = isatty(STDERR_FILENO) };
	int fd[2];

	b.current = mmap(NULL, sizeof(u64) * opt->jobs, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (b.current == MAP_FAILED || pipe(fd) < 0) {
		perror("bftmutex-sim");
		return 1;
	}
	b.start_ns = clock_ns(CLOCK_MONOTONIC);
	start_workers(&b, fd);
	collect(&b, fd[0]);
	wait_all(&b);
	if (b.terminal)
		fprintf(stderr, "\r\033[K");
	stats_print(&b.stats, b.cpu_ns, clock_ns(CLOCK_MONOTONIC) - b.start_ns);
	printf("digest %016llx\n", (unsigned long long)b.digest);
	if (b.dead) {
		printf("FAILED: the simulator itself dies; again with\n");
		cmdline_replay(opt, b.dead_seed, stdout);
	} else if (b.failed) {
		failure_show(opt, b.failed_seed);
	} else {
		printf("no rule was broken\n");
	}
	return b.failed || b.dead;
}
