// SPDX-License-Identifier: GPL-2.0
/*
 * Which clients may hold locks without a lease? A server that is started waits for what these tell.
 * If its rules have lost one of them since the start before, it would give away what that one
 * holds. So the rights are noted at each start, and whenever the rules are replaced.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/conf.h"
#include "ctl/ctl.h"

static const char *rights_path(const char *dir, u32 cluster, u16 server, char *ret)
{
	char state[PATH_MAX];

	ctl_state_path(dir, cluster, server, state);
	snprintf(ret, PATH_MAX, "%.*s.members", PATH_MAX - 16, state);
	return ret;
}

/* To its clients, which may be others. */
static bool grants_right(const struct bftm_rule *rule, const struct bftm_rule *right)
{
	return rule->leaseless && rule->prefix_len <= right->prefix_len &&
	       !memcmp(rule->prefix, right->prefix, rule->prefix_len);
}

/*
 * Do rules grant a right to client @from? Return: the last client for which the answer, in
 * @ret_covered, is the same by the rule that decides it.
 */
static u32 same_until(const struct bftm_conf_access *access, const struct bftm_rule *right,
		      u32 from, bool *ret_covered)
{
	u32 i, until = right->client_last;
	const struct bftm_rule *rule;

	*ret_covered = false;
	for (i = 0; i < access->count; i++) {
		rule = &access->rule[i];
		if (!grants_right(rule, right) || rule->client_last < from)
			continue;
		if (rule->client_first <= from) {
			*ret_covered = true;
			return rule->client_last;
		}
		if (rule->client_first <= until)
			until = rule->client_first - 1;
	}
	return until;
}

/* The clients that have lost it, as "7" or "3, 50 to 52". */
static void list_lost(FILE *to, const struct bftm_conf_access *access,
		      const struct bftm_rule *right)
{
	const char *between = "";
	u32 from, until;
	bool covered;

	for (from = right->client_first; from <= right->client_last; from = until + 1) {
		until = same_until(access, right, from, &covered);
		if (covered)
			continue;
		fprintf(to, "%s%u", between, from);
		if (until > from)
			fprintf(to, " to %u", until);
		between = ", ";
	}
}

/* Return: 0, or an exit code after naming the clients that have lost it. */
static int check_right(const struct bftm_conf_access *access, const struct bftm_rule *right)
{
	char *lost = NULL;
	size_t len;
	FILE *to;
	int r = 0;

	to = open_memstream(&lost, &len);
	if (!to)
		return ctl_fail(EX_OSERR, "%s", strerror(errno));
	list_lost(to, access, right);
	if (fclose(to))
		r = ctl_fail(EX_OSERR, "%s", strerror(errno));
	else if (*lost)
		r = ctl_fail(EX_CONFIG, "client%s %s could hold locks '%.*s…' without a lease before this start, and no rule with 'leaseless' allows that now: "
			     "put the rule back, or give --members-fenced if none of these clients holds such a lock",
			     strchr(lost, ' ') ? "s" : "", lost, right->prefix_len,
			     (const char *)right->prefix);
	free(lost);
	return r;
}

/* A line "clients 50-51 prefix 6469736b2f". */
static bool parse_right(const char *line, struct bftm_rule *ret)
{
	char hex[2 * BFTM_NAME_LEN_MAX + 2] = "";
	unsigned int byte;
	size_t i;

	memset(ret, 0, sizeof(*ret));
	if (sscanf(line, "clients %u-%u prefix %129[0-9a-f]", &ret->client_first, &ret->client_last,
		   hex) < 2 || strlen(hex) > 2 * BFTM_NAME_LEN_MAX || strlen(hex) % 2)
		return false;
	if (!ret->client_first || ret->client_first > ret->client_last ||
	    ret->client_last > BFTM_CLIENT_ID_MAX)
		return false;
	for (i = 0; i < strlen(hex) / 2; i++) {
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			return false;
		ret->prefix[i] = (u8)byte;
	}
	ret->prefix_len = (u8)i;
	return true;
}

int ctl_rights_check(const char *dir, u32 cluster, u16 server,
		     const struct bftm_conf_access *access)
{
	char path[PATH_MAX], line[256];
	struct bftm_rule right;
	u32 number = 0;
	FILE *file;
	int r = 0, lost;

	file = fopen(rights_path(dir, cluster, server, path), "re");
	if (!file)
		return errno == ENOENT ? 0 : ctl_fail(errno == EACCES ? EX_NOPERM : EX_NOINPUT,
						      "%s: %s", path, strerror(errno));
	/* An empty file is of rules that let nobody hold such locks. */
	while (fgets(line, sizeof(line), file)) {
		number++;
		if (parse_right(line, &right)) {
			lost = check_right(access, &right);
			r = lost ? lost : r;
			continue;
		}
		r = ctl_fail(EX_DATAERR, "%s:%u: must be 'clients N-M prefix HEX': correct the line; or give --members-fenced, and the file is written anew, if no client holds a lock without a lease that the rules of this start do not let it hold so",
			     path, number);
		break;
	}
	fclose(file);
	return r;
}

static void print_right(FILE *to, const struct bftm_rule *rule)
{
	u32 i;

	if (!rule->leaseless)
		return;
	fprintf(to, "clients %u-%u prefix ", rule->client_first, rule->client_last);
	for (i = 0; i < rule->prefix_len; i++)
		fprintf(to, "%02x", rule->prefix[i]);
	fputc('\n', to);
}

int ctl_rights_note(const char *dir, u32 cluster, u16 server,
		    const struct bftm_conf_access *rules)
{
	char path[PATH_MAX], *text = NULL;
	size_t len;
	FILE *to;
	u32 i;
	int r;

	to = open_memstream(&text, &len);
	if (!to)
		return ctl_fail(EX_OSERR, "%s", strerror(errno));
	for (i = 0; i < rules->count; i++)
		print_right(to, &rules->rule[i]);
	r = fclose(to) ? -errno : 0;
	rights_path(dir, cluster, server, path);
	/* Most servers have no such clients, and never had. */
	if (r == 0 && (*text || !access(path, F_OK)))
		r = ctl_state_write(dir, path, text);
	free(text);
	if (r < 0)
		return ctl_fail(EX_CANTCREAT, "%s: %s: the next start would not know which clients may hold locks without a lease",
				path, strerror(-r));
	return 0;
}
