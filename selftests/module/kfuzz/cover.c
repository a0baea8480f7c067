// SPDX-License-Identifier: GPL-2.0
/*
 * KCOV writes down where in the kernel a thread was. Here the addresses in the module
 * are numbered as they turn up, and each has a counter that libFuzzer reads.
 *
 * Datagrams are processed in a softirq, which belongs to no process. The module tells KCOV when it
 * takes a datagram (server_receive() and session_receive()), and a process can ask for this
 * "remote" coverage of its datagrams, but cannot have its own coverage at the same time. So the bit
 * KFUZZ_REMOTE of an operation chooses one of the two.
 *
 * Without KCOV all that is reached is results of operations.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/kcov.h>

#include "kfuzz.h"

#define WORDS		(1 << 17)	/* addresses of one operation, in all of the kernel */
#define THREADS		8
#define PLACES		(1 << 14)	/* of the module that are told apart */
#define RESULTS		(1 << 12)
#define TEXT_MAX	(1 << 21)	/* bytes of the module's code */

static u8 counters[PLACES + RESULTS] __attribute__((section("__libfuzzer_extra_counters")));
static u16 number[TEXT_MAX];	/* of the address, from 1 */
static u32 reached;
static u64 text, text_end, section;
static FILE *places;		/* gets the address of each new one */

/* Those of threads, and the remote one behind them. */
static u64 *area[THREADS + 1];
static int threads, own = -1, remote = -1;
static bool is_remote;

static bool find_text(void)
{
	FILE *symbols = fopen("/proc/kallsyms", "r");
	char line[512], type, module[64];
	u64 at;

	text = ~0ull;
	while (symbols && fgets(line, sizeof(line), symbols)) {
		if (sscanf(line, "%llx %c %*s [%63[^]]", (unsigned long long *)&at, &type,
			   module) != 3 || strcmp(module, "bftmutex") || (type | 32) != 't')
			continue;
		text = at < text ? at : text;
		text_end = at > text_end ? at : text_end;
	}
	if (symbols)
		fclose(symbols);
	/* Behind the last function's beginning. */
	text_end += 8192;
	symbols = fopen("/sys/module/bftmutex/sections/.text", "r");
	if (!symbols || fscanf(symbols, "%llx", (unsigned long long *)&section) != 1)
		section = text;
	if (symbols)
		fclose(symbols);
	return text && text < text_end && text_end - text < TEXT_MAX;
}

static int open_area(u64 **ret)
{
	int fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (ioctl(fd, KCOV_INIT_TRACE, WORDS))
		abort();
	*ret = mmap(NULL, WORDS * sizeof(u64), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (*ret == MAP_FAILED)
		abort();
	return fd;
}

static int enable(int fd)
{
	return ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC);
}

void kfuzz_cover_thread(void)
{
	u64 *ours;
	int fd;

	if (own < 0 || threads == THREADS)
		return;
	fd = open_area(&ours);
	if (fd < 0 || enable(fd))
		abort();
	area[threads++] = ours;
}

bool kfuzz_cover_open(void)
{
	const char *path = getenv("BFTMUTEX_PLACES");

	if (path)
		places = fopen(path, "ae");
	if (!find_text())
		return false;
	own = open_area(&area[threads]);
	if (own < 0)
		return false;
	remote = open_area(&area[THREADS]);
	threads++;
	if (remote < 0 || enable(own))
		abort();
	return true;
}

static void count(u8 *counter)
{
	if (*counter < 255)
		++*counter;
}

static void count_place(u64 at)
{
	u16 *n;

	if (at < text || at >= text_end)
		return;
	n = &number[at - text];
	if (!*n && reached < PLACES - 1) {
		*n = ++reached;
		if (places)
			fprintf(places, "%llx\n", (unsigned long long)(at - section));
	}
	if (*n)
		count(&counters[*n]);
}

/* Another thread may be writing: what it does later is of the next operation. */
static void collect(u64 *from)
{
	u64 n = __atomic_load_n(&from[0], __ATOMIC_RELAXED), i;

	for (i = 1; i <= n && i < WORDS; i++)
		count_place(from[i]);
	__atomic_store_n(&from[0], 0, __ATOMIC_RELAXED);
}

void kfuzz_cover_begin(bool by_datagrams)
{
	struct {
		struct kcov_remote_arg head;
	} arg = {
		.head = {
			.trace_mode = KCOV_TRACE_PC,
			.area_size = WORDS,
			.common_handle = kcov_remote_handle(KCOV_SUBSYSTEM_COMMON, 0xbf),
		},
	};

	if (own < 0)
		return;
	is_remote = by_datagrams;
	area[is_remote ? THREADS : 0][0] = 0;
	if (!is_remote)
		return;
	if (ioctl(own, KCOV_DISABLE, 0) || ioctl(remote, KCOV_REMOTE_ENABLE, &arg))
		abort();
}

void kfuzz_cover_end(void)
{
	int i;

	if (own < 0)
		return;
	if (is_remote) {
		if (ioctl(remote, KCOV_DISABLE, 0) || enable(own))
			abort();
		collect(area[THREADS]);
		area[0][0] = 0;
	}
	for (i = 0; i < threads; i++)
		collect(area[i]);
}

/* The file is the host's: while that is busy, our clock of instructions leaps. */
void kfuzz_cover_keep(void)
{
	if (places)
		fflush(places);
}

/* Below zero is an error. */
void kfuzz_result(u32 what, int error)
{
	u32 at = (what * 137 + (error < 0 ? (u32)-error : 0)) % RESULTS;

	count(&counters[PLACES + at]);
	say("  %u: %d\n", what, error);
}

void kfuzz_cover_report(void)
{
	dprintf(2, "kfuzz: %u places of the module%s\n", reached,
		own < 0 ? ": the kernel has no KCOV" : "");
}
