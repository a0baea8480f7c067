// SPDX-License-Identifier: GPL-2.0
/*
 * A scenario that fails: run it again, take away what it does not need to fail,
 * and tell the story of what is left.
 */
#include "sim.h"
#include "story.h"

/** struct trial - one way to fail */
struct trial {
	struct options opt;
	struct outcome outcome;
	struct plan plan;
};

static bool fails(struct world *w, struct trial *t, u64 seed, const struct checker *checker,
		  struct story *story)
{
	plan_draw(&t->plan, seed, &t->opt.wish);
	world_run(w, &t->plan, NULL, story, &t->outcome);
	return t->outcome.failed.checker && (!checker || t->outcome.failed.checker == checker);
}

/* Keep @next if it still fails in the same way. */
static bool keep(struct world *w, struct trial *best, struct trial *next, u64 seed)
{
	if (!fails(w, next, seed, best->outcome.failed.checker, NULL))
		return false;
	*best = *next;
	return true;
}

static bool without_faults(struct world *w, struct trial *best, u64 seed)
{
	struct trial next;
	bool better = false;
	u32 i;

	for (i = 0; i < FAULTS; i++) {
		if (!plan_has(&best->plan, (enum fault)i))
			continue;
		next = *best;
		next.opt.wish.without |= 1u << i;
		next.opt.wish.with &= ~(1u << i);
		better |= keep(w, best, &next, seed);
	}
	return better;
}

static bool with_fewer(struct world *w, struct trial *best, u64 seed)
{
	struct trial next = *best;
	bool better = false;

	if (best->plan.clients > 1) {
		next.opt.wish.clients = best->plan.clients - 1;
		better |= keep(w, best, &next, seed);
	}
	if (best->plan.liars) {
		next = *best;
		next.opt.wish.liars = best->plan.liars - 1;
		better |= keep(w, best, &next, seed);
	}
	if (best->plan.locks > 1) {
		next = *best;
		next.opt.wish.locks = best->plan.locks - 1;
		better |= keep(w, best, &next, seed);
	}
	if (best->plan.ask != ASK_ALL && best->opt.wish.ask != best->plan.ask - 1) {
		next = *best;
		next.opt.wish.ask = best->plan.ask - 1;
		better |= keep(w, best, &next, seed);
	}
	if (best->opt.wish.length_pct > 10) {
		next = *best;
		next.opt.wish.length_pct -= next.opt.wish.length_pct / 4;
		better |= keep(w, best, &next, seed);
	}
	return better;
}

static void print_plan(const struct plan *p)
{
	int i;

	printf("%u servers (b = %u, %u %s), %u clients, %u %s, lease %s, δ %s, ρ %u ppm, ask = %s%s\n",
	       p->n, p->b, p->liars, p->liars == 1 ? "lies" : "lie", p->clients, p->locks,
	       p->locks == 1 ? "lock" : "locks", story_span(p->lease_max), story_span(p->delta),
	       p->rho, ask_names[p->ask], p->literal ? ", literal" : "");
	if (p->m)
		printf("%u grants win%s, %u servers may forget and %u do\n", p->m,
		       p->mixed ? ", c1 needs no more than it has to" : "", p->spared, p->forget);
	printf("faults:");
	for (i = 0; i < FAULTS; i++)
		if (plan_has(p, (enum fault)i))
			printf(" %s", fault_names[i]);
	printf("%s\n", p->faults ? "" : " none");
}

void failure_show(const struct options *opt, u64 seed)
{
	struct trial best = { .opt = *opt };
	struct world w = {};
	struct story story = {};
	int rounds = 8;

	if (!fails(&w, &best, seed, NULL, NULL)) {
		printf("seed %llu does not fail again: the simulator is not deterministic\n",
		       (unsigned long long)seed);
		return;
	}
	printf("FAILED: %s: %s\n", best.outcome.failed.checker->name, best.outcome.failed.text);
	printf("the rule is: %s\nagain with\n", best.outcome.failed.checker->rule);
	cmdline_replay(opt, seed, stdout);
	if (opt->shrink) {
		while (rounds-- && (without_faults(&w, &best, seed) | with_fewer(&w, &best, seed)))
			;
		printf("and made smaller\n");
		cmdline_replay(&best.opt, seed, stdout);
	}
	fails(&w, &best, seed, NULL, &story);
	print_plan(&best.plan);
	story_print_end(&story, &best.outcome.failed, stdout);
	story_free(&story);
	world_free(&w);
}
