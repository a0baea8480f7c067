// SPDX-License-Identifier: GPL-2.0
/*
 * Four handles, and threads for calls that wait: the input goes on meanwhile, as the
 * helper that answers them, and at its end a signal ends what nobody has answered.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <linux/bftmutex.h>

#include "kfuzz.h"

#define HANDLES	4
#define CALLERS	3
#define PATIENCE_NS	(2 * BFTM_NS_PER_MS)

static int handle[HANDLES] = { -1, -1, -1, -1 };
static bool waits[HANDLES];	/* not O_NONBLOCK */

/* Longer than any argument, as the size in the command may lie. */
union argument {
	struct bftm_acquire acquire;
	struct bftm_renew renew;
	struct bftm_convert convert;
	struct bftm_lock_value value;
	struct bftm_status status;
	struct bftm_signal signal;
	struct bftm_submit submit;
	u8 raw[512];
};

/** struct caller - a thread that makes one call at a time */
static struct caller {
	pthread_t thread;
	sem_t start, done;
	bool is_busy;		/* until @done was waited for */
	int fd;
	unsigned long cmd;
	union argument arg;
	u8 op[BFTM_SUBMIT_MAX], response[BFTM_SUBMIT_MAX];
} caller[CALLERS];

static void *run_caller(void *arg)
{
	struct caller *c = arg;

	kfuzz_cover_thread();
	for (;;) {
		while (sem_wait(&c->start))
			;
		ioctl(c->fd, c->cmd, &c->arg);
		sem_post(&c->done);
	}
	return NULL;
}

/* In milliseconds or so: is it over? */
static bool is_over(struct caller *c)
{
	struct timespec until;

	if (!c->is_busy)
		return true;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += PATIENCE_NS;
	if (until.tv_nsec >= (long)BFTM_NS_PER_SEC) {
		until.tv_nsec -= BFTM_NS_PER_SEC;
		until.tv_sec++;
	}
	c->is_busy = sem_timedwait(&c->done, &until) != 0;
	return !c->is_busy;
}

static struct caller *free_caller(void)
{
	int i;

	for (i = 0; i < CALLERS; i++) {
		struct caller *c = &caller[i];

		if (!c->thread && (sem_init(&c->start, 0, 0) || sem_init(&c->done, 0, 0) ||
				   pthread_create(&c->thread, NULL, run_caller, c)))
			abort();
		if (is_over(c))
			return c;
	}
	return NULL;
}

static void call_now(int fd, unsigned long cmd, void *arg)
{
	int err = ioctl(fd, cmd, arg) < 0 ? -errno : 0;

	kfuzz_result((u32)_IOC_NR(cmd), err);
}

static void call_waiting(struct caller *c, int fd, unsigned long cmd)
{
	c->fd = fd;
	c->cmd = cmd;
	c->is_busy = true;
	sem_post(&c->start);
	kfuzz_result((u32)_IOC_NR(cmd) + 32, is_over(c));
}

/* A call that waits, or not. */
static void call(u8 slot, unsigned long cmd, const void *arg, size_t len)
{
	struct caller *c = waits[slot] ? free_caller() : NULL;
	union argument copy = {};

	memcpy(&copy, arg, len);
	if (!waits[slot])
		return call_now(handle[slot], cmd, &copy);
	if (!c)
		return;
	c->arg = copy;
	call_waiting(c, handle[slot], cmd);
}

/* Of the structure, sometimes a lie. */
static u32 size(size_t right)
{
	u8 byte = kfuzz_byte();

	return byte < 224 ? (u32)right : (u32)right + byte - 240;
}

static void acquire(u8 slot)
{
	struct bftm_acquire arg = { .size = size(sizeof(arg)) };
	u8 bits = kfuzz_byte();

	arg.flags = bits & 7;
	arg.way = bits >> 3 & 3;
	arg.name_len = kfuzz_name((u8 *)arg.name);
	memcpy(arg.cluster, bits & 32 ? "main" : "", 4 * !!(bits & 32));
	arg.lease_ns = kfuzz_value();
	arg.timeout_ns = kfuzz_value();
	if (bits & 64)
		arg.mode = kfuzz_byte();
	if (bits & 128)
		arg.flags |= (u32)kfuzz_byte() << 2;
	/* Else it would hardly ever be without a lease in the right way. */
	if (arg.flags & BFTM_NO_LEASE && bits & 4) {
		arg.flags &= ~(u32)BFTM_RENEW;
		arg.lease_ns = 0;
	}
	say("acquire %u: flags %x way %u mode %u name %.*s lease %llu timeout %llu\n", slot, arg.flags,
	    arg.way, arg.mode, (int)arg.name_len, arg.name, (unsigned long long)arg.lease_ns,
	    (unsigned long long)arg.timeout_ns);
	call(slot, BFTM_IOC_ACQUIRE, &arg, sizeof(arg));
}

static void renew(u8 slot)
{
	struct bftm_renew arg = { .size = size(sizeof(arg)) };

	arg.lease_ns = kfuzz_value();
	arg.timeout_ns = kfuzz_value();
	say("renew %u\n", slot);
	call(slot, BFTM_IOC_RENEW, &arg, sizeof(arg));
}

static void convert(u8 slot)
{
	struct bftm_convert arg = { .size = size(sizeof(arg)) };
	u8 bits = kfuzz_byte();

	arg.mode = bits & 7;
	arg.flags = bits >> 3 & 15;
	arg.timeout_ns = kfuzz_value();
	say("convert %u: flags %x mode %u\n", slot, arg.flags, arg.mode);
	call(slot, BFTM_IOC_CONVERT, &arg, sizeof(arg));
}

/* The lowest bit sets one, and mostly of a length that is allowed. */
static void value(u8 slot)
{
	struct bftm_lock_value arg = { .size = size(sizeof(arg)) };
	u8 bits = kfuzz_byte();
	const u8 *bytes;
	size_t len;

	arg.op = bits & 3;
	if (arg.op != BFTM_VALUE_GET) {
		bytes = kfuzz_bytes(kfuzz_byte(), &len);
		arg.len = (u32)len + (bits >> 2 & 3);
		if (len)
			memcpy(arg.bytes, bytes, len < sizeof(arg.bytes) ? len : sizeof(arg.bytes));
	}
	say("value %u: op %u len %u\n", slot, arg.op, arg.len);
	call_now(handle[slot], BFTM_IOC_VALUE, &arg);
}

static void status(u8 slot)
{
	struct bftm_status arg = { .size = size(sizeof(arg)) };

	say("status %u\n", slot);
	call_now(handle[slot], BFTM_IOC_STATUS, &arg);
}

/* None that would end us, nor any that libFuzzer wants. */
static void set_signal(u8 slot)
{
	static const u32 number[] = { 0, SIGUSR2, 64, 65, ~0u, 1u << 31 };
	struct bftm_signal arg = { .size = size(sizeof(arg)) };

	arg.signo = number[kfuzz_byte() % (sizeof(number) / sizeof(number[0]))];
	arg.margin_ns = kfuzz_value();
	say("signal %u: %u\n", slot, arg.signo);
	call_now(handle[slot], BFTM_IOC_SET_SIGNAL, &arg);
}

/* It waits whatever O_NONBLOCK says. */
static void submit(u8 slot)
{
	struct caller *c = free_caller();
	struct bftm_submit *arg;
	u8 bits = kfuzz_byte();
	const u8 *op;
	size_t len;

	if (!c)
		return;
	arg = &c->arg.submit;
	memset(arg, 0, sizeof(*arg));
	arg->size = size(sizeof(*arg));
	arg->name_len = kfuzz_name((u8 *)arg->name);
	memcpy(arg->cluster, bits & 1 ? "main" : "", 4 * (bits & 1));
	op = kfuzz_bytes(bits >> 4, &len);
	memset(c->op, 'o', sizeof(c->op));
	if (len)
		memcpy(c->op, op, len);
	arg->op_len = bits & 2 ? (u32)kfuzz_value() : (u32)len;
	arg->op = bits & 4 ? kfuzz_value() : (uintptr_t)c->op;
	arg->response_room = (u32)kfuzz_value() % (sizeof(c->response) + 1);
	arg->response = arg->response_room ? (uintptr_t)c->response : 0;
	/* Its room has to be ours. */
	if (bits & 8)
		arg->response = 4096;
	arg->timeout_ns = kfuzz_value();
	say("submit %u: %u bytes, room %u\n", slot, arg->op_len, arg->response_room);
	call_waiting(c, handle[slot], BFTM_IOC_SUBMIT);
}

static void fetch(u8 slot)
{
	static u8 room[BFTM_SUBMIT_MAX];
	struct bftm_submit arg = { .size = size(sizeof(arg)), .flags = BFTM_FETCH };

	arg.id = kfuzz_value();
	arg.response = (uintptr_t)room;
	arg.response_room = (u32)kfuzz_value() % (sizeof(room) + 1);
	say("fetch %u: %llu\n", slot, (unsigned long long)arg.id);
	call_now(handle[slot], BFTM_IOC_SUBMIT, &arg);
}

static void poll_it(u8 slot)
{
	struct pollfd p = { .fd = handle[slot], .events = POLLIN | POLLPRI | POLLRDBAND | POLLOUT };

	poll(&p, 1, kfuzz_byte() % 3);
	say("poll %u\n", slot);
	kfuzz_result(40, p.revents);
}

/* Operations on the handle as a file, and a handle with two descriptors. */
static void as_file(u8 slot)
{
	u8 what = kfuzz_byte(), other = what >> 4 & (HANDLES - 1);
	char byte = 0;
	void *at;
	int copy;

	say("file %u: %u\n", slot, what & 7);
	switch (what & 7) {
	case 0:
		kfuzz_result(41, (int)read(handle[slot], &byte, 1));
		break;
	case 1:
		kfuzz_result(42, (int)write(handle[slot], &byte, 1));
		break;
	case 2:
		at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, handle[slot], 0);
		if (at != MAP_FAILED)
			munmap(at, 4096);
		break;
	case 3:
		fcntl(handle[slot], F_SETOWN, getpid());
		fcntl(handle[slot], F_SETFL, O_ASYNC);
		break;
	case 4:
		copy = fcntl(handle[slot], F_DUPFD_CLOEXEC, 0);
		if (copy < 0)
			break;
		if (handle[other] >= 0)
			close(handle[other]);
		handle[other] = copy;
		waits[other] = waits[slot];
		break;
	default:
		waits[slot] = what & 8;
		fcntl(handle[slot], F_SETFL, waits[slot] ? 0 : O_NONBLOCK);
	}
}

/* Any number and any bytes; but no signals that end us, and no room that is not ours. */
static void any_ioctl(u8 slot)
{
	static u8 arg[1 << 14];
	unsigned long cmd = _IOC(kfuzz_byte() & 3, BFTM_IOC_MAGIC, kfuzz_byte() & 15,
				 kfuzz_byte());
	const u8 *bytes;
	size_t len;

	bytes = kfuzz_bytes(kfuzz_byte(), &len);
	memset(arg, 0, sizeof(arg));
	if (len)
		memcpy(arg, bytes, len);
	if (_IOC_NR(cmd) == _IOC_NR(BFTM_IOC_SET_SIGNAL) || _IOC_NR(cmd) == _IOC_NR(BFTM_IOC_SUBMIT))
		return;
	fcntl(handle[slot], F_SETFL, O_NONBLOCK);
	waits[slot] = false;
	say("ioctl %u: %lx\n", slot, cmd);
	call_now(handle[slot], cmd, len ? (void *)arg : NULL);
}

static void open_it(u8 slot)
{
	u8 bits = kfuzz_byte();

	if (handle[slot] >= 0)
		return;
	waits[slot] = bits & 1;
	handle[slot] = open("/dev/bftmutex", (bits & 2 ? O_RDONLY : O_RDWR) | O_CLOEXEC |
			    (waits[slot] ? 0 : O_NONBLOCK));
	say("open %u%s\n", slot, waits[slot] ? ", waits" : "");
}

void kfuzz_device_do(enum kfuzz_op op)
{
	static void (*const calls[])(u8) = {
		[KFUZZ_ACQUIRE] = acquire, [KFUZZ_RENEW] = renew, [KFUZZ_CONVERT] = convert,
		[KFUZZ_VALUE] = value, [KFUZZ_STATUS] = status,
		[KFUZZ_SIGNAL] = set_signal, [KFUZZ_SUBMIT] = submit, [KFUZZ_FETCH] = fetch,
		[KFUZZ_POLL] = poll_it, [KFUZZ_FILE] = as_file, [KFUZZ_IOCTL] = any_ioctl,
	};
	u8 slot = kfuzz_byte() % HANDLES;

	if (op == KFUZZ_OPEN)
		return open_it(slot);
	if (handle[slot] < 0)
		return;
	if (op == KFUZZ_CLOSE) {
		say("close %u\n", slot);
		close(handle[slot]);
		handle[slot] = -1;
	} else if (op == KFUZZ_RELEASE) {
		say("release %u\n", slot);
		call_now(handle[slot], BFTM_IOC_RELEASE, NULL);
	} else {
		calls[op](slot);
	}
}

void kfuzz_device_end(void)
{
	int i;

	for (i = 0; i < HANDLES; i++) {
		if (handle[i] >= 0)
			close(handle[i]);
		handle[i] = -1;
	}
	/* A waiting thread holds the file as well. A signal may come before it does. */
	for (i = 0; i < CALLERS; i++)
		while (!is_over(&caller[i]))
			pthread_kill(caller[i].thread, SIGUSR1);
}
