// SPDX-License-Identifier: GPL-2.0
#include "bench.h"

void bench_settle(uint64_t ns)
{
	const struct timespec pause = {
		.tv_sec = (time_t)(ns / 1000000000u),
		.tv_nsec = (long)(ns % 1000000000u),
	};

	nanosleep(&pause, NULL);
}

void bench_alloc(struct bench_times *t, uint32_t room)
{
	/* Touched now, so that no page is missing while the clock runs. */
	*t = (struct bench_times){ .ns = malloc(room * sizeof(*t->ns)), .room = room };
	if (!t->ns)
		err(EX_OSERR, "memory");
	for (; room; room--)
		t->ns[room - 1] = 1;
}

static int bench_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void bench_print(const char *name, struct bench_times *t)
{
	uint64_t sum = 0;
	uint32_t i;

	if (!t->count)
		errx(EX_SOFTWARE, "%s: nothing was measured", name);
	qsort(t->ns, t->count, sizeof(*t->ns), bench_compare);
	for (i = 0; i < t->count; i++)
		sum += t->ns[i];
	printf("%s.p50 %" PRIu64 " ns\n%s.p99 %" PRIu64 " ns\n", name, t->ns[t->count / 2], name,
	       t->ns[(uint64_t)t->count * 99 / 100]);
	printf("%s.mean %" PRIu64 " ns\n%s.count %u samples\n", name, sum / t->count, name,
	       t->count);
	t->count = 0;
}

uint32_t bench_number(const char *what, const char *text, uint32_t min, uint32_t max)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end || value < min || value > max)
		errx(EX_USAGE, "%s '%s': not a number from %u to %u", what, text, min, max);
	return (uint32_t)value;
}

struct sockaddr_in bench_address(const char *text, uint16_t port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };

	if (inet_pton(AF_INET, text, &to.sin_addr) != 1)
		errx(EX_USAGE, "'%s': not an IPv4 address", text);
	return to;
}

int bench_connect(const char *address, uint16_t port, int type, int protocol)
{
	const struct timeval patience = { .tv_sec = 5 };
	struct sockaddr_in to = bench_address(address, port);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, protocol);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		err(EX_UNAVAILABLE, "%s, port %u", address, port);
	return fd;
}
