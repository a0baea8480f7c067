// SPDX-License-Identifier: GPL-2.0
/*
 * The file of a roll, and the start of a server with it. The file is replaced as a whole, and is on
 * the disk before the server grants anything to an incarnation that is new in it. So it is never
 * behind the truth, as long as the server was started with it each time: a start without it is
 * known by its number, which the state directory has as well.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "ctl/roll.h"
#include "loop/reason.h"

const char *ctl_roll_path(const char *dir, u32 cluster, u16 server, char *ret)
{
	char state[PATH_MAX];

	ctl_state_path(dir, cluster, server, state);
	snprintf(ret, PATH_MAX, "%.*s.roll", PATH_MAX - 16, state);
	return ret;
}

bool ctl_roll_add(struct ctl_roll *roll, u32 client, u32 noted, u32 heard, bool awaited)
{
	bool unknown = awaited || heard == BFTM_NOTED_UNKNOWN;
	bool news = heard > noted && heard != BFTM_NOTED_UNKNOWN;

	if (!unknown && !noted && !news)
		return false;
	/* An awaited one may hold what it was granted before this start, and tells the server so. */
	roll->client[roll->count] = client;
	roll->incarnation[roll->count++] = unknown ? 0 : news ? heard : noted;
	return news;
}

static bool is_line(const char *line, const struct ctl_roll *r, u32 i)
{
	char want[64];

	if (r->incarnation[i])
		snprintf(want, sizeof(want), "client %u incarnation %u\n", r->client[i],
			 r->incarnation[i]);
	else
		snprintf(want, sizeof(want), "client %u unknown\n", r->client[i]);
	return !strcmp(line, want);
}

/* Return: false unless it is just as it would be written. */
static bool read_client(const char *line, struct ctl_roll *r)
{
	u32 i = r->count;

	if (i == BFTM_MEMBERS_MAX)
		return false;
	r->incarnation[i] = 0;
	if (sscanf(line, "client %u incarnation %u", &r->client[i], &r->incarnation[i]) < 1 ||
	    !is_line(line, r, i) || !r->client[i] || r->incarnation[i] == BFTM_NOTED_UNKNOWN)
		return false;
	r->count++;
	return true;
}

static bool read_lines(FILE *file, struct ctl_roll *r)
{
	char line[64], end[64];

	if (!fgets(line, sizeof(line), file) || sscanf(line, "start %" SCNx64, &r->start) != 1)
		return false;
	while (fgets(line, sizeof(line), file)) {
		snprintf(end, sizeof(end), "end %u\n", r->count);
		if (!strcmp(line, end))
			return !fgets(line, sizeof(line), file) && !ferror(file);
		if (!strcmp(line, "all unknown\n"))
			r->unknown = true;
		else if (!read_client(line, r))
			return false;
	}
	return false;
}

bool ctl_roll_read(const char *path, struct ctl_roll *ret)
{
	FILE *file = fopen(path, "re");
	bool good;

	*ret = (struct ctl_roll){ .on = true };
	if (file) {
		good = read_lines(file, ret);
		fclose(file);
		if (good)
			return true;
		errno = EBADMSG;
	}
	*ret = (struct ctl_roll){ .on = true, .unknown = true };
	return false;
}

int ctl_roll_write(const char *dir, const char *path, const struct ctl_roll *roll)
{
	char *text = NULL;
	size_t len;
	FILE *to;
	u32 i;
	int r;

	to = open_memstream(&text, &len);
	if (!to)
		return -errno;
	fprintf(to, "start %" PRIx64 "\n", roll->start);
	if (roll->unknown)
		fprintf(to, "all unknown\n");
	for (i = 0; i < roll->count; i++)
		if (roll->incarnation[i])
			fprintf(to, "client %u incarnation %u\n", roll->client[i],
				roll->incarnation[i]);
		else
			fprintf(to, "client %u unknown\n", roll->client[i]);
	fprintf(to, "end %u\n", roll->count);
	r = fclose(to) ? -errno : ctl_state_write(dir, path, text);
	free(text);
	return r;
}

/* Return: NULL if the file says what members may hold, else why it does not. */
static const char *doubt(const char *path, u64 last, bool first, struct ctl_roll *roll)
{
	bool good = ctl_roll_read(path, roll);

	if (!good && errno == ENOENT) {
		roll->unknown = !first;
		roll->created = first;
		return first ? NULL : "there is no roll of the start before";
	}
	if (!good)
		return errno == EBADMSG ? "the roll is broken" : strerror(errno);
	if (first || roll->start != last)
		return "the roll is of another start, and the server may have granted locks since";
	return roll->unknown ? "the start before did not know what clients held" : NULL;
}

int ctl_roll_begin(struct ctl_roll *roll, const char *dir, u32 cluster, u16 server, u64 last,
		   u64 start, bool first)
{
	char path[PATH_MAX];
	const char *why;
	int r;

	why = doubt(ctl_roll_path(dir, cluster, server, path), last, first, roll);
	if (why) {
		*roll = (struct ctl_roll){ .on = true, .unknown = true };
		warnx("%s: %s; so the server waits for all clients that may hold locks without a lease",
		      path, why);
	}
	roll->start = start;
	r = ctl_roll_write(dir, path, roll);
	return r < 0 ? ctl_fail(r == -EACCES || r == -EPERM ? EX_NOPERM : EX_CANTCREAT,
				"%s: %s: the roll cannot be written, so the server is not started", path,
				strerror(-r)) : 0;
}

void ctl_roll_undo(const struct ctl_roll *roll, const char *dir, u32 cluster, u16 server)
{
	char path[PATH_MAX];

	/* One that was there before may name clients that hold something. */
	if (roll->created)
		unlink(ctl_roll_path(dir, cluster, server, path));
}

int ctl_roll_lock(const char *dir, u32 cluster, u16 server, int *ret_fd)
{
	char path[PATH_MAX], lock[PATH_MAX];
	int r = 0;

	ctl_roll_path(dir, cluster, server, path);
	snprintf(lock, sizeof(lock), "%.*s.lock", PATH_MAX - 8, path);
	*ret_fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (*ret_fd < 0)
		return -errno;
	if (flock(*ret_fd, LOCK_EX | LOCK_NB) < 0) {
		r = -errno;
		close(*ret_fd);
		*ret_fd = -1;
	}
	return r;
}

int ctl_roll_unlocked(const char *dir, u32 cluster, u16 server, int error)
{
	char path[PATH_MAX], lock[PATH_MAX], why[BFTM_REASON_MAX];

	ctl_roll_path(dir, cluster, server, path);
	if (error == -EWOULDBLOCK)
		return ctl_fail(EX_UNAVAILABLE, "%s: another process keeps this roll; only one 'server roll' can run for a server", path);
	snprintf(lock, sizeof(lock), "%.*s.lock", PATH_MAX - 8, path);
	return ctl_fail(error == -EACCES ? EX_NOPERM : EX_CANTCREAT, "%s: %s", lock,
			bftm_file_reason(lock, error, why));
}

static int put_noted(struct nl_msg *msg, u32 client, u32 incarnation)
{
	struct nlattr *nest = nla_nest_start(msg, BFTMUTEX_A_SERVER_NOTED | NLA_F_NESTED);
	int r = nest ? 0 : -1;

	r |= nla_put_u32(msg, BFTMUTEX_A_NOTED_CLIENT, client);
	if (incarnation)
		r |= nla_put_u32(msg, BFTMUTEX_A_NOTED_INCARNATION, incarnation);
	if (nest)
		nla_nest_end(msg, nest);
	return r;
}

int ctl_roll_put(const struct ctl_roll *roll, struct nl_msg *msg)
{
	u32 i;
	int r;

	if (!roll->on)
		return 0;
	r = nla_put_u64(msg, BFTMUTEX_A_SERVER_ROLL, roll->start);
	if (roll->unknown)
		r |= nla_put_flag(msg, BFTMUTEX_A_SERVER_ROLL_UNKNOWN);
	for (i = 0; i < roll->count; i++)
		r |= put_noted(msg, roll->client[i], roll->incarnation[i]);
	return r;
}
