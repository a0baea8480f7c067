/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the programs of the benchmark: a clock, and times that become lines "NAME.p50 VALUE
 * ns". Meant for a clock that counts instructions.
 */
#ifndef BFTM_BENCH_H
#define BFTM_BENCH_H

#include <arpa/inet.h>
#include <err.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <time.h>

#define BENCH_MS	1000000ull
#define BENCH_COUNT_MAX	100000u

/** struct bench_times - durations in ns, of as many as there are so far */
struct bench_times {
	uint64_t *ns;
	uint32_t count, room;
};

static inline uint64_t bench_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Idle time, in which all that is under way arrives. */
void bench_settle(uint64_t ns);

void bench_alloc(struct bench_times *t, uint32_t room);

static inline void bench_add(struct bench_times *t, uint64_t ns)
{
	if (t->count < t->room)
		t->ns[t->count++] = ns;
}

/* Prints and forgets them. */
void bench_print(const char *name, struct bench_times *t);

uint32_t bench_number(const char *what, const char *text, uint32_t min, uint32_t max);
struct sockaddr_in bench_address(const char *text, uint16_t port);

/* A connected socket that gives up after 5 s. */
int bench_connect(const char *address, uint16_t port, int type, int protocol);

#endif /* BFTM_BENCH_H */
