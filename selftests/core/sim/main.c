// SPDX-License-Identifier: GPL-2.0
/* bftmutex-sim: whole clusters in virtual time, each of one seed. */
#include <err.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "record.h"
#include "script.h"
#include "sim.h"
#include "story.h"

static const struct recorded *load(FILE *f)
{
	static struct recorded r;
	static double value[RECORDED_MAX];
	double sum = 0;
	u32 i;

	for (r.count = 0; r.count < RECORDED_MAX; r.count++) {
		if (fscanf(f, "%lf", &value[r.count]) != 1 || value[r.count] < 0)
			break;
		sum += value[r.count];
	}
	if (!r.count || sum <= 0)
		return NULL;
	for (i = 0; i < r.count; i++) {
		double ppm = value[i] / sum * (double)r.count * PPM;

		r.ppm[i] = ppm < 4e9 ? (u32)ppm : 4000000000u;
	}
	return &r;
}

const struct recorded *recorded_load(const char *path)
{
	FILE *f = fopen(path, "re");
	const struct recorded *r;

	if (!f)
		return NULL;
	r = load(f);
	fclose(f);
	return r;
}

static void progress(const struct world *w)
{
	u64 pct = w->now * 100 / (w->heal_at + 1);

	fprintf(stderr, "\r%llu million events, %s %llu %%, %llu wins \033[K",
		(unsigned long long)(w->stats.events >> 20), w->healed ? "healed at" : "faults for",
		(unsigned long long)(w->healed ? 100 : pct), (unsigned long long)w->stats.wins);
}

static int run_one(const struct options *opt)
{
	struct story story = { .out = stdout };
	struct world w = {};
	struct outcome o;
	struct plan p;
	clock_t start = clock();

	plan_draw(&p, opt->seed, &opt->wish);
	if (isatty(STDERR_FILENO) && !opt->trace)
		w.progress = progress;
	world_run(&w, &p, NULL, opt->trace ? &story : NULL, &o);
	world_free(&w);
	if (w.progress)
		fprintf(stderr, "\r\033[K");
	if (!opt->trace)
		stats_print(&o.stats, (u64)(clock() - start) * (BFTM_NS_PER_SEC / CLOCKS_PER_SEC),
			    (u64)(clock() - start) * (BFTM_NS_PER_SEC / CLOCKS_PER_SEC));
	printf("seed %llu, hash %016llx\n", (unsigned long long)opt->seed,
	       (unsigned long long)o.hash);
	if (!o.failed.checker)
		return 0;
	if (opt->trace)
		printf("FAILED: %s: %s\n", o.failed.checker->name, o.failed.text);
	else
		failure_show(opt, opt->seed);
	return 1;
}

static int run_json(const struct options *opt)
{
	struct world w = { .record = record_start() };
	struct outcome o;
	struct plan p;

	if (!w.record)
		abort();
	plan_draw(&p, opt->seed, &opt->wish);
	world_run(&w, &p, NULL, NULL, &o);
	record_print(&w, stdout);
	world_free(&w);
	if (!o.failed.checker)
		return 0;
	fprintf(stderr, "FAILED: %s: %s\n", o.failed.checker->name, o.failed.text);
	return 1;
}

/* Processes that are equal live in a world of their own, which also runs this protocol's core. */
static int run_compare(void)
{
	char path[PATH_MAX + sizeof("peers")];
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX);

	while (len > 0 && path[len - 1] != '/')
		len--;
	if (len > 0) {
		strcpy(path + len, "bftmutex-peers");
		execl(path, path, "--compare", NULL);
	}
	err(2, "cannot start bftmutex-peers, which \"make tests\" builds beside this program");
}

int main(int argc, char **argv)
{
	struct options opt;

	cmdline_parse(argc, argv, &opt);
	if (opt.golden)
		return golden_run(opt.golden, opt.golden_write) != 0;
	if (opt.compare)
		return run_compare();
	if (opt.json)
		return run_json(&opt);
	return opt.batch ? batch_run(&opt) : run_one(&opt);
}
