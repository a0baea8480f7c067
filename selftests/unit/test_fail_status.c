// SPDX-License-Identifier: GPL-2.0
/* The daemon's status socket: what it answers, and what may go wrong with it. */
#include <dirent.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <json-c/json.h>

#include "../../helper/cluster.h"
#include "../../helper/evidence.h"
#include "../../helper/log.h"
#include "../../helper/order.h"
#include "../../helper/status.h"
#include "fail.h"
#include "files.h"

struct bftm_clusters bftm_clusters = TAILQ_HEAD_INITIALIZER(bftm_clusters);
struct bftm_totals bftm_totals = { .won = 3 };

static struct bftm_watch *watched;
static int watch_error;
static char said[256];
static struct bftm_counters counters;
static struct bftm_identity identity = { .counters = &counters };
static struct bftm_conf_server servers[2] = { { .id = 1 }, { .id = 2 } };
static struct bftm_cluster cluster = {
	.conf = { .name = "storage", .n = 2, .id = 1 }, .identity = &identity,
	.peer = { { .conf = &servers[0], .token = BFTM_TOKEN_UNKNOWN },
		  { .conf = &servers[1], .token = 5 } },
};
static struct bftm_cluster going = { .conf = { .name = "going" }, .draining = true };

struct bftm_cluster *bftm_cluster_find(const char *name)
{
	return *name ? NULL : &cluster;
}

int bftm_evidence_list(const struct bftm_cluster *cl, u32 u,
		       struct bftm_evidence list[BFTM_EVIDENCE_KINDS])
{
	assert_ptr_equal(cl, &cluster);
	snprintf(list[0].text, sizeof(list[0].text), "lies");
	return u == 1;
}

const char *bftm_evidence_state(const struct bftm_cluster *cl, u32 u, u64 now)
{
	assert_ptr_equal(cl, &cluster);
	return u || !now ? "suspect" : "ok";
}

struct json_object *bftm_order_describe(const struct bftm_cluster *cl)
{
	return json_object_new_string(cl->conf.name);
}

struct json_object *bftm_order_describe_totals(void)
{
	return json_object_new_object();
}

struct json_object *bftm_order_history(const struct bftm_cluster *cl, const u8 *name, size_t len)
{
	struct json_object *list = json_object_new_array();

	assert_ptr_equal(cl, &cluster);
	json_object_array_add(list, json_object_new_string_len((const char *)name, (int)len));
	return list;
}

int bftm_watch_add(struct bftm_watch *watch)
{
	if (!watch_error)
		watched = watch;
	return watch_error;
}

void bftm_watch_del(struct bftm_watch *watch)
{
	assert_ptr_equal(watched, watch);
	watched = NULL;
}

u64 bftm_now(void)
{
	return 1;
}

void bftm_log(int level, const char *format, ...)
{
	va_list args;

	(void)level;
	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
}

/* What the socket's folder has, which is the socket or nothing. */
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
		{ "stats\n", "\"won\":3" },
		{ "objects", "{\"clusters\":[\"storage\"]}" },
		{ "servers\r\n", "\"evidence\":[\"lies\"]" },
		{ "servers", "\"token\":5,\"evidence\"" },
		{ "servers", "\"name\":\"storage\"" },
		{ "history - visits", "[\"visits\"]" },
		{ "history other visits", "\"error\":\"unknown request" },
		{ "history -", "\"error\":\"unknown request" },
		{ "history 123456789012345678901234567890123 visits", "\"error\":\"unknown request" },
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
