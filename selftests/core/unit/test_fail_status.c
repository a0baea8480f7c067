// SPDX-License-Identifier: GPL-2.0
/* The daemon's status socket: what it answers, and what may go wrong with it. */
#include <dirent.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "selftests/core/fuzz/status.h"
#include "daemon.h"
#include "fail.h"
#include "files.h"

static struct bftm_cluster going = { .conf = { .name = "going" }, .draining = true };

/* The content of the socket's folder, which is the socket or nothing. */
static bool socket_path(char ret[108])
{
	DIR *dir = opendir(unit_dir);
	struct dirent *entry;
	bool found = false;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		if (!strncmp(entry->d_name, "helper-", 7)) {
			snprintf(ret, 108, "%.40s/%.60s", unit_dir, entry->d_name);
			found = true;
		}
	closedir(dir);
	return found;
}

static int guest(const char *question)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0 && socket_path(address.sun_path));
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(write(fd, question, strlen(question)), strlen(question));
	return fd;
}

static void every_call_of_a_start_fails(void **state)
{
	char path[108], words[256];
	struct fail failed;
	u32 nth;
	int r;

	(void)state;
	setenv("BFTMUTEX_RUN", unit_dir, 1);
	for (nth = 1;; nth++) {
		*said = '\0';
		fail_begin(nth, NULL);
		r = bftm_status_open();
		failed = fail_end();
		if (!failed.call)
			break;
		assert_int_equal(r, -failed.error);
		assert_null(watched);
		/* The first is where the socket is to be. */
		snprintf(words, sizeof(words), ".sock: %s", strerror(failed.error));
		assert_true(nth == 1 || strstr(said, words));
		bftm_status_close();
	}
	assert_int_equal(r, 0);
	assert_int_equal(nth - 1, 4);
	assert_true(socket_path(path));
	bftm_status_close();
	assert_false(socket_path(path));

	watch_error = -ENOSPC;
	assert_int_equal(bftm_status_open(), -ENOSPC);
	assert_non_null(strstr(said, ".sock: No space left on device"));
	watch_error = 0;
	/* Nothing is made where it is by default. */
	unsetenv("BFTMUTEX_RUN");
	fail_begin(1, "stat");
	assert_int_equal(bftm_status_open(), -ENOENT);
	assert_string_equal(fail_end().call, "stat");
	assert_null(watched);
}

static void questions_are_answered(void **state)
{
	static const struct {
		const char *question, *words;
	} cases[] = {
		{ "stats\n", "\"rounds\":3" },
		{ "objects", "{\"clusters\":[\"storage\"]}" },
		{ "servers\r\n", "\"evidence\":[\"lies\"]" },
		{ "servers", "\"token\":\"5\",\"evidence\"" },
		{ "servers", "\"token\":null,\"evidence\"" },
		{ "servers", "\"quarantine_ns\":null" },
		{ "servers", "\"quarantine_ns\":1000000000" },
		{ "servers", "\"epoch\":\"18446744073709551615\"" },
		{ "servers", "\"default\":true" },
		{ "servers", "\"serving\":true" },
		{ "servers", "\"name\":\"storage\"" },
		{ "history - visits", "[\"visits\"]" },
		{ "history nowhere visits", "\"error\":\"unknown request" },
		{ "history -", "\"error\":\"unknown request" },
		{ "history 123456789012345678901234567890123 visits", "\"error\":\"unknown request" },
		{ "list - 86400000\n", "{\"listed\":86400000000000}" },
		{ "list storage 7\n", "\"errno\":11" },
		{ "list - 0", "\"error\":\"unknown request" },
		{ "list - 86400001", "\"error\":\"unknown request" },
		{ "list -", "\"error\":\"unknown request" },
		{ "list nowhere 1000", "\"error\":\"unknown request" },
		{ "secrets", "\"error\":\"unknown request" },
	};
	char answer[16384];
	ssize_t len;
	size_t i;
	int fd;

	(void)state;
	setenv("BFTMUTEX_RUN", unit_dir, 1);
	TAILQ_INSERT_TAIL(&bftm_clusters, &cluster, list);
	TAILQ_INSERT_TAIL(&bftm_clusters, &going, list);
	assert_int_equal(bftm_status_open(), 0);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		fd = guest(cases[i].question);
		watched->ready(watched);
		len = read(fd, answer, sizeof(answer) - 1);
		assert_true(len > 0);
		answer[len] = '\0';
		if (!strstr(answer, cases[i].words) || strstr(answer, "going"))
			fail_msg("%s: %s", cases[i].question, answer);
		close(fd);
	}
	bftm_status_close();
}

static void guests_that_leave(void **state)
{
	(void)state;
	assert_int_equal(bftm_status_open(), 0);
	*said = '\0';
	watched->ready(watched);	/* nobody is there */
	assert_string_equal(said, "");
	close(guest(""));
	watched->ready(watched);
	assert_string_equal(said, "");
	close(guest("stats\n"));
	watched->ready(watched);
	assert_string_equal(said, "status: Broken pipe");
	bftm_status_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_of_a_start_fails),
		cmocka_unit_test(questions_are_answered),
		cmocka_unit_test(guests_that_leave),
	};

	return cmocka_run_group_tests_name("fail_status", tests, unit_make_dir, unit_remove_dir);
}
