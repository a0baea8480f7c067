// SPDX-License-Identifier: GPL-2.0
#include "handle.h"

uint64_t now_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

void sleep_until(uint64_t at_ns)
{
	struct timespec at = {
		.tv_sec = (time_t)(at_ns / SEC),
		.tv_nsec = (long)(at_ns % SEC),
	};

	while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

void sleep_ns(uint64_t ns)
{
	sleep_until(now_ns() + ns);
}

void look_again(uint64_t at_ns)
{
	if (now_ns() + 5 * MS < at_ns)
		sleep_ns(MS);
}

bool short_run(void)
{
	return getenv("BFTMUTEX_SHORT");
}

int open_here(int flags)
{
	int fd = open("/dev/bftmutex", O_RDWR | O_CLOEXEC | flags);

	return fd < 0 ? -errno : fd;
}

int enter_client(int client)
{
	char path[64];
	int ns, err;

	snprintf(path, sizeof(path), "/run/netns/bftm-c%d", client);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	if (ns < 0)
		return -errno;
	err = setns(ns, CLONE_NEWNET) < 0 ? -errno : 0;
	close(ns);
	return err;
}

int open_client(int client, int flags)
{
	int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), fd;

	fd = enter_client(client);
	if (!fd)
		fd = open_here(flags);
	if (setns(here, CLONE_NEWNET) < 0)
		abort();
	close(here);
	return fd;
}

const char *new_name(void)
{
	static char name[BFTM_NAME_MAX];
	static int count;

	snprintf(name, sizeof(name), "test.%d.%d", getpid(), ++count);
	return name;
}

struct bftm_acquire want(const char *name, uint64_t lease_ns, uint64_t timeout_ns, uint32_t flags)
{
	struct bftm_acquire arg = {
		.size = sizeof(arg),
		.flags = flags,
		.name_len = (uint32_t)strlen(name),
		.lease_ns = lease_ns,
		.timeout_ns = timeout_ns,
	};

	memcpy(arg.name, name, arg.name_len);
	return arg;
}

void set_cluster(struct bftm_acquire *arg, const char *name)
{
	memset(arg->cluster, 0, sizeof(arg->cluster));
	memcpy(arg->cluster, name, strlen(name));
}

int call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

int acquire(int fd, const char *name, uint64_t lease_ns, uint64_t timeout_ns,
	    struct bftm_acquire *ret)
{
	struct bftm_acquire arg = want(name, lease_ns, timeout_ns, 0);
	int err = call(fd, BFTM_IOC_ACQUIRE, &arg);

	if (ret)
		*ret = arg;
	return err;
}

int try_lock(int fd, const char *name, uint64_t lease_ns)
{
	struct bftm_acquire arg = want(name, lease_ns, 0, BFTM_TRY);

	return call(fd, BFTM_IOC_ACQUIRE, &arg);
}

int release(int fd)
{
	return call(fd, BFTM_IOC_RELEASE, NULL);
}

int renew(int fd, uint64_t timeout_ns, uint64_t *ret_deadline_ns)
{
	struct bftm_renew arg = { .size = sizeof(arg), .timeout_ns = timeout_ns };
	int err = call(fd, BFTM_IOC_RENEW, &arg);

	if (ret_deadline_ns)
		*ret_deadline_ns = arg.deadline_ns;
	return err;
}

int convert(int fd, uint32_t mode, uint32_t flags, uint64_t timeout_ns, struct bftm_convert *ret)
{
	struct bftm_convert arg = {
		.size = sizeof(arg),
		.flags = flags,
		.mode = mode,
		.timeout_ns = timeout_ns,
	};
	int err = call(fd, BFTM_IOC_CONVERT, &arg);

	if (ret)
		*ret = arg;
	return err;
}

struct bftm_status status_of(int fd)
{
	struct bftm_status status = { .size = sizeof(status) };

	if (ioctl(fd, BFTM_IOC_STATUS, &status) < 0)
		abort();
	return status;
}

int state_of(int fd)
{
	return (int)status_of(fd).state;
}

int set_signal(int fd, uint32_t signo, uint64_t margin_ns)
{
	struct bftm_signal arg = { .size = sizeof(arg), .signo = signo, .margin_ns = margin_ns };

	return call(fd, BFTM_IOC_SET_SIGNAL, &arg);
}

int poll_for(int fd, short events, int ms)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, ms) < 0 ? -errno : p.revents;
}

int poll_now(int fd)
{
	return poll_for(fd, POLLIN | POLLPRI | POLLOUT, 0);
}

int get_soon(int fd, const char *name, uint64_t lease_ns)
{
	uint64_t end = now_ns() + LONG_MS * MS;
	int err;

	while ((err = try_lock(fd, name, lease_ns)) == -EWOULDBLOCK && now_ns() < end)
		sleep_ns(MS);
	return err;
}

static pid_t helper_pid(int client)
{
	char path[64];
	int pid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/run/bftmutex/dev/c%d/pid", client);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%d", &pid) != 1 || pid <= 1)
		abort();
	fclose(file);
	return pid;
}

void signal_helper(int client, int signo)
{
	kill(helper_pid(client), signo);
}

static void exec_helper(int client)
{
	char state[64], conf[96], log[96];
	int fd;

	snprintf(state, sizeof(state), "/run/bftmutex/dev/c%d", client);
	snprintf(conf, sizeof(conf), "%s/bftmutex.conf", state);
	snprintf(log, sizeof(log), "%s/log", state);
	fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	/* Not of the test's group, which ends with the test. */
	if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0 || setsid() < 0 ||
	    enter_client(client))
		_exit(1);
	execlp("bftmutexd", "bftmutexd", "--config", conf, "--state", state, "--foreground",
	       NULL);
	_exit(1);
}

int restart_helper(int client)
{
	uint64_t end = now_ns() + LONG_MS * MS;
	char path[64];
	int fd, err;
	FILE *file;
	pid_t pid;

	pid = fork();
	if (!pid)
		exec_helper(client);
	snprintf(path, sizeof(path), "/run/bftmutex/dev/c%d/pid", client);
	file = fopen(path, "we");
	if (!file)
		abort();
	fprintf(file, "%d\n", pid);
	fclose(file);
	fd = open_client(client, 0);
	while ((err = try_lock(fd, "restarted", 0)) == -ENOTCONN && now_ns() < end)
		sleep_ns(MS);
	close(fd);
	return err != -ENOTCONN;
}
