// SPDX-License-Identifier: GPL-2.0
/* The textbook's Figures 14.14 to 14.17, and predicates of locks. */
#include "unit.h"
#include "trace.h"
#include "trace/levels.h"

/*
 * The execution of Figure 14.9: p1 sets x1 to 1, 100 (and sends m1), 105, 90 (it received m2); p2
 * sets x2 to 100 (it received m1), 95, 90 (and sends m2).
 */
static const char figure_14_14[] =
	"{'host':'p1','n':1,'t':1,'e':'restart'}\n"
	"{'host':'p1','n':2,'t':2,'e':'send','type':'HELLO','client':1,'server':2,'seq':1}\n"
	"{'host':'p1','n':3,'t':3,'e':'restart'}\n"
	"{'host':'p1','n':4,'t':4,'e':'recv','type':'CHALLENGE','client':1,'server':2,'seq':1,'epoch':7}\n"
	"{'host':'p2','n':1,'t':1,'e':'recv','type':'HELLO','client':1,'server':2,'seq':1}\n"
	"{'host':'p2','n':2,'t':2,'e':'restart'}\n"
	"{'host':'p2','n':3,'t':3,'e':'send','type':'CHALLENGE','client':1,'server':2,'seq':1,'epoch':7}\n";

static const int x1[] = { 0, 1, 100, 105, 90 }, x2[] = { 0, 100, 95, 90 };

static struct trace *figure(const char *lines)
{
	struct trace *t = trace_of(lines);
	char *why = NULL;

	assert_true(trace_order(t, &why));
	return t;
}

static void test_figure_14_14_has_its_vectors_and_lamport_numbers(void **state)
{
	static const u32 vectors[2][4][2] = {
		{ { 1, 0 }, { 2, 0 }, { 3, 0 }, { 4, 3 } }, { { 2, 1 }, { 2, 2 }, { 2, 3 } },
	};
	static const u32 lamport[2][4] = { { 1, 2, 3, 6 }, { 3, 4, 5 } };
	struct trace *t = figure(figure_14_14);
	u32 h, i;

	(void)state;
	assert_int_equal(t->hosts, 2);
	for (h = 0; h < 2; h++)
		for (i = 0; i < t->host[h].count; i++) {
			u32 event = t->host[h].first + i;

			assert_int_equal(trace_vector(t, event, 0), vectors[h][i][0]);
			assert_int_equal(trace_vector(t, event, 1), vectors[h][i][1]);
			assert_int_equal(t->event[event].lamport, lamport[h][i]);
		}
	trace_free(t);
}

/* Each question about the values that x1 and x2 have at once. */
struct values {
	int least;		/* of the difference, 0: these very values */
	int first, second;
	u32 asked;
};

static bool differ(void *arg, const u32 *done)
{
	struct values *v = arg;
	int a = x1[done[0]], b = x2[done[1]];

	v->asked++;
	return v->least ? abs(a - b) > v->least : a == v->first && b == v->second;
}

static struct trace_levels search(struct values *v)
{
	static const u8 all[7] = { 1, 1, 1, 1, 1, 1, 1 };
	struct trace *t = figure(figure_14_14);
	struct trace_levels found;

	trace_levels(t, &(struct trace_phi){
		.relevant = all, .holds = differ, .arg = v, .steps = &(u64){ 0 },
	}, &found);
	trace_free(t);
	return found;
}

static void test_figure_14_15_has_eleven_states(void **state)
{
	struct values v = { .least = 1000 };
	struct trace_levels found = search(&v);

	(void)state;
	assert_int_equal(found.states, 11);
	assert_false(found.possibly);
	assert_false(found.definitely);
}

static void test_the_inconsistent_cut_c1_is_no_state(void **state)
{
	struct values v = { .first = 1, .second = 100 };

	(void)state;
	assert_false(search(&v).possibly);
}

static void test_the_consistent_cut_c2_is_passed_always_and_another_perhaps(void **state)
{
	struct values v = { .first = 105, .second = 90 };
	struct trace_levels found = search(&v);

	(void)state;
	assert_true(found.possibly);
	/* The receive of m2 depends on all of p2: each linearization passes (105, 90). */
	assert_true(found.definitely);
	v = (struct values){ .first = 105, .second = 0 };
	found = search(&v);
	assert_true(found.possibly);
	assert_false(found.definitely);
	assert_false(found.finally);
}

static void test_a_difference_that_each_linearization_passes_is_definite(void **state)
{
	struct values v = { .least = 50 };
	struct trace_levels found = search(&v);

	(void)state;
	assert_true(found.definitely);
	assert_false(found.finally);
}

/* Figure 14.17: T at level 3 beside the one clear state, F at level 4, the question at level 5. */
static bool at_level_5;

static bool figure_14_17(void *arg, const u32 *done)
{
	(void)arg;
	if (done[0] == 4 && done[1] == 1)
		return at_level_5;
	return (done[0] == 3 && done[1] == 0) || (done[0] == 1 && done[1] == 1);
}

static void test_figure_14_17_hangs_on_level_5(void **state)
{
	static const u8 all[5] = { 1, 1, 1, 1, 1 };
	struct trace *t = figure("{'host':'p1','n':1,'t':1,'e':'restart'}\n"
				 "{'host':'p1','n':2,'t':1,'e':'restart'}\n"
				 "{'host':'p1','n':3,'t':1,'e':'restart'}\n"
				 "{'host':'p1','n':4,'t':1,'e':'restart'}\n"
				 "{'host':'p2','n':1,'t':1,'e':'restart'}\n");
	struct trace_levels found;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		at_level_5 = i;
		trace_levels(t, &(struct trace_phi){
		.relevant = all, .holds = figure_14_17, .steps = &(u64){ 0 },
	}, &found);
		assert_int_equal(found.states, 10);
		assert_int_equal(found.definitely, i);
		assert_true(found.possibly);
	}
	trace_free(t);
}

static bool never(void *arg, const u32 *done)
{
	(void)arg;
	(void)done;
	return false;
}

static void test_a_search_gives_up_beyond_a_million_states(void **state)
{
	struct trace *t = trace_new();
	struct trace_levels found;
	u8 all[700];
	char *why = NULL;
	FILE *file = tmpfile();
	u32 i;

	(void)state;
	for (i = 0; i < 700; i++)
		fprintf(file, "{\"host\":\"h%u\",\"n\":%u,\"t\":1,\"e\":\"restart\"}\n", i % 7, i);
	rewind(file);
	assert_true(trace_read(t, file, "file", &why) && trace_sort(t, &why) && trace_order(t, &why));
	fclose(file);
	memset(all, 1, sizeof(all));
	trace_levels(t, &(struct trace_phi){
		.relevant = all, .holds = never, .steps = &(u64){ 0 },
	}, &found);
	assert_true(found.gave_up);
	assert_false(found.definitely);
	trace_free(t);
}

/* A lock of one server, n = 1: what of it is true at the end? */
#define ONE_SERVER "{'e':'cluster','servers':1,'b':0,'rho_ppm':0}\n"
#define TRY(n, client, attempt, name) \
	"{'host':'c" #client "','n':" #n ",'t':1,'e':'send','type':'TRY','client':" #client \
	",'server':1,'seq':" #n ",'attempt':" #attempt ",'k':1,'lease_ns':1000,'name':'" name "'}\n"
#define AT_SERVER(n, e, type, client, attempt, name, more) \
	"{'host':'s1','n':" #n ",'t':" #n ",'e':'" e "','type':'" type "','client':" #client \
	",'server':1,'seq':" #n ",'attempt':" #attempt ",'k':1,'name':'" name "'" more "}\n"
#define HAS(n, e, client, attempt, name) \
	"{'host':'c" #client "','n':" #n ",'t':1,'e':'" e "','client':" #client ",'attempt':" #attempt \
	",'name':'" name "'}\n"

static struct trace_levels phi(const char *name, const char *lines)
{
	struct trace *t = figure(lines);
	struct trace_levels found;
	char *why;

	assert_true(trace_phi(t, name, &found, &why));
	trace_free(t);
	return found;
}

static void test_two_that_wait_in_a_circle_are_in_deadlock(void **state)
{
	static const char lines[] = ONE_SERVER
		HAS(1, "won", 1, 5, "A") HAS(1, "won", 2, 6, "B")
		TRY(2, 1, 7, "B") TRY(2, 2, 8, "A");
	struct trace_levels found = phi("deadlock", lines);

	(void)state;
	assert_true(found.finally);
	assert_true(found.definitely);
	found = phi("deadlock", ONE_SERVER HAS(1, "won", 1, 5, "A") HAS(1, "won", 2, 6, "B")
		    TRY(2, 1, 7, "B") TRY(2, 2, 8, "C"));
	assert_false(found.possibly);
}

static void test_a_deadlock_that_a_release_ends_is_possible_and_over(void **state)
{
	struct trace_levels found = phi("deadlock", ONE_SERVER
		HAS(1, "won", 1, 5, "A") HAS(1, "won", 2, 6, "B")
		TRY(2, 1, 7, "B") TRY(2, 2, 8, "A") HAS(3, "released", 2, 6, "B"));

	(void)state;
	assert_true(found.possibly);
	assert_false(found.definitely);
	assert_false(found.finally);
}

static void test_a_waiter_beside_a_free_lock_is_found(void **state)
{
	static const char waits[] = ONE_SERVER TRY(1, 1, 5, "A")
		AT_SERVER(1, "recv", "TRY", 1, 5, "A", "")
		AT_SERVER(2, "send", "WAIT", 1, 5, "A", ",'position':1");
	/* The client began anew: its incarnation is 1 now. */
	static const char again[] = ONE_SERVER TRY(1, 1, 5, "A")
		AT_SERVER(1, "recv", "TRY", 1, 5, "A", "")
		AT_SERVER(2, "send", "WAIT", 1, 5, "A", ",'position':1")
		"{'host':'c1','n':2,'t':1,'e':'send','type':'HELLO','client':1,'server':1,'seq':4294967297}\n";
	static const char quarantine[] = ONE_SERVER TRY(1, 1, 5, "A")
		AT_SERVER(1, "recv", "TRY", 1, 5, "A", "")
		AT_SERVER(2, "send", "WAIT", 1, 5, "A", ",'position':0");
	static const char granted[] = ONE_SERVER TRY(1, 1, 5, "A")
		AT_SERVER(1, "send", "FREE", 2, 9, "A", ",'gno':1")
		AT_SERVER(2, "recv", "TRY", 1, 5, "A", "")
		AT_SERVER(3, "send", "WAIT", 1, 5, "A", ",'position':1");

	(void)state;
	assert_true(phi("waited-but-free", waits).finally);
	assert_false(phi("waited-but-free", again).finally);
	assert_false(phi("waited-but-free", quarantine).possibly);
	assert_false(phi("waited-but-free", granted).finally);
}

static void test_a_grant_of_an_attempt_that_is_over_is_a_ghost(void **state)
{
	static const char over[] = ONE_SERVER HAS(1, "won", 1, 5, "A") HAS(2, "released", 1, 5, "A")
		AT_SERVER(1, "send", "FREE", 1, 5, "A", ",'gno':1");
	static const char given[] = ONE_SERVER HAS(1, "won", 1, 5, "A")
		HAS(2, "released", 1, 5, "A") AT_SERVER(1, "send", "FREE", 1, 5, "A", ",'gno':1")
		AT_SERVER(2, "recv", "RELEASE", 1, 5, "A", "");

	(void)state;
	assert_true(phi("ghost", over).finally);
	assert_true(phi("ghost", given).possibly);
	assert_false(phi("ghost", given).finally);
}

static void test_only_four_predicates_have_names(void **state)
{
	struct trace *t = figure(ONE_SERVER);
	struct trace_levels found;
	char *why;

	(void)state;
	assert_false(trace_phi(t, "two", &found, &why));
	assert_non_null(strstr(why, "must be two-holders"));
	free(why);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figure_14_14_has_its_vectors_and_lamport_numbers),
		cmocka_unit_test(test_figure_14_15_has_eleven_states),
		cmocka_unit_test(test_the_inconsistent_cut_c1_is_no_state),
		cmocka_unit_test(test_the_consistent_cut_c2_is_passed_always_and_another_perhaps),
		cmocka_unit_test(test_a_difference_that_each_linearization_passes_is_definite),
		cmocka_unit_test(test_figure_14_17_hangs_on_level_5),
		cmocka_unit_test(test_a_search_gives_up_beyond_a_million_states),
		cmocka_unit_test(test_two_that_wait_in_a_circle_are_in_deadlock),
		cmocka_unit_test(test_a_deadlock_that_a_release_ends_is_possible_and_over),
		cmocka_unit_test(test_a_waiter_beside_a_free_lock_is_found),
		cmocka_unit_test(test_a_grant_of_an_attempt_that_is_over_is_a_ghost),
		cmocka_unit_test(test_only_four_predicates_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
