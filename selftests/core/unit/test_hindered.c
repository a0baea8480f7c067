// SPDX-License-Identifier: GPL-2.0
/* Servers that refuse a request, beside silent ones: n = 4, b = 1, so that a lock needs three. */
#include <errno.h>
#include <string.h>

#include "cluster/cluster.h"
#include "kernel/upcall.h"
#include "lock/acquire.h"
#include "lock/hindered.h"
#include "lock/report.h"
#include "files.h"

static struct bftm_cluster cl;
static struct bftm_acquire_op op;

static int all_answer(void **state)
{
	u32 u;

	(void)state;
	memset(&cl, 0, sizeof(cl));
	memset(&op, 0, sizeof(op));
	strcpy(cl.conf.name, "storage");
	cl.conf.n = cl.cfg.n = 4;
	cl.conf.b = cl.cfg.b = 1;
	cl.cred.client = 7;
	for (u = 0; u < 4; u++) {
		cl.conf.server[u].id = (u16)(u + 1);
		cl.peer[u].conf = &cl.conf.server[u];
		cl.peer[u].heard_ns = 1;
	}
	op.cluster = &cl;
	op.ask.name_len = 1;
	op.ask.name[0] = 'x';
	return 0;
}

static void says(u32 u, u8 type, u32 arg)
{
	bftm_words_take(&op.words, u, &(struct bftm_msg){ .type = type, .arg = arg });
}

static void falls_silent(u32 u)
{
	cl.peer[u].asked_ns = 1;
}

static void waits_for_members(u32 u)
{
	bftm_words_take(&op.words, u, &(struct bftm_msg){
		.type = BFTM_MSG_WAIT, .lease_ns = BFTM_LEASE_NONE,
	});
}

static void is_told(int error, const char *why)
{
	char text[BFTM_WHY_MAX];

	assert_int_equal(bftm_hindered_errno(&op, EWOULDBLOCK), error);
	assert_true(op.hindered);
	assert_string_equal(bftm_report_why(&op, error, text), why);
}

static void is_not_told(void)
{
	assert_int_equal(bftm_hindered_errno(&op, EWOULDBLOCK), EWOULDBLOCK);
	assert_false(op.hindered);
	assert_false(bftm_hindered_in_vain(&op));
}

static void three_are_enough(void **state)
{
	(void)state;
	is_not_told();
	says(0, BFTM_MSG_REFUSED, BFTM_REFUSED_LEASE);
	is_not_told();
	says(0, BFTM_MSG_FREE, 0);
	falls_silent(1);
	is_not_told();
}

/* Its roll will have this host in a moment. */
static void one_that_says_not_yet_does_not_refuse(void **state)
{
	(void)state;
	falls_silent(1);
	says(0, BFTM_MSG_REFUSED, BFTM_REFUSED_UNNOTED);
	is_not_told();
}

static void who_refuses_and_who_is_silent(void **state)
{
	(void)state;
	falls_silent(1);
	says(0, BFTM_MSG_REFUSED, BFTM_REFUSED_LEASE);
	unit_listen();
	is_told(ERANGE, "2 of 4 servers can grant it to this host, a lock needs 3; server 1 refuses: lease outside what the server grants; server 2 is silent");
	assert_non_null(strstr(unit_heard(), "cluster storage: lock 'x' cannot be had by this host: 2 of 4 servers"));
	assert_true(bftm_hindered_in_vain(&op));
	says(0, BFTM_MSG_REFUSED, BFTM_REFUSED_ACCESS);
	is_told(EACCES, "2 of 4 servers can grant it to this host, a lock needs 3; server 1 refuses: access denied; server 2 is silent");
	says(0, BFTM_MSG_REFUSED, BFTM_REFUSED_LOCKS);
	is_told(ENOSPC, "2 of 4 servers can grant it to this host, a lock needs 3; server 1 refuses: lock table full; server 2 is silent");
	says(2, BFTM_MSG_REFUSED, BFTM_REFUSED_ACCESS);
	is_told(ENETUNREACH, "1 of 4 servers can grant it to this host, a lock needs 3; server 1 refuses: lock table full; server 3 refuses: access denied; server 2 is silent");
	/* A server that has fallen silent refuses nothing any more. */
	falls_silent(0);
	assert_int_equal(bftm_words_refused(&op.words, BFTM_REFUSED_LOCKS), 1);
	is_told(EACCES, "1 of 4 servers can grant it to this host, a lock needs 3; server 3 refuses: access denied; servers 1 and 2 are silent");
}

static void who_waits_for_members(void **state)
{
	(void)state;
	waits_for_members(2);
	is_not_told();
	waits_for_members(3);
	is_told(ENETUNREACH, "2 of 4 servers can grant it to this host, a lock needs 3; servers 3 and 4 wait to hear from members (see bftmutexctl server members)");
	/* As after a quarantine, a request without a time limit waits for these. */
	assert_false(bftm_hindered_in_vain(&op));
}

static void that_somebody_has_it_goes_before(void **state)
{
	(void)state;
	falls_silent(1);
	says(0, BFTM_MSG_REFUSED, BFTM_REFUSED_LEASE);
	says(2, BFTM_MSG_LOCKED, 0);
	assert_int_equal(bftm_hindered_errno(&op, EWOULDBLOCK), EWOULDBLOCK);
	assert_true(bftm_hindered_in_vain(&op));
	/* As many are needed to say so as keep three from granting: else it is as with silent ones. */
	says(3, BFTM_MSG_LOCKED, 0);
	assert_false(bftm_hindered_in_vain(&op));
	/* In quarantine a server grants nothing, and knows of nobody. */
	says(2, BFTM_MSG_WAIT, 0);
	says(3, BFTM_MSG_WAIT, 0);
	assert_int_equal(bftm_hindered_errno(&op, EWOULDBLOCK), ERANGE);
}

/* Also that they are enough to end the attempt says which they are. */
static void those_that_refuse_are_logged(void **state)
{
	(void)state;
	says(0, BFTM_MSG_REFUSED, BFTM_REFUSED_ACCESS);
	says(2, BFTM_MSG_REFUSED, BFTM_REFUSED_ACCESS);
	says(3, BFTM_MSG_REFUSED, BFTM_REFUSED_LEASE);
	unit_listen();
	bftm_report_refused(&op, BFTM_REFUSED_ACCESS);
	assert_non_null(strstr(unit_heard(), "cluster storage: lock 'x' is refused to client 7 by servers 1 and 3: access denied"));
	unit_listen();
	bftm_report_refused(&op, BFTM_REFUSED_ACCESS);
	assert_string_equal(unit_heard(), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(three_are_enough, all_answer),
		cmocka_unit_test_setup(one_that_says_not_yet_does_not_refuse, all_answer),
		cmocka_unit_test_setup(who_refuses_and_who_is_silent, all_answer),
		cmocka_unit_test_setup(who_waits_for_members, all_answer),
		cmocka_unit_test_setup(that_somebody_has_it_goes_before, all_answer),
		cmocka_unit_test_setup(those_that_refuse_are_logged, all_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
