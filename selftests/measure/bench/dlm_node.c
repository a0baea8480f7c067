// SPDX-License-Identifier: GPL-2.0
/*
 * A node of the kernel's DLM without its daemons, which need a cluster manager: what
 * they would write is written once.
 *
 *	dlm_node join SPACE NODE ADDRESS...  a lockspace of nodes 1, 2, ... at these
 *	                                     addresses, of which this host is NODE;
 *	                                     returns when all have come
 *	dlm_node hold SPACE LOCK             keeps it in mode NL, which hinders nobody:
 *	                                     the first to do so is its master; prints a
 *	                                     line and stays
 */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "dlm.h"

#define NODES_MAX	8
#define CLUSTER		"/sys/kernel/config/dlm/cluster"
#define SPACE_ID	"7011"	/* the same on all nodes */
#define PATIENCE_MS	60000

__attribute__((format(printf, 1, 2)))
static const char *path_of(const char *format, ...)
{
	static char path[256];
	va_list args;

	va_start(args, format);
	if (vsnprintf(path, sizeof(path), format, args) >= (int)sizeof(path))
		errx(EX_USAGE, "a name is too long");
	va_end(args);
	return path;
}

static void put(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		err(EX_UNAVAILABLE, "%s", path);
	close(fd);
}

static void put_text(const char *path, const char *text)
{
	put(path, text, strlen(text));
}

static void put_number(const char *path, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	put_text(path, text);
}

static void make_folder(const char *path)
{
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		err(EX_UNAVAILABLE, "%s", path);
}

static void configure(const char *space, uint32_t here, char **address, uint32_t count)
{
	uint32_t i;

	make_folder(CLUSTER);
	put_text(CLUSTER "/cluster_name", "bench");
	make_folder(path_of(CLUSTER "/spaces/%s", space));
	for (i = 1; i <= count; i++) {
		/* Its port is not looked at. */
		struct sockaddr_in in = bench_address(address[i - 1], 0);
		struct sockaddr_storage any = {};

		memcpy(&any, &in, sizeof(in));
		make_folder(path_of(CLUSTER "/comms/%u", i));
		put_number(path_of(CLUSTER "/comms/%u/nodeid", i), i);
		put(path_of(CLUSTER "/comms/%u/addr", i), &any, sizeof(any));
		put_number(path_of(CLUSTER "/comms/%u/local", i), i == here);
		make_folder(path_of(CLUSTER "/spaces/%s/nodes/%u", space, i));
		put_number(path_of(CLUSTER "/spaces/%s/nodes/%u/nodeid", space, i), i);
	}
}

/* Comes back when the lockspace is in use on all nodes. */
static void create(const char *space)
{
	struct dlm_request r = dlm_request(DLM_USER_CREATE_LOCKSPACE);
	int fd = open("/dev/dlm-control", O_RDWR | O_CLOEXEC);

	dlm_put_name("SPACE", space, r.head.i.lspace.name);
	if (fd < 0 || write(fd, &r, sizeof(r.head) + strlen(space)) < 0)
		err(EX_UNAVAILABLE, "lockspace '%s'", space);
}

/* The kernel waits for these when somebody creates the lockspace. */
static void start(const char *space)
{
	uint32_t i;

	for (i = 0; access(path_of("/sys/kernel/dlm/%s/event_done", space), W_OK) < 0; i++) {
		if (i == PATIENCE_MS)
			errx(EX_UNAVAILABLE, "the kernel makes no lockspace '%s'", space);
		bench_settle(BENCH_MS);
	}
	put_text(path_of("/sys/kernel/dlm/%s/id", space), SPACE_ID);
	put_text(path_of("/sys/kernel/dlm/%s/control", space), "1");
	put_text(path_of("/sys/kernel/dlm/%s/event_done", space), "0");
}

static int join(const char *space, uint32_t here, char **address, uint32_t count)
{
	int status;
	pid_t pid;

	configure(space, here, address, count);
	pid = fork();
	if (pid < 0)
		err(EX_OSERR, "fork");
	if (!pid) {
		create(space);
		return 0;
	}
	start(space);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		errx(EX_SOFTWARE, "who creates the lockspace was killed");
	return WEXITSTATUS(status);
}

static void hold(const char *space, const char *lock)
{
	dlm_lock(dlm_open(space), lock, DLM_LOCK_NL);
	printf("held\n");
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "hold"))
		hold(argv[2], argv[3]);
	if (argc < 5 || argc > 4 + NODES_MAX || strcmp(argv[1], "join"))
		errx(EX_USAGE, "join SPACE NODE ADDRESS... (1 to %d) | hold SPACE LOCK", NODES_MAX);
	return join(argv[2], bench_number("NODE", argv[3], 1, (uint32_t)argc - 4), argv + 4,
		    (uint32_t)argc - 4);
}
