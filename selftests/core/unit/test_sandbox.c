// SPDX-License-Identifier: GPL-2.0
/*
 * A process in the sandbox can do some things and not others; in a VM, sandbox.sh tests the daemon.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/sandbox.h"

#ifdef __s390x__
#define CLONE(flags)	syscall(SYS_clone, 0, (flags), 0, 0, 0)
/* Arguments of mmap() and socket() are in memory, where no filter sees it. */
#define HIDDEN		true
#else
#define CLONE(flags)	syscall(SYS_clone, (flags), 0, 0, 0, 0)
#define HIDDEN		false
#endif

enum attempt {
	READ_FILE, UDP, TALK, NETLINK, PACKET, FORK, EXECUTE, CODE, DATA, TRACE, NAMESPACE, MOUNT, BPF,
	KEYS, RING, PIPE,
};

/* A datagram to itself, by the C library's calls for all that the daemon does with sockets. */
static bool talks(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	socklen_t len = sizeof(name);
	char said = 0;

	return fd >= 0 && !bind(fd, (struct sockaddr *)&name, sizeof(sa_family_t)) &&
	       !getsockname(fd, (struct sockaddr *)&name, &len) &&
	       !connect(fd, (struct sockaddr *)&name, len) && send(fd, "x", 1, 0) == 1 &&
	       recv(fd, &said, 1, 0) == 1 && said == 'x';
}

static bool succeeds(enum attempt what)
{
	int ends[2];

	switch (what) {
	case READ_FILE:
		return open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0;
	case UDP:
		return socket(AF_INET6, SOCK_DGRAM, 0) >= 0 || errno == EAFNOSUPPORT;
	case TALK:
		return talks();
	case NETLINK:
		return socket(AF_NETLINK, SOCK_RAW, 16) >= 0;
	case PACKET:	/* also where it needs rights: another error then */
		return socket(AF_PACKET, SOCK_RAW, 0) >= 0 || errno != ENOSYS;
	case FORK:
		return CLONE(SIGCHLD) >= 0;
	case EXECUTE:	/* there is no such file */
		return execl("/none", "none", NULL) >= 0 || errno == ENOENT;
	case CODE:
		return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0) != MAP_FAILED;
	case DATA:
		return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0) != MAP_FAILED;
	case TRACE:
		return ptrace(PTRACE_TRACEME, 0, NULL, NULL) >= 0 || errno != ENOSYS;
	case NAMESPACE:
		return CLONE(CLONE_NEWUSER | SIGCHLD) >= 0 || errno != ENOSYS;
	case MOUNT:
		return syscall(SYS_mount, 0, 0, 0, 0, 0) >= 0 || errno != ENOSYS;
	case BPF:
		return syscall(SYS_bpf, 0, 0, 0) >= 0 || errno != ENOSYS;
	case KEYS:
		return syscall(SYS_keyctl, 0, 0, 0, 0, 0) >= 0 || errno != ENOSYS;
	case RING:
		return syscall(SYS_io_uring_setup, 0, 0) >= 0 || errno != ENOSYS;
	case PIPE:
		return syscall(SYS_pipe2, ends, 0) >= 0;
	}
	return false;
}

/* In a process of its own, for there is no way back; 2 is what the sandbox itself cannot. */
static int try(enum bftm_sandbox how, enum attempt what)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	/* Not by _exit(), before which the sanitizer asks the kernel for more. */
	if (!pid)
		syscall(SYS_exit_group, bftm_sandbox_close(how) ? 2 : succeeds(what));
	while (waitpid(pid, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void what_is_left(void **state)
{
	static const struct {
		enum attempt what;
		bool yes, strict;
	} table[] = {
		{ READ_FILE, true, true }, { UDP, true, true }, { TALK, true, true }, { NETLINK, true, true },
		{ DATA, true, true },
		{ FORK, true, false }, { EXECUTE, true, false }, { CODE, true, HIDDEN },
		{ PIPE, true, false },
		{ PACKET, HIDDEN, HIDDEN }, { TRACE, false, false }, { NAMESPACE, false, false },
		{ MOUNT, false, false }, { BPF, false, false }, { KEYS, false, false },
		{ RING, false, false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		printf("# attempt %d\n", table[i].what);
		assert_int_equal(try(BFTM_SANDBOX_NO, table[i].what), 1);
		assert_int_equal(try(BFTM_SANDBOX_YES, table[i].what), table[i].yes);
		assert_int_equal(try(BFTM_SANDBOX_STRICT, table[i].what), table[i].strict);
	}
}

static void capabilities_are_given_up(void **state)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
	pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (!pid) {
		if (bftm_sandbox_begin() || syscall(SYS_capget, &header, data) < 0)
			_exit(2);
		_exit(data[0].inheritable || data[1].permitted ||
		      data[0].permitted & ~(1u << CAP_NET_ADMIN));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_left),
		cmocka_unit_test(capabilities_are_given_up),
	};

	return cmocka_run_group_tests_name("sandbox", tests, NULL, NULL);
}
