// SPDX-License-Identifier: GPL-2.0
/*
 * The oracle is the kernel's: it panics at each warning. Besides: when all is closed,
 * nothing is held and nobody waits; a server that is stopped is gone; and what
 * datagram.c and netlink.c know of answers.
 *
 *	BFTMUTEX_SAY=1		say what is done (to read a file that broke something)
 *	BFTMUTEX_LAST=FOLDER	the last inputs are there before they run
 *	BFTMUTEX_PLACES=FILE	gets the address in the module of each place reached
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "uapi/linux/bftmutex_netlink.h"
#include "kfuzz.h"

#define LAST		16	/* inputs: what breaks may come of an earlier one */
#define OPS_MAX		64	/* of an input; more only take time */
#define NETNS_INPUTS	64	/* in one network namespace */

struct kfuzz kfuzz;

static void begin_netns(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd;

	if (unshare(CLONE_NEWNET))
		abort();
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &ifr))
		abort();
	close(fd);
	kfuzz_netlink_begin();
	kfuzz_datagram_begin();
	kfuzz_liar_begin();
	kfuzz.spoilt = false;
}

/* Directly: it is of use only if it outlives the kernel. */
static int open_last(const char *folder, u32 n)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/last-%02u", folder, n);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_DIRECT, 0644);
	if (fd < 0)
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		abort();
	return fd;
}

static void record(const u8 *data, size_t len)
{
	static int file[LAST];
	static u32 next;
	const char *folder = getenv("BFTMUTEX_LAST");
	int *fd = &file[next % LAST];

	if (!folder)
		return;
	if (!*fd)
		*fd = open_last(folder, next % LAST);
	next++;
	if (pwrite(*fd, data, len, 0) != (ssize_t)len || ftruncate(*fd, (off_t)len))
		abort();
}

static void nothing(int signal)
{
	(void)signal;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct sigaction act = { .sa_handler = nothing };

	(void)argc;
	(void)argv;
	/* One interrupts calls, the others come of leases that end. */
	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGUSR2, &act, NULL);
	sigaction(SIGRTMAX, &act, NULL);
	signal(SIGIO, SIG_IGN);
	kfuzz.say = getenv("BFTMUTEX_SAY");
	begin_netns();
	if (!kfuzz_cover_open())
		dprintf(2, "kfuzz: no KCOV: blind\n");
	atexit(kfuzz_cover_report);
	return 0;
}

static void wait_ms(void)
{
	struct timespec ms = { .tv_nsec = (kfuzz_byte() % 16 + 1) * (long)BFTM_NS_PER_MS };

	say("wait %ld ms\n", ms.tv_nsec / (long)BFTM_NS_PER_MS);
	nanosleep(&ms, NULL);
}

static void do_one(void)
{
	u8 byte = kfuzz_byte();
	enum kfuzz_op op = (byte & ~KFUZZ_REMOTE) % KFUZZ_OPS;

	kfuzz_cover_begin(byte & KFUZZ_REMOTE);
	if (op == KFUZZ_WAIT)
		wait_ms();
	else if (op == KFUZZ_LIAR)
		kfuzz_liar_do();
	else if (op >= KFUZZ_PLAIN)
		kfuzz_datagram_do(op);
	else if (op >= KFUZZ_NETLINK)
		kfuzz_netlink_do(op);
	else
		kfuzz_device_do(op);
	kfuzz_cover_end();
}

/* Back to where it began; the helper may go first, or those who wait for it. */
static void end(bool helper_first)
{
	kfuzz_cover_begin(false);
	if (helper_first)
		kfuzz_netlink_end();
	kfuzz_device_end();
	must(kfuzz_handles() == 0);
	kfuzz_netlink_end();
	kfuzz_netlink_drain();
	kfuzz_datagram_end();
	kfuzz_liar_end();
	kfuzz_server_stop();
	kfuzz_cover_end();
	kfuzz.id = 0;
	kfuzz.id_before = 0;
	kfuzz.change = 0;
	kfuzz.epoch = 0;
	kfuzz.gno = 0;
	kfuzz.token = 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	static u32 inputs;
	int ops;

	record(data, len);
	kfuzz.in = (struct fuzz_bytes){ .at = data, .left = len };
	for (ops = 0; kfuzz.in.left && ops < OPS_MAX; ops++)
		do_one();
	end(len & 1);
	kfuzz_cover_keep();
	if (kfuzz.spoilt || ++inputs % NETNS_INPUTS == 0)
		begin_netns();
	return 0;
}
