// SPDX-License-Identifier: GPL-2.0
/*
 * Clients that may hold locks without a lease, at one server: the first two peers of each case are
 * members, for names that begin with "disk/". See members.sh, which starts the server anew, and
 * evicts, between cases.
 */
#include "cases.h"

#define BOOT 7u
#define OF(incarnation, n) ((u64)(incarnation) << 32 | (n))

static struct bftm_msg lasting(const char *name, u64 attempt)
{
	struct bftm_msg m;

	snprintf(lock_name, sizeof(lock_name), "%s", name);
	m = queue_try(attempt, 1, 1);
	m.lease_ns = BFTM_LEASE_NONE;
	return m;
}

static struct bftm_msg leased(const char *name, u64 attempt)
{
	struct bftm_msg m = lasting(name, attempt);

	m.lease_ns = long_ns;
	return m;
}

static struct bftm_msg reasserted(const char *name, u64 attempt)
{
	struct bftm_msg m = lasting(name, attempt);

	m.flags = BFTM_FLAG_REASSERT;
	m.arg = BFTM_MODE_EX;
	return m;
}

/* SYNC is answered when the server has dropped what the client had before its boot. */
static void sync_with(struct peer *p, u32 incarnation)
{
	struct bftm_msg m = { .type = BFTM_MSG_SYNC, .attempt = incarnation, .incarnation = incarnation };
	struct bftm_msg r = {};
	int i;

	for (i = 0; i < 100 && r.type == BFTM_MSG_NONE; i++) {
		tell(p, m);
		if (hear(p, &r, 200))
			break;
		expected.silent++;
	}
	check(r.type == BFTM_MSG_SYNCED && r.incarnation == incarnation, "SYNC: %s",
	      bftm_msg_name(r.type));
}

static void want_recovering(struct peer *p, bool recovering, const char *why)
{
	check(hello(p).recovering == recovering, "%s: the server is%s recovering", why,
	      recovering ? " not" : "");
}

/* A server that has just started, with a member that holds a lock. */
static void restarted(struct peer *p)
{
	struct bftm_msg second, r;
	u64 gno;

	want_recovering(&p[0], true, "after a start");
	r = want_reply(&p[1], lasting("disk/1", OF(BOOT, 1)), BFTM_MSG_WAIT, "a member's TRY");
	check(r.lease_ns == BFTM_LEASE_NONE, "WAIT for %" PRIu64 " ns", r.lease_ns);
	expected.waited += !r.position;
	r = want_reply(&p[2], leased("disk/2", fresh()), BFTM_MSG_WAIT, "a TRY with a lease");
	expected.waited += !r.position;
	want_refused(&p[2], lasting("disk/2", fresh()), BFTM_REFUSED_ACCESS, "one who is no member");
	want_refused(&p[0], lasting("tape/1", OF(BOOT, 2)), BFTM_REFUSED_ACCESS, "another name");
	want_reply(&p[2], leased("tape/1", fresh()), BFTM_MSG_FREE, "another lock");
	gno = want_reply(&p[0], reasserted("disk/1", OF(BOOT, 1)), BFTM_MSG_FREE, "REASSERT").gno;
	/* A grant from before the boot of its client goes with the SYNC of that client. */
	want_reply(&p[0], reasserted("disk/3", OF(BOOT - 1, 1)), BFTM_MSG_FREE, "an old REASSERT");
	sync_with(&p[0], BOOT);
	sync_with(&p[0], BOOT);
	want_recovering(&p[0], true, "when one of two has told");
	want_reply(&p[0], lasting("disk/3", OF(BOOT, 3)), BFTM_MSG_WAIT, "when one of two has told");
	expected.waited++;
	sync_with(&p[1], BOOT);
	want_recovering(&p[1], false, "when both have told");
	second = lasting("disk/1", OF(BOOT, 1));
	r = want_reply(&p[1], second, BFTM_MSG_WAIT, "a lock that is held");
	r = (struct bftm_msg){};
	check(hear(&p[0], &r, PATIENCE_MS) && r.type == BFTM_MSG_PROBE && r.gno == gno,
	      "the holder is asked: %s", bftm_msg_name(r.type));
	expected.inquired++;
	want_reply(&p[0], lasting("disk/3", OF(BOOT, 3)), BFTM_MSG_FREE, "what was dropped by SYNC");
	lasting("disk/1", 0);
	want_released(&p[0], OF(BOOT, 1));
	pushed(&p[1], BFTM_MSG_FREE, &second, gno + 1, "RELEASE");
}

/* The first member has a lock without a lease, and one with; the second waits for both. */
static void holds(struct peer *p)
{
	want_reply(&p[0], lasting("disk/8", OF(BOOT, 8)), BFTM_MSG_FREE, "a lock without a lease");
	want_reply(&p[0], leased("tape/8", OF(BOOT, 9)), BFTM_MSG_FREE, "a lock with a lease");
}

/* Its incarnations up to BOOT were evicted. */
static void evicted(struct peer *p)
{
	want_refused(&p[0], lasting("disk/8", OF(BOOT, 8)), BFTM_REFUSED_EVICTED, "TRY of the evicted");
	want_refused(&p[0], reasserted("disk/8", OF(BOOT, 8)), BFTM_REFUSED_EVICTED, "REASSERT");
	want_reply(&p[1], lasting("disk/8", OF(BOOT, 8)), BFTM_MSG_FREE, "TRY of another");
	want_reply(&p[1], leased("tape/8", OF(BOOT, 9)), BFTM_MSG_WAIT, "TRY of a leased lock");
	want_reply(&p[0], lasting("disk/9", OF(BOOT + 1, 1)), BFTM_MSG_FREE, "when it is back");
}

/* The same server, started again. */
static void again(struct peer *p)
{
	want_recovering(&p[0], true, "after a start");
	want_refused(&p[0], reasserted("disk/8", OF(BOOT, 8)), BFTM_REFUSED_EVICTED, "REASSERT");
	want_reply(&p[1], reasserted("disk/8", OF(BOOT, 8)), BFTM_MSG_FREE, "another's REASSERT");
	sync_with(&p[1], BOOT);
	want_recovering(&p[1], true, "while the evicted has not told");
}

/* … and the first was evicted while it was awaited: the second is the only peer. */
static void heard(struct peer *p)
{
	want_recovering(&p[0], false, "after the eviction");
	want_reply(&p[0], lasting("disk/4", OF(BOOT, 4)), BFTM_MSG_FREE, "after the eviction");
}

static const struct test tests[] = {
	{ "restarted", restarted, 3 },
	{ "holds", holds, 2 },
	{ "evicted", evicted, 2 },
	{ "again", again, 2 },
	{ "heard", heard, 1 },
	{}
};

int main(int argc, char **argv)
{
	return run_case(argc, argv, tests);
}
