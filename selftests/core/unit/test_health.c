// SPDX-License-Identifier: GPL-2.0
/* The words for servers that wait for members: n = 4, b = 1, so that a lock needs three. */
#include "unit.h"

#include <string.h>

#include "cluster/cluster.h"
#include "cluster/health.h"

static struct bftm_cluster cl;

static int all_answer(void **state)
{
	u32 u;

	(void)state;
	memset(&cl, 0, sizeof(cl));
	cl.conf.n = cl.cfg.n = 4;
	cl.conf.b = cl.cfg.b = 1;
	for (u = 0; u < 4; u++) {
		cl.conf.server[u].id = (u16)(u + 1);
		cl.peer[u].conf = &cl.conf.server[u];
		cl.peer[u].heard_ns = 1;
	}
	return 0;
}

/* It was asked long ago, and has not answered. */
static void falls_silent(u32 u)
{
	cl.peer[u].asked_ns = 1;
}

static void awaits(const char *beginning)
{
	char text[BFTM_WHY_MAX];

	bftm_health_awaits(&cl, text);
	if (*beginning ? strncmp(text, beginning, strlen(beginning)) : *text)
		fail_msg("'%s' does not begin with '%s'", text, beginning);
}

/* Two that have taken numbers of this daemon have taken higher ones since. */
static void another_host_with_the_same_keys_is_named(void **state)
{
	struct bftm_counters counters = { .seq = 7 };
	struct bftm_identity identity = { .counters = &counters };
	char text[BFTM_WHY_MAX];
	u32 u;

	(void)state;
	cl.identity = &identity;
	cl.cred.client = 9;
	for (u = 0; u < 4; u++)
		cl.peer[u].ahead = 8;
	cl.peer[0].taken = true;
	assert_false(bftm_health_doubled(&cl));		/* one may lie */
	assert_string_equal(bftm_health_why(&cl, text), "");
	cl.peer[2].taken = true;
	assert_true(bftm_health_doubled(&cl));
	bftm_health_why(&cl, text);
	assert_non_null(strstr(text, "another host uses the keys of client 9"));
	assert_non_null(strstr(text, "if there is no other host any more, restart bftmutexd"));
	counters.seq = 8;
	assert_false(bftm_health_doubled(&cl));
}

static void those_that_wait_are_named(void **state)
{
	(void)state;
	awaits("");
	cl.peer[1].recovering = true;
	awaits("");	/* the other three are enough */
	cl.peer[2].recovering = true;
	awaits("servers 2 and 3 wait to hear from members");
}

/* It may have heard from all members since; and it is not there for any lock. */
static void a_silent_server_does_not_wait(void **state)
{
	(void)state;
	cl.peer[1].recovering = true;
	cl.peer[2].recovering = true;
	cl.peer[3].recovering = true;
	falls_silent(3);
	awaits("servers 2 and 3 wait to hear from members");
	falls_silent(2);
	awaits("server 2 waits to hear from members");
	falls_silent(1);
	awaits("");
}

static void rolls_that_lack_this_host_are_named(void **state)
{
	char text[BFTM_WHY_MAX];

	(void)state;
	cl.peer[1].unnoted = true;
	assert_string_equal(bftm_health_unnoted(&cl, text), "");	/* the other three are enough */
	cl.peer[2].unnoted = true;
	bftm_health_unnoted(&cl, text);
	assert_non_null(strstr(text, "servers 2 and 3 have a roll that does not name this host"));
	/* It may have been written since. */
	falls_silent(2);
	bftm_health_unnoted(&cl, text);
	assert_non_null(strstr(text, "server 2 has a roll that does not name this host"));
}

/* The kernel was lent other servers, or more of them. */
static void what_the_kernel_did_not_hear(void **state)
{
	u32 u;

	(void)state;
	cl.configuration = 7;
	assert_int_equal(bftm_health_silent(&cl, 8, 0x3), 0);
	assert_int_equal(bftm_health_silent(&cl, 0, 0x3), 0);
	for (u = 0; u < 4; u++)
		assert_int_equal(cl.peer[u].asked_ns, 0);
	assert_int_equal(bftm_health_silent(&cl, 7, 0x33), 0x3);
	for (u = 0; u < 4; u++)
		assert_int_equal(!!cl.peer[u].asked_ns, u < 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(another_host_with_the_same_keys_is_named, all_answer),
		cmocka_unit_test_setup(those_that_wait_are_named, all_answer),
		cmocka_unit_test_setup(a_silent_server_does_not_wait, all_answer),
		cmocka_unit_test_setup(rolls_that_lack_this_host_are_named, all_answer),
		cmocka_unit_test_setup(what_the_kernel_did_not_hear, all_answer),
	};

	return cmocka_run_group_tests_name("health", tests, NULL, NULL);
}
