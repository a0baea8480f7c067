// SPDX-License-Identifier: GPL-2.0
/* The words of "bftmutexctl server start" on a server that runs now. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/quorum.h"
#include "ctl/start.h"
#include "crypto/keys.h"

static void explain_unknown_tokens(const struct ctl_start *start)
{
	printf("Fencing tokens: it does not know which tokens it accepted before, so it accepts none");
	if (!start->n)
		puts(".\n"
		     "With six servers or more for one liar, eleven for two, a client tells it what the\n"
		     "others know, after its quarantine. With fewer, start it with --token-floor N.");
	else if (ctl_tokens_learned(start->n, start->b))
		printf(" until\n"
		       "a client has told it, after its quarantine, what the other %u servers know.\n",
		       start->n - 1);
	else
		printf(".\n"
		       "It has to be started with --token-floor N: in a cluster of %u servers, of which %u\n"
		       "may lie, the others do not know enough to tell it.\n", start->n, start->b);
}

void ctl_start_explain(const struct ctl_start *start, const struct bftm_master *master,
		       u64 awaited)
{
	char path[PATH_MAX];

	ctl_state_path(start->state, master->cluster, master->server, path);
	if (start->no_quarantine)
		printf("The server runs, and grants locks at once. At most %u server%s of the cluster may restart\n"
		       "so within one quarantine.\n", start->no_quarantine,
		       start->no_quarantine > 1 ? "s" : "");
	else
		puts("The server runs. It grants nothing until its quarantine is over.");
	if (start->floor == CTL_FLOOR_KNOWN && start->first && !start->token_floor)
		puts("Fencing tokens: it begins with 0.");
	else if (start->floor == CTL_FLOOR_KNOWN)
		printf("Fencing tokens: it begins after %llu.\n",
		       (unsigned long long)start->token_floor);
	else
		explain_unknown_tokens(start);
	printf("That is %s %s.\n", start->first ? "its first start here, noted in" :
	       "not its first start here, by", path);
	if (start->access.count)
		printf("Access: %u rule%s.\n", start->access.count,
		       start->access.count > 1 ? "s" : "");
	else
		puts("Access: " CTL_ACCESS_ALL ".");
	if (awaited)
		printf("Locks without a lease: they are granted to nobody until each of the %llu clients that may\n"
		       "hold them has told what it holds, or was evicted; see 'server members'.\n",
		       (unsigned long long)awaited);
	if (start->roll.on)
		printf("Roll: clients get such locks while this runs, which keeps their names:\n"
		       "	bftmutexctl server roll%s%s\n",
		       strcmp(start->state, CTL_STATE_DIR) ? " --state " : "",
		       strcmp(start->state, CTL_STATE_DIR) ? start->state : "");
	if (start->durability.mode != BFTMUTEX_DURABILITY_NONE)
		printf("Objects: they are kept in %s while this runs:\n"
		       "	bftmutexctl server journal%s%s\n", start->durability.path,
		       strcmp(start->state, CTL_STATE_DIR) ? " --state " : "",
		       strcmp(start->state, CTL_STATE_DIR) ? start->state : "");
	putchar('\n');
}

void ctl_start_warn(const struct ctl_start *start)
{
	u32 r = start->n ? bftm_spared(start->n, start->b, start->m) : start->no_quarantine;
	u32 most = start->n ? bftm_spared(start->n, start->b, start->n - start->b) : 0;

	if (start->no_quarantine <= r)
		return;
	fprintf(stderr, "bftmutexctl: --no-quarantine=%u: clients with this configuration do not count the grants of this server: %u of %u servers grant a lock, which leaves room for r = %u that forget; ",
		start->no_quarantine, bftm_grants_needed(start->n, start->b, start->m), start->n, r);
	if (start->no_quarantine <= most)
		fprintf(stderr, "set protocol = sigma with a larger m, or lower R\n");
	else
		fprintf(stderr, "no m leaves room for more than r = %u, so %sstart it without the option\n",
			most, most ? "lower R, or " : "");
}
