// SPDX-License-Identifier: GPL-2.0
/* The notes of which clients may hold locks without a lease, and which were evicted. */
#include <limits.h>

#include "files.h"

#include "config/conf.h"
#include "ctl/ctl.h"

#define MEMBERS	"server-9-1.members"
#define EVICTED	"server-9-1.evicted"
#define MORE(clients, prefix) \
	CTL_NAME ": " clients " could hold locks '" prefix "…' without a lease before this start, and no " \
	"rule with 'leaseless' allows that now: put the rule back, or give --members-fenced if none " \
	"of these clients holds such a lock\n"

/* The note of the rules before a start, the rules of the start, and the words on it. */
static const struct {
	const char *before, *now, *words;
} starts[] = {
	{ "clients 1-2 prefix 642f\n", "access { client = 1-2 prefix = \"d/\" leaseless = yes }", "" },
	{ "clients 1-2 prefix 642f\n", "access { client = 1-2 leaseless = yes }", "" },
	{ "clients 1-2 prefix 642f\n", "access { client = 1 leaseless = yes }\n"
	  "access { client = 2-5 prefix = d leaseless = yes }", "" },
	{ "clients 1-2 prefix 642f\n", "access { client = 1 prefix = \"d/\" leaseless = yes }",
	  MORE("client 2", "d/") },
	{ "clients 1-2 prefix 642f\n", "access { client = 1-2 prefix = \"d/x\" leaseless = yes }",
	  MORE("clients 1 to 2", "d/") },
	{ "clients 1-9 prefix \n", "access { client = 7 leaseless = yes }\n"
	  "access { client = 2-3 leaseless = yes }\naccess { client = 4 }", MORE("clients 1, 4 to 6, 8 to 9", "") },
	{ "clients 1-1 prefix 61\nclients 2-2 prefix 62\n", "", MORE("client 1", "a") MORE("client 2", "b") },
	{ "clients 4294967294-4294967294 prefix \n", "access { client = any }",
	  MORE("client 4294967294", "") },
};

static void the_clients_that_lost_a_right_are_named(void **state)
{
	struct bftm_conf_access access;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		access = (struct bftm_conf_access){};
		unit_write(MEMBERS, starts[i].before, strlen(starts[i].before), 0600);
		unit_write("f", starts[i].now, strlen(starts[i].now), 0600);
		assert_int_equal(bftm_conf_load_access(unit_path("f"), &access), 0);
		unit_listen();
		assert_int_equal(ctl_rights_check(unit_dir, 9, 1, &access), *starts[i].words ? EX_CONFIG : 0);
		assert_string_equal(unit_heard(), starts[i].words);
		free(access.rule);
	}
	unlink(unit_path(MEMBERS));
	unlink(unit_path("f"));
}

static int is_noted(void)
{
	return !access(unit_path(MEMBERS), F_OK);
}

/* They are read as they were written; none is an empty file, but only after there were some. */
static void rights_are_noted(void **state)
{
	static const char text[] = "access { client = 3-4 prefix = \"t/\" leaseless = yes }\n"
		"access { client = 5 }\naccess { client = 6 leaseless = yes }";
	struct bftm_conf_access access = {};

	(void)state;
	assert_int_equal(ctl_rights_note(unit_dir, 9, 1, &access), 0);
	assert_int_equal(is_noted(), 0);
	unit_write("f", text, strlen(text), 0600);
	assert_int_equal(bftm_conf_load_access(unit_path("f"), &access), 0);
	assert_int_equal(ctl_rights_note(unit_dir, 9, 1, &access), 0);
	assert_int_equal(ctl_rights_check(unit_dir, 9, 1, &access), 0);
	free(access.rule);
	access = (struct bftm_conf_access){};
	unit_listen();
	assert_int_equal(ctl_rights_check(unit_dir, 9, 1, &access), EX_CONFIG);
	assert_string_equal(unit_heard(), MORE("clients 3 to 4", "t/") MORE("client 6", ""));
	assert_int_equal(ctl_rights_note(unit_dir, 9, 1, &access), 0);
	assert_int_equal(is_noted(), 1);
	assert_int_equal(ctl_rights_check(unit_dir, 9, 1, &access), 0);
	unlink(unit_path(MEMBERS));
	unlink(unit_path("f"));
}

/* A file, and what is said when it is read. */
static const struct {
	const char *name, *text, *words;
} broken[] = {
	{ MEMBERS, "clients 1-2 prefix 642f\nclients fifty\n",
	  ":2: must be 'clients N-M prefix HEX': correct the line; or give --members-fenced" },
	{ MEMBERS, "clients 1-2 prefix 642\n", ":1: must be 'clients N-M prefix HEX'" },
	{ MEMBERS, "clients 2-1 prefix \n", ":1: must be 'clients N-M prefix HEX'" },
	{ MEMBERS, "clients 0-1 prefix \n", ":1: must be 'clients N-M prefix HEX'" },
	{ MEMBERS, "clients 1-4294967295 prefix \n", ":1: must be 'clients N-M prefix HEX'" },
	{ EVICTED, "client 7 incarnation 5\nclient fifty\n",
	  ":2: must be 'client NUMBER incarnation NUMBER': correct the line; or remove the file" },
	{ EVICTED, "", ": is empty, so the evictions that were noted in it are lost: remove the file" },
};

static void broken_files_are_refused(void **state)
{
	static struct ctl_evicted evicted;
	static const char text[] = "access { client = any }\naccess { client = 1-9 leaseless = yes }";
	struct bftm_conf_access access = {};
	const char *said;
	size_t i;

	(void)state;
	unit_write("f", text, strlen(text), 0600);
	assert_int_equal(bftm_conf_load_access(unit_path("f"), &access), 0);
	for (i = 0; i < ARRAY_SIZE(broken); i++) {
		unit_write(broken[i].name, broken[i].text, strlen(broken[i].text), 0600);
		unit_listen();
		assert_int_equal(strcmp(broken[i].name, EVICTED) ?
				 ctl_rights_check(unit_dir, 9, 1, &access) :
				 ctl_evicted_load(unit_dir, 9, 1, &evicted), EX_DATAERR);
		said = unit_heard();
		assert_non_null(strstr(said, broken[i].name));
		assert_non_null(strstr(said, broken[i].words));
		unlink(unit_path(broken[i].name));
	}
	free(access.rule);
	unlink(unit_path("f"));
	assert_int_equal(ctl_evicted_load(unit_dir, 9, 1, &evicted), 0);
	assert_int_equal(evicted.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_clients_that_lost_a_right_are_named),
		cmocka_unit_test(rights_are_noted),
		cmocka_unit_test(broken_files_are_refused),
	};

	return cmocka_run_group_tests_name("rights", tests, unit_make_dir, unit_remove_dir);
}
