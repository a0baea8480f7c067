// SPDX-License-Identifier: GPL-2.0
/* Sizes and addresses of arguments, and the parts of the interface that must never change. */
#include <assert.h>
#include <stddef.h>
#include <sys/mman.h>

#include "handle.h"
#include "harness.h"

#define PAGE	4096

static_assert(sizeof(struct bftm_acquire) == 152);
static_assert(offsetof(struct bftm_acquire, cluster) == 16);
static_assert(offsetof(struct bftm_acquire, name) == 48);
static_assert(offsetof(struct bftm_acquire, lease_ns) == 112);
static_assert(offsetof(struct bftm_acquire, mode) == 148);
static_assert(sizeof(struct bftm_status) == 48);
static_assert(offsetof(struct bftm_status, mode) == 44);
static_assert(BFTM_LOCK_EX == 0 && BFTM_LOCK_PR == 2 && BFTM_LOCK_NL == 5);
static_assert(sizeof(struct bftm_signal) == 24);
static_assert(sizeof(struct bftm_why) == 256);
static_assert(offsetof(struct bftm_why, text) == 8);
static_assert(sizeof(struct bftm_renew) == 32);
static_assert(offsetof(struct bftm_renew, deadline_ns) == 24);
static_assert(sizeof(struct bftm_convert) == 40);
static_assert(offsetof(struct bftm_convert, timeout_ns) == 16);
static_assert(offsetof(struct bftm_convert, token) == 32);
static_assert(sizeof(struct bftm_lock_value) == 80);
static_assert(offsetof(struct bftm_lock_value, valid) == 12);
static_assert(offsetof(struct bftm_lock_value, bytes) == 16);
static_assert(sizeof(struct bftm_submit) == 168);
static_assert(offsetof(struct bftm_submit, cluster) == 16);
static_assert(offsetof(struct bftm_submit, op) == 112);
static_assert(offsetof(struct bftm_submit, response_len) == 132);
static_assert(offsetof(struct bftm_submit, timeout_ns) == 136);
static_assert(offsetof(struct bftm_submit, reserved) == 164);
static_assert(BFTM_IOC_ACQUIRE == 0xc098bf01u);
static_assert(BFTM_IOC_RENEW == 0xc020bf02u);
static_assert(BFTM_IOC_RELEASE == 0xbf03u);
static_assert(BFTM_IOC_STATUS == 0xc030bf04u);
static_assert(BFTM_IOC_SET_SIGNAL == 0x4018bf05u);
static_assert(BFTM_IOC_SUBMIT == 0xc0a8bf06u);
static_assert(BFTM_IOC_WHY == 0xc100bf07u);
static_assert(BFTM_IOC_CONVERT == 0xc028bf08u);
static_assert(BFTM_IOC_VALUE == 0xc050bf09u);
static_assert(BFTM_NO_LEASE == 16 && BFTM_LOST_EVICTED == 6);
static_assert(BFTM_VALUE == 8 && BFTM_VALUE_GET == 0 && BFTM_VALUE_SET == 1);

/* A call as a 32-bit program makes it: of i386, on other machines there is none. */
#ifdef __x86_64__
static int call32(int fd, uint32_t request, void *arg)
{
	int ret = 54;	/* ioctl */

	asm volatile("int $0x80" : "+a" (ret) :
		     "b" (fd), "c" (request), "d" ((uint32_t)(uintptr_t)arg) :
		     "memory", "r8", "r9", "r10", "r11");
	return ret;
}
#else
#define MAP_32BIT	0

static int call32(int fd, uint32_t request, void *arg)
{
	(void)fd;
	(void)request;
	(void)arg;
	return -ENOSYS;
}
#endif

/* Two pages, of which the second faults; below 4 GiB for the 32-bit calls. */
static char *guarded(void)
{
	char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (p == MAP_FAILED || mprotect(p + PAGE, PAGE, PROT_NONE))
		abort();
	return p;
}

/* One test for each ioctl that takes a structure, native and 32-bit. */
FIXTURE(argument)
{
	int fd;
	char *page;
};

FIXTURE_VARIANT(argument)
{
	uint32_t request;
	uint32_t size;
	bool writes;	/* the kernel writes it back */
	int good;	/* result of a good argument */
	int (*call)(int fd, uint32_t request, void *arg);
};

static int call64(int fd, uint32_t request, void *arg)
{
	return call(fd, request, arg);
}

FIXTURE_VARIANT_ADD(argument, acquire)
{
	.request = BFTM_IOC_ACQUIRE,
	.size = sizeof(struct bftm_acquire),
	.writes = true,
	.call = call64,
};

FIXTURE_VARIANT_ADD(argument, status)
{
	.request = BFTM_IOC_STATUS,
	.size = sizeof(struct bftm_status),
	.writes = true,
	.call = call64,
};

FIXTURE_VARIANT_ADD(argument, set_signal)
{
	.request = BFTM_IOC_SET_SIGNAL,
	.size = sizeof(struct bftm_signal),
	.writes = false,
	.call = call64,
};

FIXTURE_VARIANT_ADD(argument, why)
{
	.request = BFTM_IOC_WHY,
	.size = sizeof(struct bftm_why),
	.writes = true,
	.call = call64,
};

/* On an idle handle; device_renew.c tests that it works. */
FIXTURE_VARIANT_ADD(argument, renew)
{
	.request = BFTM_IOC_RENEW,
	.size = sizeof(struct bftm_renew),
	.writes = false,
	.good = -ENOLCK,
	.call = call64,
};

/* On an idle handle; netlink_convert.c tests that it works. */
FIXTURE_VARIANT_ADD(argument, convert)
{
	.request = BFTM_IOC_CONVERT,
	.size = sizeof(struct bftm_convert),
	.writes = false,
	.good = -ENOLCK,
	.call = call64,
};

/* On an idle handle; netlink_value.c tests that it works. */
FIXTURE_VARIANT_ADD(argument, value)
{
	.request = BFTM_IOC_VALUE,
	.size = sizeof(struct bftm_lock_value),
	.writes = false,
	.good = -ENOLCK,
	.call = call64,
};

/* BFTM_FETCH of a response that does not exist. */
FIXTURE_VARIANT_ADD(argument, submit)
{
	.request = BFTM_IOC_SUBMIT,
	.size = sizeof(struct bftm_submit),
	.writes = false,
	.good = -ENOENT,
	.call = call64,
};

FIXTURE_VARIANT_ADD(argument, acquire_32bit)
{
	.request = BFTM_IOC_ACQUIRE,
	.size = sizeof(struct bftm_acquire),
	.writes = true,
	.call = call32,
};

FIXTURE_VARIANT_ADD(argument, status_32bit)
{
	.request = BFTM_IOC_STATUS,
	.size = sizeof(struct bftm_status),
	.writes = true,
	.call = call32,
};

FIXTURE_VARIANT_ADD(argument, renew_32bit)
{
	.request = BFTM_IOC_RENEW,
	.size = sizeof(struct bftm_renew),
	.writes = false,
	.good = -ENOLCK,
	.call = call32,
};

FIXTURE_VARIANT_ADD(argument, convert_32bit)
{
	.request = BFTM_IOC_CONVERT,
	.size = sizeof(struct bftm_convert),
	.writes = false,
	.good = -ENOLCK,
	.call = call32,
};

FIXTURE_VARIANT_ADD(argument, value_32bit)
{
	.request = BFTM_IOC_VALUE,
	.size = sizeof(struct bftm_lock_value),
	.writes = false,
	.good = -ENOLCK,
	.call = call32,
};

FIXTURE_VARIANT_ADD(argument, submit_32bit)
{
	.request = BFTM_IOC_SUBMIT,
	.size = sizeof(struct bftm_submit),
	.writes = false,
	.good = -ENOENT,
	.call = call32,
};

FIXTURE_VARIANT_ADD(argument, set_signal_32bit)
{
	.request = BFTM_IOC_SET_SIGNAL,
	.size = sizeof(struct bftm_signal),
	.writes = false,
	.call = call32,
};

FIXTURE_SETUP(argument)
{
	uint32_t size = sizeof(struct bftm_status);

	self->fd = open_here(0);
	self->page = guarded();
	memcpy(self->page, &size, sizeof(size));
	/* The compat path may be configured away, or switched off at boot. */
	if (variant->call(self->fd, BFTM_IOC_STATUS, self->page))
		SKIP(return, "no 32-bit programs here");
	memset(self->page, 0, PAGE);
}

FIXTURE_TEARDOWN(argument)
{
	munmap(self->page, 2 * PAGE);
	close(self->fd);
}

/* A valid argument at @at whose size field is @size. */
static void *fill(char *at, uint32_t request, uint32_t size)
{
	struct bftm_acquire arg = want("abi", 0, 0, BFTM_TRY);
	struct bftm_submit fetch = { .flags = BFTM_FETCH, .id = 1 };

	if (request == BFTM_IOC_ACQUIRE)
		memcpy(at, &arg, sizeof(arg));
	if (request == BFTM_IOC_SUBMIT)
		memcpy(at, &fetch, sizeof(fetch));
	memcpy(at, &size, sizeof(size));
	return at;
}

TEST_F(argument, size)
{
	const uint32_t v1 = variant->size;
	const struct {
		uint32_t size;
		uint32_t dirty;	/* offset of a byte that is not zero */
		int result;
	} rows[] = {
		{ 0, 0, -EINVAL }, { 3, 0, -EINVAL }, { 4, 0, -EINVAL },
		{ v1 - 1, 0, -EINVAL }, { v1, 0, 0 }, { v1, v1, 0 },
		{ v1 + 1, 0, 0 }, { v1 + 1, v1, -E2BIG }, { v1 + 8, v1 + 7, -E2BIG },
		{ PAGE, 0, 0 }, { PAGE, PAGE - 1, -E2BIG }, { PAGE + 1, 0, -E2BIG },
		{ 0x7fffffff, 0, -E2BIG }, { 0x80000000, 0, -E2BIG },
		{ 0xffffffff, 0, -E2BIG },
	};
	size_t i;
	int got;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		memset(self->page, 0, PAGE);
		if (rows[i].dirty)
			self->page[rows[i].dirty] = 1;
		fill(self->page, variant->request, rows[i].size);
		got = variant->call(self->fd, variant->request, self->page);
		EXPECT_EQ(rows[i].result ?: variant->good, got) {
			TH_LOG("size %u, byte %u set", rows[i].size, rows[i].dirty);
		}
		if (rows[i].dirty)
			EXPECT_EQ(1, self->page[rows[i].dirty]);
		release(self->fd);
	}
}

TEST_F(argument, address)
{
	uint32_t request = variant->request;
	char *end = self->page + PAGE;

	EXPECT_EQ(-EFAULT, variant->call(self->fd, request, NULL));
	EXPECT_EQ(-EFAULT, variant->call(self->fd, request, (void *)1));
	EXPECT_EQ(-EFAULT, variant->call(self->fd, request, end));
	EXPECT_EQ(-EFAULT, variant->call(self->fd, request, end - 3));
	EXPECT_EQ(-EFAULT, variant->call(self->fd, request, (void *)-8));
	/* The argument begins in memory and ends outside. */
	memcpy(end - 4, &variant->size, 4);
	EXPECT_EQ(-EFAULT, variant->call(self->fd, request, end - 4));
	memset(self->page, 0, PAGE);
	fill(self->page + 8, request, PAGE);
	EXPECT_EQ(-EFAULT, variant->call(self->fd, request, self->page + 8));
	EXPECT_EQ(BFTM_STATE_IDLE, state_of(self->fd));
	memset(self->page, 0, PAGE);
	fill(end - variant->size, request, variant->size);
	EXPECT_EQ(variant->good, variant->call(self->fd, request, end - variant->size));
	release(self->fd);
	memset(self->page, 0, PAGE);
	fill(self->page + 1, request, variant->size);
	EXPECT_EQ(variant->good, variant->call(self->fd, request, self->page + 1));
}

TEST_F(argument, kernel_address)
{
	void *address = (void *)0xffffffff81000000;

	if (variant->call == call32)
		SKIP(return, "cannot be said with 32 bits");
	EXPECT_EQ(-EFAULT, variant->call(self->fd, variant->request, address));
	EXPECT_EQ(-EFAULT, variant->call(self->fd, variant->request, (void *)(1ull << 63)));
}

TEST_F(argument, read_only)
{
	int other = open_client(2, 0);

	fill(self->page, variant->request, variant->size);
	mprotect(self->page, PAGE, PROT_READ);
	EXPECT_EQ(variant->writes ? -EFAULT : variant->good,
		  variant->call(self->fd, variant->request, self->page));
	/* A lock whose program could not be told of it is not held. */
	EXPECT_EQ(BFTM_STATE_IDLE, state_of(self->fd));
	EXPECT_EQ(0, get_soon(other, "abi", 0));
	close(other);
}

/* A program built with a later header has another size in the number. */
TEST_F(argument, number_of_a_later_version)
{
	uint32_t size = variant->size + 16;
	uint32_t number = _IOC(_IOC_DIR(variant->request), BFTM_IOC_MAGIC,
			       _IOC_NR(variant->request), size);

	fill(self->page, variant->request, size);
	EXPECT_EQ(variant->good, variant->call(self->fd, number, self->page));
}

TEST_HARNESS_MAIN
