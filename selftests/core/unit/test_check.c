// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl check: what a monitor is told of what the daemon says. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/ctl.h"

/* The daemon. */
static int error;
static char told[4096];

int ctl_ask_helper(const char *question, struct json_object **ret)
{
	assert_string_equal(question, "servers");
	*ret = error ? NULL : json_tokener_parse(told);
	return error;
}

int ctl_helper_failed(int e)
{
	return e == -EACCES ? EX_NOPERM : EX_OSERR;
}

/* Servers 1 to 4 of a cluster with b = 1, F = 3: a letter each, s(ilent), q(uarantine), r(ecovering), R(efusing), f(orgot objects), m(ute about them) ... */
static char *cluster(const char *name, const char *servers)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int id = 0;

	fprintf(to, "{\"name\":\"%s\",\"b\":1,\"answers_needed\":3,\"token_needed\":3,\"servers\":[",
		name);
	for (; *servers; servers++)
		fprintf(to, "%s{\"id\":%d,\"state\":\"%s\",\"suspect\":%s,\"recovering\":%s,\"refusal\":%s,\"forgot_objects\":%s,\"mute_objects\":%s,\"token\":%s}",
			id ? "," : "", id + 1,
			*servers == 's' || *servers == 'S' ? "silent" :
			*servers == 'q' ? "quarantine" : *servers == 'u' ? "unknown" :
			*servers == 'l' ? "slow" : "ok",
			*servers == 'L' || *servers == 'S' ? "true" : "false",
			*servers == 's' ? "null" : *servers == 'r' ? "true" : "false",
			*servers == 'R' ? "\"access denied\"" : "null",
			*servers == 'f' ? "true" : "false",
			*servers == 'm' ? "true" : "false",
			*servers == 't' ? "null" : "\"7\""), id++;
	fprintf(to, "]}");
	fclose(to);
	return text;
}

/* The exit code, and what is printed. */
static int check(const char *option, char said[1024])
{
	char name[] = "bftmutexctl check", word[32], *argv[] = { name, word, NULL };
	int out = dup(1), code;
	FILE *file = tmpfile();
	size_t len;

	snprintf(word, sizeof(word), "%s", option ? option : "");
	fflush(stdout);
	dup2(fileno(file), 1);
	ctl_json = false;
	code = ctl_check(option ? 2 : 1, argv);
	fflush(stdout);
	dup2(out, 1);
	close(out);
	rewind(file);
	len = fread(said, 1, 1023, file);
	said[len] = '\0';
	fclose(file);
	return code;
}

static const struct {
	const char *servers;
	int code;
	const char *said;
} states[] = {
	{ "oooo", 0, "all well: cluster c: 4 of 4 servers can grant, a lock needs 3\n" },
	{ "olll", 0, "all well: cluster c: 4 of 4 servers can grant, a lock needs 3; "
		     "servers 2, 3, 4 slow\n" },
	{ "ooos", 1, "degraded: cluster c: 3 of 4 servers can grant, a lock needs 3; "
		     "server 4 silent\n" },
	{ "qooo", 1, "degraded: cluster c: 3 of 4 servers can grant, a lock needs 3; "
		     "server 1 in quarantine\n" },
	{ "ouoo", 1, "degraded: cluster c: 3 of 4 servers can grant, a lock needs 3; "
		     "server 2 not heard of yet\n" },
	{ "ooLo", 1, "degraded: cluster c: 4 of 4 servers can grant, a lock needs 3; "
		     "server 3 suspected of lying\n" },
	{ "orro", 1, "degraded: cluster c: 4 of 4 servers can grant, a lock needs 3; "
		     "servers 2, 3 waiting for members, listed by "
		     "'bftmutexctl server members' on its host\n" },
	{ "oosq", 2, "failed: cluster c: 2 of 4 servers can grant, a lock needs 3; "
		     "server 3 silent; server 4 in quarantine\n" },
	{ "uuuu", 2, "failed: cluster c: 0 of 4 servers can grant, a lock needs 3; "
		     "servers 1, 2, 3, 4 not heard of yet\n" },
	{ "oLSo", 2, "failed: cluster c: 3 of 4 servers can grant, a lock needs 3; "
		     "server 3 silent; servers 2, 3 suspected of lying; "
		     "suspected servers: 2, no more than 1 may lie\n" },
	/* The other three are enough. */
	{ "Rooo", 1, "degraded: cluster c: 3 of 4 servers can grant, a lock needs 3; "
		     "server 1 refusing locks to this host; its bftmutexd logs why\n" },
	{ "Rsoo", 2, "failed: cluster c: 2 of 4 servers can grant, a lock needs 3; server 2 silent; "
		     "server 1 refusing locks to this host; its bftmutexd logs why\n" },
	/* No cluster grants it: somebody has asked for what is not allowed. */
	{ "RRRo", 1, "degraded: cluster c: 4 of 4 servers can grant, a lock needs 3; "
		     "servers 1, 2, 3 refusing locks to this host; its bftmutexd logs why\n" },
	{ "offo", 1, "degraded: cluster c: 4 of 4 servers can grant, a lock needs 3; servers 2, 3 "
		     "without the memory of objects, and the others are too few: see \"When objects "
		     "are lost\" in operating.rst\n" },
	{ "omms", 1, "degraded: cluster c: 3 of 4 servers can grant, a lock needs 3; server 4 silent; "
		     "servers 2, 3 silent about objects, and the others are too few: "
		     "'bftmutexctl check --server' on its host may tell why\n" },
	{ "ottt", 0, "all well: cluster c: 4 of 4 servers can grant, a lock needs 3\n" },
};

static void states_of_servers(void **state)
{
	char said[1024], *one;
	size_t i;

	(void)state;
	error = 0;
	for (i = 0; i < ARRAY_SIZE(states); i++) {
		one = cluster("c", states[i].servers);
		snprintf(told, sizeof(told), "{\"clusters\":[%s]}", one);
		free(one);
		assert_int_equal(check(NULL, said), states[i].code);
		assert_string_equal(said, states[i].said);
	}
}

/* The line that "bftmutexctl top" begins with. */
static void the_same_for_others(void **state)
{
	struct json_object *answer;
	char line[1024], *one;
	char all[4096];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(states); i++) {
		one = cluster("c", states[i].servers);
		snprintf(all, sizeof(all), "{\"clusters\":[%s]}", one);
		free(one);
		answer = json_tokener_parse(all);
		assert_int_equal(ctl_judge(answer, line, sizeof(line)), states[i].code);
		assert_memory_equal(line, states[i].said, strlen(line));
		assert_string_equal(states[i].said + strlen(line), "\n");
		json_object_put(answer);
	}
	answer = json_tokener_parse("{\"clusters\":[]}");
	assert_int_equal(ctl_judge(answer, line, sizeof(line)), 2);
	assert_string_equal(line, "failed: bftmutexd has no cluster, or no credentials");
	/* Text that finds no room is cut off. */
	assert_int_equal(ctl_judge(answer, line, 7), 2);
	assert_string_equal(line, "failed");
	json_object_put(answer);
}

static void tokens(void **state)
{
	char said[1024], *one = cluster("c", "ootl");

	(void)state;
	error = 0;
	snprintf(told, sizeof(told), "{\"clusters\":[%s]}", one);
	free(one);
	assert_int_equal(check("--fence", said), 0);
	/* The knowledge of a silent server is no use. */
	one = cluster("c", "oots");
	snprintf(told, sizeof(told), "{\"clusters\":[%s]}", one);
	free(one);
	assert_int_equal(check(NULL, said), 1);
	assert_int_equal(check("--fence", said), 2);
	assert_non_null(strstr(said, "servers that know which fencing tokens were given: 2, a token needs 3"));
}

/* The worst decides, unless one is named. */
static void several_clusters(void **state)
{
	char said[1024], *good = cluster("good", "oooo"), *bad = cluster("bad", "ssss");

	(void)state;
	error = 0;
	snprintf(told, sizeof(told), "{\"clusters\":[%s,%s]}", bad, good);
	free(good);
	free(bad);
	assert_int_equal(check(NULL, said), 2);
	assert_string_equal(said, "failed: cluster bad: 0 of 4 servers can grant, a lock needs 3; "
			    "servers 1, 2, 3, 4 silent; "
			    "cluster good: 4 of 4 servers can grant, a lock needs 3\n");
	assert_int_equal(check("--cluster=good", said), 0);
	assert_int_equal(check("--cluster=none", said), EX_CONFIG);
	assert_string_equal(said, "");
}

static void daemons_that_do_not_tell(void **state)
{
	static const struct {
		int error, code;
		const char *told, *said;
	} cases[] = {
		{ -ECONNREFUSED, 2, NULL, "failed: bftmutexd does not run\n" },
		{ -EAGAIN, 2, NULL, "failed: bftmutexd does not answer\n" },
		{ -EACCES, EX_NOPERM, NULL, "" },
		{ 0, 2, "{\"clusters\":[]}", "failed: bftmutexd has no cluster, or no credentials\n" },
		{ 0, 2, "{}", "failed: bftmutexd has no cluster, or no credentials\n" },
		{ 0, 2, "{\"clusters\":[{}]}",
		  "failed: cluster -: 0 of 0 servers can grant, a lock needs 0\n" },
	};
	char said[1024];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		error = cases[i].error;
		snprintf(told, sizeof(told), "%s", cases[i].told);
		assert_int_equal(check(NULL, said), cases[i].code);
		assert_string_equal(said, cases[i].said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_of_servers),
		cmocka_unit_test(the_same_for_others),
		cmocka_unit_test(tokens),
		cmocka_unit_test(several_clusters),
		cmocka_unit_test(daemons_that_do_not_tell),
	};

	return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
