// SPDX-License-Identifier: GPL-2.0
/* Traces that are too large: each is refused with its line or number, before time and memory go. */
#include <time.h>

#include "unit.h"
#include "trace.h"
#include "trace/levels.h"

/* As trace_of(), of @count lines, by turns of @hosts hosts, with numbers and attempts of their own. */
static struct trace *trace_many(const char *rest, u32 hosts, u32 count, char **ret_why)
{
	struct trace *t = trace_new();
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size), *file;
	u32 i;

	for (i = 1; i <= count; i++)
		fprintf(out, "{\"host\":\"h%u\",\"n\":%u,\"t\":%u,\"attempt\":%u,%s}\n", i % hosts, i, i, i,
			rest);
	fclose(out);
	file = fmemopen(text, size, "r");
	*ret_why = NULL;
	if (trace_read(t, file, "lines", ret_why) && trace_sort(t, ret_why))
		trace_holds(t);
	fclose(file);
	free(text);
	return t;
}

#define WON "\"e\":\"won\",\"client\":1,\"name\":\"A\""

static void test_locks_that_were_won_are_bounded(void **state)
{
	char *why;
	struct trace *t = trace_many(WON, 1, TRACE_WON_MAX + 1, &why);

	(void)state;
	assert_string_equal(why, "lines:50001: the line: must be one of at most 50000 locks that were won: cut the files to less time");
	free(why);
	trace_free(t);
}

static void test_pairs_are_bounded(void **state)
{
	struct trace_pairs p;
	char *why;
	struct trace *t = trace_many(WON, 1, 500, &why);

	(void)state;
	assert_false(trace_two_holders(t, true, 0, &p, &why));
	assert_non_null(strstr(why, "more than 100000 pairs of holdings are in no order"));
	free(why);
	trace_free(t);
}

static void test_vectors_are_bounded(void **state)
{
	char *why;
	struct trace *t = trace_many("\"e\":\"restart\"", 4096, 4096, &why);

	(void)state;
	assert_null(why);
	/* As if each host had eight times as many. */
	t->event = realloc(t->event, 8 * 4096 * sizeof(*t->event));
	for (; t->events < 8 * 4096 + 0u; t->events++) {
		t->event[t->events] = t->event[t->events % 4096];
		t->event[t->events].n = t->events + 5000;
	}
	assert_true(trace_sort(t, &why));
	t->event = realloc(t->event, (8 * 4096 + 1) * sizeof(*t->event));
	t->event[t->events] = t->event[0];
	t->event[t->events++].n = 99999;
	assert_false(trace_sort(t, &why));
	assert_string_equal(why, "32769 events of 4096 hosts: their product must be at most 134217728: leave out files, or cut them to less time");
	free(why);
	trace_free(t);
}

/* A server that gives a lock in mode CR to more than 4,096 keeps no rule. */
static void test_grants_of_a_lock_are_bounded(void **state)
{
	char *why;
	struct trace *t = trace_many("\"e\":\"send\",\"type\":\"FREE\",\"client\":1,\"server\":1,\"mode\":\"CR\",\"name\":\"A\"",
				     1, 5000, &why);
	struct trace_pairs p = judge(t, false, 0);
	u32 *cut = trace_cut_at(t, 10000), lines = 0;
	char *text;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	trace_cut_print(t, cut, false, out);
	fclose(out);
	for (i = 0; i < size; i++)
		lines += text[i] == '\n';
	assert_int_equal(lines, BFTM_HOLDERS_MAX);
	free(text);
	free(cut);
	free(p.found);
	trace_free(t);
}

/*
 * Clients 1 to 40 each hold two locks and wait for both of the next client, so 2^40 paths lead from
 * the first to the last, who waits for nobody.
 */
static void test_a_search_for_circles_goes_each_way_once(void **state)
{
	struct trace_levels found = {};
	struct trace *t = trace_new();
	struct trace_pairs p;
	char *text, *why = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size), *file;
	u32 c, l, n = 0;

	(void)state;
	for (c = 1; c <= 40; c++)
		for (l = 0; l < 2; l++)
			fprintf(out, "{\"host\":\"h\",\"n\":%u,\"t\":1,\"e\":\"won\",\"client\":%u,\"attempt\":%u,\"name\":\"%u-%u\"}\n",
				++n, c, l + 1, c, l);
	for (c = 1; c < 40; c++)
		for (l = 0; l < 2; l++)
			fprintf(out, "{\"host\":\"h\",\"n\":%u,\"t\":1,\"e\":\"send\",\"type\":\"TRY\",\"server\":1,\"client\":%u,\"attempt\":%u,\"name\":\"%u-%u\"}\n",
				++n, c, l + 3, c + 1, l);
	for (c = 1; c <= 40; c++)
		fprintf(out, "{\"host\":\"h%u\",\"n\":1,\"t\":1,\"e\":\"restart\"}\n", c);
	fclose(out);
	file = fmemopen(text, size, "r");
	assert_true(trace_read(t, file, "lines", &why) && trace_sort(t, &why));
	fclose(file);
	free(text);
	trace_holds(t);
	p = judge(t, false, 0);
	assert_true(trace_phi(t, "deadlock", &found, &why));
	assert_false(found.possibly || found.gave_up);
	free(p.found);
	trace_free(t);
}

static struct trace_event *event_add(struct trace *t, u32 host, u64 n, enum trace_kind kind, u8 type)
{
	t->event = trace_grow(t->event, t->events, sizeof(*t->event));
	t->event[t->events] = (struct trace_event){
		.host = host, .n = n, .t = 1, .wall = 1, .kind = (u8)kind, .type = type, .from = TRACE_NONE,
	};
	return &t->event[t->events++];
}

/* @hosts hosts of 200 events; host h hears first of host h + 1, and tells host h - 1 last. */
static void chain_add(struct trace *t, u32 hosts)
{
	struct trace_event *e;
	u32 h, n;

	for (h = 1; h <= hosts; h++)
		for (n = 1; n <= 200; n++) {
			e = event_add(t, h, n, n > 1 || h == hosts ? TRACE_SEND : TRACE_RECV, BFTM_MSG_TRY);
			e->client = n > 1 || h == hosts ? h : h + 1;
			e->seq = n > 1 || h == hosts ? n : 200;
			e->name = TRACE_NONE;
			e->wall += h == hosts;	/* after the cut */
		}
}

/* Host 0 tells @waits attempts to wait, all for one lock. */
static struct trace *trace_large(u32 waits, u32 hosts)
{
	struct trace *t = trace_new();
	struct trace_event *e;
	char text[8], *why;
	u32 h;

	t->name = trace_zeroed(1, sizeof(*t->name));
	t->name[0] = trace_zeroed(0, sizeof(**t->name));
	*t->name[0] = (struct trace_name){ .len = 1, .bytes = "A" };
	for (h = 0; h <= hosts; h++) {
		snprintf(text, sizeof(text), "h%u", h);
		t->host = trace_grow(t->host, t->hosts, sizeof(*t->host));
		t->host[t->hosts++] = (struct trace_host){ .name = strdup(text) };
	}
	for (h = 1; h <= waits; h++) {
		e = event_add(t, 0, h, TRACE_SEND, BFTM_MSG_WAIT);
		e->server = e->client = 1;
		e->seq = e->attempt = h;
	}
	chain_add(t, hosts);
	assert_true(trace_sort(t, &why));
	return t;
}

/* Seconds of this process for a cut, the best of three, which shows @waits attempts and no others. */
static double time_of_cut(u32 waits, u32 hosts)
{
	struct trace *t = trace_large(waits, hosts);
	struct timespec begin, end;
	double best = 1e9, spent;
	u32 *cut, i, h, lines;
	size_t size, at;
	char *text;
	FILE *out;

	for (i = 0; i < 3; i++) {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
		out = open_memstream(&text, &size);
		cut = trace_cut_at(t, 1);
		trace_cut_print(t, cut, false, out);
		fclose(out);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
		for (at = lines = 0; at < size; at++)
			lines += text[at] == '\n';
		assert_int_equal(lines, waits);
		for (h = 0; h <= hosts; h++)
			assert_int_equal(cut[h], h ? 0 : waits);
		spent = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
		best = spent < best ? spent : best;
		free(text);
		free(cut);
	}
	free(t->name[0]);
	trace_free(t);
	return best;
}

/*
 * Ten times the events take ten times as long, and not a hundred times. The clock is that of the
 * processor, which other programs disturb, so "make check" judges no time: it looks at the cut alone.
 */
static void test_a_cut_of_many_events_is_quick(void **state)
{
	double few = time_of_cut(10000, 50), many;

	(void)state;
	if (getenv("BFTMUTEX_SHORT"))
		return;
	many = time_of_cut(100000, 500);
	print_message("20,000 events %.4f s, 200,000 events %.4f s\n", few, many);
	assert_true(many < 35 * few);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locks_that_were_won_are_bounded),
		cmocka_unit_test(test_pairs_are_bounded),
		cmocka_unit_test(test_vectors_are_bounded),
		cmocka_unit_test(test_grants_of_a_lock_are_bounded),
		cmocka_unit_test(test_a_search_for_circles_goes_each_way_once),
		cmocka_unit_test(test_a_cut_of_many_events_is_quick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
