// SPDX-License-Identifier: GPL-2.0
/* A handle in several processes, its end, and network namespaces. */
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "handle.h"
#include "harness.h"

#define MANY		200	/* watchers: more than are woken at once */

FIXTURE(share)
{
	int fd;		/* of client 1, holds the lock */
	int other;	/* of client 2 */
	const char *name;
	uint64_t deadline_ns;
};

FIXTURE_SETUP(share)
{
	struct bftm_acquire arg;

	self->fd = open_here(0);
	self->other = open_client(2, 0);
	self->name = new_name();
	ASSERT_EQ(0, acquire(self->fd, self->name, LEASE_MAX, 0, &arg));
	self->deadline_ns = arg.deadline_ns;
}

FIXTURE_TEARDOWN(share)
{
	close(self->fd);
	close(self->other);
}

/* Somebody has the lock, or the machine stood still until no program can get it. */
static bool is_taken(int other, const char *name, uint64_t deadline_ns)
{
	int err = try_lock(other, name, LEASE_MAX);

	return err == -EWOULDBLOCK || now_ns() > deadline_ns;
}

/* The lock is acquired again before its lease is over, not because it is over. */
static bool is_given_back(int other, const char *name, uint64_t deadline_ns)
{
	return !get_soon(other, name, LEASE_MAX) && now_ns() <= deadline_ns;
}

/* A child that keeps what it inherits until it is killed. */
static pid_t sleeping_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Whether a lock came back in time is asked again when the machine slept. */
#define RETRIES	3

static int take_again(int *fd, const char *name, uint64_t *deadline_ns)
{
	struct bftm_acquire arg;
	int err;

	*fd = open_here(0);
	err = acquire(*fd, name, LEASE_MAX, 0, &arg);
	*deadline_ns = arg.deadline_ns;
	return err;
}

TEST_F(share, close_gives_it_back)
{
	bool back = false;
	int i;

	for (i = 0; i < RETRIES && !back; i++) {
		if (i)
			ASSERT_EQ(0, take_again(&self->fd, self->name, &self->deadline_ns));
		close(self->fd);
		back = is_given_back(self->other, self->name, self->deadline_ns);
		release(self->other);
	}
	EXPECT_TRUE(back);
}

TEST_F(share, sigkill_gives_it_back)
{
	bool back = false;
	pid_t pid;
	int i;

	for (i = 0; i < RETRIES && !back; i++) {
		if (i)
			ASSERT_EQ(0, take_again(&self->fd, self->name, &self->deadline_ns));
		pid = sleeping_child();
		close(self->fd);
		end(pid);
		back = is_given_back(self->other, self->name, self->deadline_ns);
		release(self->other);
	}
	EXPECT_TRUE(back);
}

/* An acquire whose answer the kernel writes to a page that is watched. */
struct stuck {
	struct bftm_acquire *arg;
	int fd;
	int err;
};

static void *acquire_there(void *data)
{
	struct stuck *s = data;

	s->err = call(s->fd, BFTM_IOC_ACQUIRE, s->arg);
	return NULL;
}

/*
 * A writer to this page waits until it is released. Return: -errno, or a descriptor that reports
 * it.
 */
static int watch_writes(void *page, size_t len)
{
	struct uffdio_writeprotect protect = {
		.range = { (uintptr_t)page, len }, .mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};
	struct uffdio_register area = {
		.range = { (uintptr_t)page, len }, .mode = UFFDIO_REGISTER_MODE_WP,
	};
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	/* Not every machine can protect pages from writing alone. */
	if (ioctl(fd, UFFDIO_API, &api))
		return -ENOSYS;
	if (ioctl(fd, UFFDIO_REGISTER, &area) || ioctl(fd, UFFDIO_WRITEPROTECT, &protect))
		return -errno;
	return fd;
}

/* The answer of an acquire cannot be written when its lock has been given back already. */
TEST_F(share, what_another_has_acquired_since_stays)
{
	size_t len = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_writeprotect let_go = { .range = { (uintptr_t)page, len } };
	struct stuck s = { .arg = page, .fd = open_here(0) };
	const char *name = new_name();
	struct pollfd pfd = { .events = POLLIN };
	pthread_t thread;

	ASSERT_NE(MAP_FAILED, page);
	*s.arg = want(new_name(), LEASE_MAX, 0, 0);
	pfd.fd = watch_writes(page, len);
	if (pfd.fd == -ENOSYS)
		SKIP(return, "a kernel whose userfaultfd does not watch writes");
	ASSERT_LE(0, pfd.fd);
	ASSERT_EQ(0, pthread_create(&thread, NULL, acquire_there, &s));
	ASSERT_EQ(1, poll(&pfd, 1, 30000));
	EXPECT_EQ(0, release(s.fd));
	EXPECT_EQ(0, acquire(s.fd, name, LEASE_MAX, 0, NULL));
	ASSERT_EQ(0, mprotect(page, len, PROT_READ));
	ASSERT_EQ(0, ioctl(pfd.fd, UFFDIO_WRITEPROTECT, &let_go));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(-EFAULT, s.err);
	EXPECT_EQ(BFTM_STATE_HELD, state_of(s.fd));
	EXPECT_EQ(0, release(s.fd));
	close(s.fd);
	close(pfd.fd);
	munmap(page, len);
}

TEST_F(share, sigkill_of_a_waiter_leaves_nothing)
{
	int fd = open_here(0);
	pid_t pid = fork();

	if (!pid) {
		acquire(fd, self->name, LEASE_MAX, 0, NULL);
		_exit(0);
	}
	while (state_of(fd) != BFTM_STATE_PENDING)
		sched_yield();
	end(pid);
	/* This process has the handle too, so it is not closed: the call is interrupted. */
	EXPECT_EQ(BFTM_STATE_IDLE, state_of(fd));
	close(fd);
	ASSERT_EQ(0, release(self->fd));
	EXPECT_EQ(0, get_soon(self->other, self->name, LEASE_MAX));
}

TEST_F(share, fork_keeps_it_until_the_last_close)
{
	pid_t pid = sleeping_child();

	ASSERT_GT(pid, 0);
	close(self->fd);
	EXPECT_TRUE(is_taken(self->other, self->name, self->deadline_ns));
	end(pid);
	release(self->other);
	EXPECT_EQ(0, get_soon(self->other, self->name, LEASE_MAX));
}

TEST_F(share, child_can_release_for_all)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(release(self->fd) && now_ns() <= self->deadline_ns);
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
	EXPECT_NE(BFTM_STATE_HELD, state_of(self->fd));
	EXPECT_EQ(0, get_soon(self->other, self->name, LEASE_MAX));
}

TEST_F(share, exec_keeps_it)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fcntl(self->fd, F_SETFD, 0);
		execlp("sleep", "sleep", "1000", NULL);
		_exit(1);
	}
	close(self->fd);
	EXPECT_TRUE(is_taken(self->other, self->name, self->deadline_ns));
	end(pid);
	release(self->other);
	EXPECT_EQ(0, get_soon(self->other, self->name, LEASE_MAX));
}

TEST_F(share, exec_with_cloexec_gives_it_back)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execlp("sleep", "sleep", "1000", NULL);
		_exit(1);
	}
	close(self->fd);
	EXPECT_EQ(0, get_soon(self->other, self->name, LEASE_MAX));
	EXPECT_EQ(0, kill(pid, 0));
	end(pid);
}

static int pass(int socket, int *fd, bool send)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {};
	char byte = 0;
	struct iovec part = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.buf,
		.msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	if (!send) {
		if (recvmsg(socket, &msg, 0) != 1)
			return -errno;
		c = CMSG_FIRSTHDR(&msg);
		memcpy(fd, CMSG_DATA(c), sizeof(int));
		return 0;
	}
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), fd, sizeof(int));
	return sendmsg(socket, &msg, 0) == 1 ? 0 : -errno;
}

TEST_F(share, passed_over_a_socket)
{
	int pair[2], fd = -1;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
	ASSERT_EQ(0, pass(pair[0], &self->fd, true));
	close(self->fd);
	/* No process has it open: it is in a message. */
	EXPECT_TRUE(is_taken(self->other, self->name, self->deadline_ns));
	ASSERT_EQ(0, pass(pair[1], &fd, false));
	EXPECT_EQ(self->deadline_ns, status_of(fd).deadline_ns);
	close(fd);
	release(self->other);
	EXPECT_EQ(0, get_soon(self->other, self->name, LEASE_MAX));
}

TEST_F(share, lost_in_a_socket)
{
	int pair[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
	ASSERT_EQ(0, pass(pair[0], &self->fd, true));
	close(self->fd);
	close(pair[0]);
	close(pair[1]);
	EXPECT_EQ(0, get_soon(self->other, self->name, LEASE_MAX));
}

/* The handle's own namespace counts, not that of the process. */
TEST_F(share, namespace_of_the_open)
{
	int fd;

	ASSERT_EQ(0, unshare(CLONE_NEWNET));
	/* No helper is here, */
	fd = open_here(0);
	EXPECT_EQ(-ENOTCONN, acquire(fd, self->name, LEASE_MAX, 0, NULL));
	EXPECT_EQ(BFTM_STATE_IDLE, state_of(fd));
	close(fd);
	/* but there is one where this was opened. */
	ASSERT_EQ(0, release(self->fd));
	EXPECT_EQ(0, get_soon(self->fd, self->name, LEASE_MAX));
}

TEST_F(share, many_handles_of_one_process)
{
	char name[BFTM_NAME_MAX];
	int fd[40], i;

	for (i = 0; i < 40; i++) {
		fd[i] = open_here(O_NONBLOCK);
		snprintf(name, sizeof(name), "%s.%d", self->name, i);
		ASSERT_EQ(-EINPROGRESS, acquire(fd[i], name, LEASE_MAX, 0, NULL));
	}
	for (i = 0; i < 40; i++) {
		EXPECT_NE(0, poll_for(fd[i], POLLIN, LONG_MS) & POLLIN);
		close(fd[i]);
	}
}

/* Entries of epoll that wait for @fd through copies of it. */
static int watch(int fd, int *copies, int count, uint32_t events)
{
	int ep = epoll_create1(EPOLL_CLOEXEC), i;
	struct epoll_event event;

	for (i = 0; i < count; i++) {
		copies[i] = dup(fd);
		event = (struct epoll_event){ .events = events, .data.u32 = (uint32_t)i };
		if (copies[i] < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, copies[i], &event))
			return -1;
	}
	return ep;
}

/* Each of them reports @events within LONG_MS, and no other event. */
static bool all_hear(int ep, int count, uint32_t events)
{
	struct epoll_event got[MANY];
	uint64_t end = now_ns() + LONG_MS * MS;
	bool heard[MANY] = {};
	int n, i, left = count;

	while (left && now_ns() < end) {
		n = epoll_wait(ep, got, MANY, LONG_MS);
		for (i = 0; i < n; i++) {
			if (got[i].events != events)
				return false;
			left -= !heard[got[i].data.u32];
			heard[got[i].data.u32] = true;
		}
	}
	return !left;
}

/* The first watchers are woken with the lock of the namespace held, the others afterwards. */
TEST_F(share, watchers_are_all_woken)
{
	int copies[MANY], ep = watch(self->fd, copies, MANY, EPOLLHUP), i, events;
	struct bftm_acquire arg;

	ASSERT_GE(ep, 0);
	events = poll_now(self->fd);
	EXPECT_TRUE(events == POLLIN || now_ns() > self->deadline_ns);
	/* A watcher beyond the first ones waits like any other. */
	EXPECT_EQ(POLLHUP, poll_for(self->fd, 0, LONG_MS));
	EXPECT_TRUE(all_hear(ep, MANY, EPOLLHUP));
	/* The former watchers leave nothing on the handle. */
	close(ep);
	for (i = 0; i < MANY; i++)
		close(copies[i]);
	ASSERT_EQ(0, acquire(self->fd, self->name, LEASE_MAX, 0, &arg));
	events = poll_now(self->fd);
	EXPECT_TRUE(events == POLLIN || now_ns() > arg.deadline_ns);
	release(self->fd);
	EXPECT_EQ(0, poll_now(self->fd));
}

/* And a call that waits for a renewal is one of them. */
TEST_F(share, renewals_among_many_watchers)
{
	int copies[MANY], ep = watch(self->fd, copies, MANY, EPOLLHUP), i, err;
	uint64_t deadline_ns = 0;

	ASSERT_GE(ep, 0);
	err = renew(self->fd, 0, &deadline_ns);
	/* Too late for it, on a machine that stood still. */
	EXPECT_TRUE(!err || (err == -EKEYEXPIRED && now_ns() > self->deadline_ns));
	if (!err)
		EXPECT_GT(deadline_ns, self->deadline_ns);
	close(ep);
	for (i = 0; i < MANY; i++)
		close(copies[i]);
}

TEST_HARNESS_MAIN
