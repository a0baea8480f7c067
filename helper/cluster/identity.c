// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cluster/identity.h"
#include "cluster/service.h"
#include "loop/log.h"
#include "loop/reason.h"
#include "loop/loop.h"

/* Half of an incarnation's 2^32 numbers are used before the next one is recorded. */
#define NUMBERS_AHEAD (1ull << 31)

static LIST_HEAD(, bftm_identity) identities =
	LIST_HEAD_INITIALIZER(identities);

static char boot_id[BFTM_BOOT_ID_LEN + 1];

void bftm_boot_id_set(const char *id)
{
	size_t len = 0;

	for (; *id && len < BFTM_BOOT_ID_LEN; id++)
		if (isalnum((unsigned char)*id))
			boot_id[len++] = *id;
	boot_id[len] = '\0';
}

static const char *boot_id_get(void)
{
	char text[BFTM_BOOT_ID_LEN + 8] = {};
	int fd;

	if (*boot_id)
		return boot_id;
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0)
		bftm_boot_id_set(text);
	if (fd >= 0)
		close(fd);
	return boot_id;
}

/* Another one has locks of its own. Return: 0 when this kernel, before 5.14, has no number. */
static u64 netns_cookie(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(u64);
	u64 cookie = 0;

	if (fd < 0)
		return 0;
	if (getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len) < 0)
		cookie = 0;
	close(fd);
	return cookie;
}

/*
 * Two lines: a daemon that knows nothing of boots writes only the first. A boot is named when the
 * kernel listens to this daemon: see bftm_identity_lends().
 */
static int record(const struct bftm_identity *id, u64 incarnation)
{
	bool named = *id->boot_id && (id->lends || !id->boot);
	char text[96];
	int len = snprintf(text, sizeof(text), "%" PRIu64 "\n%u %s %" PRIu64 "\n", incarnation,
			   id->boot, named ? id->boot_id : "-", id->netns);
	ssize_t written = pwrite(id->fd, text, (size_t)len, 0);

	if (written >= 0 && written != len)
		return -EIO;
	return written < 0 || fsync(id->fd) < 0 ? -errno : 0;
}

int bftm_incarnation_next(u64 clock_s, u64 last, u64 *ret)
{
	if (last > BFTM_INCARNATION_MAX)
		return -EUCLEAN;
	if (clock_s > BFTM_INCARNATION_MAX || last == BFTM_INCARNATION_MAX)
		return -EOVERFLOW;
	*ret = clock_s > last ? clock_s : last + 1;
	return 0;
}

/*
 * @line: the second one of the file, as the last daemon wrote it. If that one ran in another
 * network namespace of this boot, the kernel does not tell here what is held there.
 */
static void boot_begin(struct bftm_identity *id, char *line, u32 incarnation)
{
	u64 boot = strtoull(line, &line, 10), netns;
	size_t len;

	line += strspn(line, "\n ");
	len = strcspn(line, "\n ");
	netns = strtoull(line + len, NULL, 10);
	snprintf(id->boot_id, sizeof(id->boot_id), "%s", boot_id_get());
	id->netns = netns_cookie();
	id->lends = len && len == strlen(id->boot_id) && !strncmp(line, id->boot_id, len);
	if (!id->lends)
		id->boot = incarnation;
	else
		id->boot = netns && netns != id->netns ? 0 : (u32)boot;
}

/* Written before it is used. @ret_last: what was in the file */
static int next_incarnation(struct bftm_identity *id, u64 *ret_last, u64 *ret)
{
	char text[96] = {}, *line;
	u64 incarnation;
	int err;

	if (pread(id->fd, text, sizeof(text) - 1, 0) < 0)
		return -errno;
	*ret_last = strtoull(text, &line, 10);
	err = bftm_incarnation_next((u64)time(NULL), *ret_last, &incarnation);
	if (err)
		return err;
	/* An operation takes another incarnation, and the boot stays. */
	if (!id->incarnation)
		boot_begin(id, line, (u32)incarnation);
	err = record(id, incarnation);
	if (!err)
		*ret = incarnation;
	return err;
}

/* Why there is no incarnation, and what to do about it. */
static void say_none(const char *path, u32 client, u64 last, int err)
{
	if (err == -EUCLEAN)
		bftm_log(LOG_ERR,
			 "%s: holds %" PRIu64 ", above all numbers that client %u may have (%u): it was written while the wall clock was after 2106, and servers take such numbers for old ones; set the clock, then remove the file",
			 path, last, client, BFTM_INCARNATION_MAX);
	else if (err == -EOVERFLOW)
		bftm_log(LOG_ERR,
			 "%s: no number is left for client %u: the wall clock shows %" PRIu64 " s since 1970, the file holds %" PRIu64 ", and %u is the last; set the clock to the right time",
			 path, client, (u64)time(NULL), last, BFTM_INCARNATION_MAX);
	else
		bftm_log(LOG_ERR, "%s: %s", path, strerror(-err));
}

static void say_unrecorded(const struct bftm_identity *id, int err)
{
	bftm_log(LOG_ERR,
		 "cluster %u: the incarnation of client %u cannot be written to --state: %s; the next bftmutexd may begin with numbers that servers have taken",
		 id->cluster, id->client, strerror(-err));
}

u32 bftm_identity_renew(struct bftm_identity *id)
{
	u64 fresh = (u64)id->incarnation + 1, last;
	int err = next_incarnation(id, &last, &fresh);

	if (err < 0)
		say_unrecorded(id, err);
	else
		id->recorded = fresh;
	id->incarnation = (u32)fresh;
	return id->incarnation;
}

void bftm_identity_keep(struct bftm_identity *id)
{
	u64 attempt = __atomic_load_n(&id->counters->attempt, __ATOMIC_RELAXED);
	u64 seq = bftm_identity_seq(id);
	u64 soon = ((seq > attempt ? seq : attempt) + NUMBERS_AHEAD) >> 32;
	int err;

	/* Of operations, which could not be recorded when it was begun. */
	if (soon < id->incarnation)
		soon = id->incarnation;
	if (soon <= id->recorded)
		return;
	err = record(id, soon);
	if (!err)
		id->recorded = soon;
	else if (bftm_due(&id->said_ns, BFTM_SAID_AGAIN_NS))
		say_unrecorded(id, err);
}

/* The kernel draws from it meanwhile. */
static void counter_raise(__u64 *counter, u64 least)
{
	__u64 now = __atomic_load_n(counter, __ATOMIC_RELAXED);

	while (now < least && !__atomic_compare_exchange_n(counter, &now, least, false,
							   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

int bftm_identity_pass(struct bftm_identity *id, u64 top)
{
	u64 last = top >> 32 > id->recorded ? top >> 32 : id->recorded, next;
	int err = bftm_incarnation_next((u64)time(NULL), last, &next);
	u32 start = 0;

	if (!err && getrandom(&start, sizeof(start), 0) != sizeof(start))
		err = -EIO;
	if (!err)
		err = record(id, next);
	if (err < 0) {
		if (bftm_due(&id->said_ns, BFTM_SAID_AGAIN_NS))
			bftm_log(LOG_ERR,
				 "cluster %u: the numbers of client %u are behind, servers have taken %" PRIu64 ", and the client cannot go on above that: %s",
				 id->cluster, id->client, top,
				 err == -EOVERFLOW ? "none are left; set the clock, or give this host another client number" :
				 strerror(-err));
		return err;
	}
	id->recorded = next;
	id->incarnation = (u32)next;
	counter_raise(&id->counters->seq, next << 32);
	/* As at a start: another copy of this machine may begin at the same second. */
	counter_raise(&id->counters->attempt, next << 32 | start >> 1);
	return 0;
}

int bftm_identity_restored(struct bftm_identity *id)
{
	u64 attempt = id->counters->attempt, seq = bftm_identity_seq(id);
	int err;

	/* Another copy may hold what this one has forgotten: only a boot makes sure that none does. */
	id->boot = 0;
	err = bftm_identity_pass(id, attempt > seq ? attempt : seq);

	id->orphan = id->counters->attempt | BFTM_ATTEMPT_KERNEL;
	return err;
}

void bftm_identity_lends(struct bftm_identity *id)
{
	id->lends = true;
	/* If this cannot be recorded, the next daemon takes the loan back as well. */
	record(id, id->recorded);
}

void bftm_identity_holds(struct bftm_identity *id, u64 attempt)
{
	/* The file was lost. If this cannot be recorded, the next daemon is told as well. */
	if (!id->boot || attempt >> 32 >= id->boot)
		return;
	id->boot = (u32)(attempt >> 32);
	record(id, id->recorded);
}

static int open_file(const char *path, u32 client)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0) {
		char why[BFTM_REASON_MAX];
		int err = -errno;

		bftm_log(LOG_ERR, "%s: %s", path, bftm_file_reason(path, err, why));
		return err;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		bftm_log(LOG_ERR, "%s: another bftmutexd is client %u already",
			 path, client);
		close(fd);
		return -EBUSY;
	}
	return fd;
}

static void identity_free(struct bftm_identity *id)
{
	munmap(id->counters, sizeof(*id->counters));
	free(id);
}

static struct bftm_identity *identity_new(void)
{
	struct bftm_identity *id = calloc(1, sizeof(*id));

	if (!id)
		return NULL;
	/* Shared, so that no fork() makes a copy that the kernel does not add to. */
	id->counters = mmap(NULL, sizeof(*id->counters), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (id->counters == MAP_FAILED) {
		free(id);
		return NULL;
	}
	return id;
}

int bftm_identity_get(const char *dir, u32 cluster, u32 client,
		      struct bftm_identity **ret)
{
	struct bftm_identity *id;
	char path[PATH_MAX];
	u64 incarnation = 0, last = 0;
	u32 start, i;
	int fd, err;

	LIST_FOREACH(id, &identities, list) {
		if (id->cluster == cluster && id->client == client) {
			id->users++;
			*ret = id;
			return 0;
		}
	}
	snprintf(path, sizeof(path), "%s/cluster-%u-client-%u", dir, cluster,
		 client);
	if (getrandom(&start, sizeof(start), 0) != sizeof(start))
		return -EIO;
	fd = open_file(path, client);
	if (fd < 0)
		return fd;
	id = identity_new();
	if (id)
		id->fd = fd;
	err = id ? next_incarnation(id, &last, &incarnation) : -ENOMEM;
	if (err) {
		say_none(path, client, last, err);
		if (id)
			identity_free(id);
		close(fd);
		return err;
	}
	id->cluster = cluster;
	id->client = client;
	id->counters->seq = incarnation << 32;
	id->incarnation = (u32)incarnation;
	id->recorded = incarnation;
	/*
	 * The same credentials may have been copied to another host, whose
	 * clock shows the same second: begin anywhere in the lower half.
	 */
	id->counters->attempt = incarnation << 32 | start >> 1;
	id->orphan = id->counters->attempt | BFTM_ATTEMPT_KERNEL;
	id->users = 1;
	for (i = 0; i < BFTM_SERVICES; i++)
		bftm_services[i]->begin(id);
	LIST_INSERT_HEAD(&identities, id, list);
	*ret = id;
	return 0;
}

void bftm_identity_put(struct bftm_identity *id)
{
	u32 i;

	if (!id || --id->users)
		return;
	LIST_REMOVE(id, list);
	for (i = BFTM_SERVICES; i--;)
		bftm_services[i]->forget(id);
	close(id->fd);
	identity_free(id);
}
