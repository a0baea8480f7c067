/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the tests of /dev/bftmutex. A handle belongs to the network namespace in which it was
 * opened, also when another process uses it: so one process can play two clients. Functions return
 * a negative errno.
 */
#ifndef BFTM_TEST_HANDLE_H
#define BFTM_TEST_HANDLE_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/bftmutex.h>

#include "selftests/lib/clock.h"

#define MS		1000000ull
#define SEC		1000000000ull
/* Longest lease that the cluster of device.sh grants. */
#define LEASE_MAX	SEC
/* Limit for events that come within a second; it only ends a test that hangs. */
#define LONG_MS		120000

uint64_t now_ns(void);
void sleep_until(uint64_t at_ns);
void sleep_ns(uint64_t ns);
/* Between two looks at what changes @at_ns by now_ns(): a millisecond, and none just before it. */
void look_again(uint64_t at_ns);
/* "make check" wants a few of each kind: BFTMUTEX_SHORT. */
bool short_run(void);

/* A handle of this network namespace. */
int open_here(int flags);

int enter_client(int client);

/* A handle of another client's network namespace. */
int open_client(int client, int flags);

/* The name of a lock that no other test has. */
const char *new_name(void);

struct bftm_acquire want(const char *name, uint64_t lease_ns, uint64_t timeout_ns, uint32_t flags);
void set_cluster(struct bftm_acquire *arg, const char *name);
int call(int fd, unsigned long request, void *arg);
int acquire(int fd, const char *name, uint64_t lease_ns, uint64_t timeout_ns,
	    struct bftm_acquire *ret);
int try_lock(int fd, const char *name, uint64_t lease_ns);
int release(int fd);
int renew(int fd, uint64_t timeout_ns, uint64_t *ret_deadline_ns);
int convert(int fd, uint32_t mode, uint32_t flags, uint64_t timeout_ns, struct bftm_convert *ret);
struct bftm_status status_of(int fd);
int state_of(int fd);
int set_signal(int fd, uint32_t signo, uint64_t margin_ns);

/* Events of @events, POLLHUP and POLLERR within so many ms. */
int poll_for(int fd, short events, int ms);

/* All events that are true now. */
int poll_now(int fd);

/* Try until the lock is acquired; false when that takes too long. */
int get_soon(int fd, const char *name, uint64_t lease_ns);

void signal_helper(int client, int signo);

/* Starts a daemon as "dev up" does; true when it serves the kernel. */
int restart_helper(int client);

#endif /* BFTM_TEST_HANDLE_H */
