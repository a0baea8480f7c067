// SPDX-License-Identifier: GPL-2.0
/* The command that shows a scenario again: what cmdline.c would understand. */
#include "sim.h"

static void print_faults(const char *option, u32 mask, FILE *out)
{
	const char *between = option;
	int i;

	for (i = 0; i < FAULTS; i++) {
		if (!(mask >> i & 1))
			continue;
		fprintf(out, "%s%s", between, fault_names[i]);
		between = ",";
	}
}

static void print_number(const char *option, u32 value, FILE *out)
{
	if (value != AS_DRAWN)
		fprintf(out, " --%s %u", option, value);
}

void cmdline_replay(const struct options *opt, u64 seed, FILE *out)
{
	const struct wish *w = &opt->wish;

	fprintf(out, "  %s --seed %llu", opt->program, (unsigned long long)seed);
	if (w->protocol != &protocol_ours)
		fprintf(out, " --protocol %s%s", w->protocol->name, w->sync || !w->protocol->needs_sync ? "" : " --async");
	if (w->literal)
		fprintf(out, " --literal");
	if (w->scale)
		fprintf(out, " --scale");
	if (w->fair)
		fprintf(out, " --fair");
	if (w->steps)
		fprintf(out, " --steps");
	if (w->silent)
		fprintf(out, " --silent");
	if (w->check)
		fprintf(out, " --check %s", w->check);
	print_number("servers", w->servers, out);
	print_number("b", w->b, out);
	print_number("m", w->m, out);
	print_number("forget", w->forget, out);
	print_number("liars", w->liars, out);
	print_number("clients", w->clients, out);
	print_number("locks", w->locks, out);
	print_number("skew", w->skew_ppm, out);
	print_number("rho", w->rho_ppm, out);
	print_number("backoff", w->backoff_pct, out);
	print_number("renew", w->renew_pct, out);
	print_number("fence", w->fence_pct, out);
	print_number("modes", w->modes_pct, out);
	print_number("values", w->values_pct, out);
	print_number("leaseless", w->leaseless_pct, out);
	if (w->ask != AS_DRAWN)
		fprintf(out, " --ask %s", ask_names[w->ask]);
	if (w->lease_ns)
		fprintf(out, " --lease %llu", (unsigned long long)(w->lease_ns / BFTM_NS_PER_MS));
	if (w->length_pct != 100)
		fprintf(out, " --length %u", w->length_pct);
	print_faults(" --without ", w->without, out);
	print_faults(" --with ", w->with, out);
	fprintf(out, "\n");
}
