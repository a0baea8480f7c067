// SPDX-License-Identifier: GPL-2.0
/* Messages to a service manager, on a socket of our own; and in the daemon's sandbox. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/limits.h"
#include "files.h"
#include "daemon/notify.h"
#include "daemon/sandbox.h"

static int manager = -1;

/* A manager with this name, "@" for a zero byte. */
static void listen_at(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(name);

	close(manager);
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	memcpy(address.sun_path, name, len);
	if (*name == '@')
		*address.sun_path = '\0';
	assert_int_equal(bind(manager, (struct sockaddr *)&address,
			      offsetof(struct sockaddr_un, sun_path) + len), 0);
	setenv("NOTIFY_SOCKET", name, 1);
}

/* The next message, and the descriptor that came with it, -1 for none. */
static void hears(const char *words, int *ret_fd)
{
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))];
	char text[2048] = "";
	struct iovec vec = { text, sizeof(text) - 1 };
	struct msghdr msg = {
		.msg_iov = &vec, .msg_iovlen = 1,
		.msg_control = room, .msg_controllen = sizeof(room),
	};

	assert_true(recvmsg(manager, &msg, MSG_DONTWAIT) > 0);
	assert_string_equal(text, words);
	*ret_fd = -1;
	if (CMSG_FIRSTHDR(&msg))
		memcpy(ret_fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(*ret_fd));
}

static void by_path_and_by_name(void **state)
{
	char abstract[64];
	size_t i;
	int fd;

	(void)state;
	snprintf(abstract, sizeof(abstract), "@bftm-unit-%d", (int)getpid());
	for (i = 0; i < 2; i++) {
		listen_at(i ? abstract : unit_path("manager"));
		assert_true(bftm_notify_begin());
		assert_null(getenv("NOTIFY_SOCKET"));
		assert_int_equal(bftm_notify("READY=1\nSTATUS=x", -1, 0), 0);
		hears("READY=1\nSTATUS=x", &fd);
		assert_int_equal(fd, -1);
	}
	unlink(unit_path("manager"));
}

static void without_a_manager(void **state)
{
	static const char *const names[] = { NULL, "", "/", "@", "relative", "vsock:2:1" };
	char longest[200] = "/";
	size_t i;

	(void)state;
	memset(longest + 1, 'x', sizeof(longest) - 2);
	for (i = 0; i <= ARRAY_SIZE(names); i++) {
		const char *name = i < ARRAY_SIZE(names) ? names[i] : longest;

		if (name)
			setenv("NOTIFY_SOCKET", name, 1);
		setenv("WATCHDOG_USEC", "1000000", 1);
		assert_false(bftm_notify_begin());
		assert_int_equal(bftm_notify_watchdog_ns(), 0);
		assert_int_equal(bftm_notify("READY=1", -1, 0), 0);
		assert_null(getenv("NOTIFY_SOCKET"));
		assert_null(getenv("WATCHDOG_USEC"));
	}
	setenv("NOTIFY_SOCKET", unit_path("nobody"), 1);
	assert_true(bftm_notify_begin());
	assert_int_equal(bftm_notify("READY=1", -1, 0), -ENOENT);
}

static void the_watchdog(void **state)
{
	char own[16];
	const struct {
		const char *usec, *pid;
		u64 ns;
	} cases[] = {
		{ NULL, NULL, 0 }, { "30000000", NULL, 30 * BFTM_NS_PER_SEC },
		{ "30000000", own, 30 * BFTM_NS_PER_SEC }, { "30000000", "1", 0 },
		{ "30000000", "x", 0 }, { "x", NULL, 0 }, { "-1", NULL, 0 }, { "1", NULL, 1000 },
		{ "3600000000", NULL, 3600 * BFTM_NS_PER_SEC }, { "3600000001", NULL, 0 },
		{ "18446744073709551615", NULL, 0 },
	};
	size_t i;

	(void)state;
	snprintf(own, sizeof(own), "%d", (int)getpid());
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		setenv("NOTIFY_SOCKET", unit_path("manager"), 1);
		if (cases[i].usec)
			setenv("WATCHDOG_USEC", cases[i].usec, 1);
		if (cases[i].pid)
			setenv("WATCHDOG_PID", cases[i].pid, 1);
		assert_true(bftm_notify_begin());
		assert_int_equal(bftm_notify_watchdog_ns(), cases[i].ns);
		assert_null(getenv("WATCHDOG_PID"));
	}
}

static void a_descriptor_goes_along(void **state)
{
	int ends[2], fd;
	char byte = 'a';

	(void)state;
	listen_at(unit_path("manager"));
	bftm_notify_begin();
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(bftm_notify("FDSTORE=1", ends[1], 0), 0);
	hears("FDSTORE=1", &fd);
	assert_int_not_equal(fd, ends[1]);
	assert_int_equal(write(fd, &byte, 1), 1);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close(fd);
	close(ends[0]);
	close(ends[1]);
	unlink(unit_path("manager"));
}

static void a_manager_that_does_not_read(void **state)
{
	u32 sent = 0;
	int r;

	(void)state;
	listen_at(unit_path("manager"));
	bftm_notify_begin();
	while (!(r = bftm_notify("WATCHDOG=1", -1, 0)))
		assert_true(++sent < 100000);
	assert_int_equal(r, -EAGAIN);
	assert_int_equal(bftm_notify("READY=1", -1, 1), -EAGAIN);
	unlink(unit_path("manager"));
}

/* In a process of its own, for there is no way back. */
static void from_the_sandbox(void **state)
{
	int status, fd;
	pid_t pid;

	(void)state;
	listen_at(unit_path("manager"));
	bftm_notify_begin();
	pid = fork();
	if (!pid)
		syscall(SYS_exit_group, bftm_sandbox_close(BFTM_SANDBOX_STRICT) ? 2 :
			!!bftm_notify("WATCHDOG=1", -1, 0));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	hears("WATCHDOG=1", &fd);
	unlink(unit_path("manager"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_path_and_by_name),
		cmocka_unit_test(without_a_manager),
		cmocka_unit_test(the_watchdog),
		cmocka_unit_test(a_descriptor_goes_along),
		cmocka_unit_test(a_manager_that_does_not_read),
		cmocka_unit_test(from_the_sandbox),
	};

	return cmocka_run_group_tests_name("notify", tests, unit_make_dir, unit_remove_dir);
}
