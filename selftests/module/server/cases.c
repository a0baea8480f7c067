// SPDX-License-Identifier: GPL-2.0
#include "cases.h"

char lock_name[24];
u64 long_ns = 4 * BFTM_NS_PER_SEC;

struct bftm_msg queue_try(u64 attempt, u32 k, u64 prio)
{
	struct bftm_msg m = request(BFTM_MSG_TRY, lock_name, attempt);

	m.flags = 0;
	m.lease_ns = long_ns;
	m.prio = prio;
	m.k = k;
	return m;
}

struct bftm_msg want_reply(struct peer *p, struct bftm_msg m, u8 type, const char *why)
{
	struct bftm_msg r = ask(p, m, type, why);

	expected.granted += r.type == BFTM_MSG_FREE && m.k == 1;
	expected.refreshed += r.type == BFTM_MSG_FREE && m.k > 1;
	expected.locked += r.type == BFTM_MSG_LOCKED;
	expected.queued += r.type == BFTM_MSG_WAIT && r.position;
	expected.released += r.type == BFTM_MSG_RELEASED;
	expected.refused += r.type == BFTM_MSG_REFUSED;
	expected.stamped += r.type == BFTM_MSG_SACK;
	expected.denied += r.type == BFTM_MSG_SNACK;
	expected.challenged += r.type == BFTM_MSG_CHALLENGE;
	expected.stale += r.type == BFTM_MSG_STALE;
	return r;
}

void want_wait(struct peer *p, struct bftm_msg m, u32 position, const char *why)
{
	struct bftm_msg r = want_reply(p, m, BFTM_MSG_WAIT, why);

	check(r.position == position, "%s: position %u instead of %u", why, r.position, position);
	/* The rest of a quarantine; or T_w, half a lease for each that is before it. */
	check(r.lease_ns && r.lease_ns <= (position > 2 ? position : 2) * long_ns,
	      "%s: for %" PRIu64 " ns", why, r.lease_ns);
}

void want_refused(struct peer *p, struct bftm_msg m, enum bftm_refusal reason, const char *why)
{
	struct bftm_msg r = want_reply(p, m, BFTM_MSG_REFUSED, why);

	check(r.arg == (u32)reason, "%s: reason %u", why, r.arg);
}

void want_released(struct peer *p, u64 attempt)
{
	want_reply(p, request(BFTM_MSG_RELEASE, lock_name, attempt), BFTM_MSG_RELEASED, "RELEASE");
}

struct bftm_msg pushed(struct peer *p, u8 type, const struct bftm_msg *about, u64 gno,
		       const char *why)
{
	struct bftm_msg r = {};

	if (!check(hear(p, &r, PATIENCE_MS), "%s: nothing was pushed", why))
		return r;
	check(r.type == type && !r.seq, "%s: %s with seq %" PRIu64 " instead of a pushed %s", why,
	      bftm_msg_name(r.type), r.seq, bftm_msg_name(type));
	check(r.attempt == about->attempt && r.k == about->k, "%s: for %" PRIu64 " k %u", why,
	      r.attempt, r.k);
	check(r.gno == gno, "%s: grant %" PRIu64 " instead of %" PRIu64, why, r.gno, gno);
	check(r.server_epoch == p->epoch && r.client == p->client && r.server == p->server &&
	      r.cluster == p->cluster && !r.flags && r.proto == (about->proto ?: BFTM_PROTO_BACKOFF) &&
	      r.name_len == about->name_len && !memcmp(r.name, about->name, sizeof(r.name)),
	      "%s: for somebody else", why);
	expected.pushed += r.type == BFTM_MSG_FREE;
	expected.inquired += r.type == BFTM_MSG_INQUIRE;
	return r;
}

void yield(struct peer *p, u64 attempt, u64 gno)
{
	struct bftm_msg m = request(BFTM_MSG_YIELD, lock_name, attempt);

	m.gno = gno;
	tell(p, m);
}

static void print_expected(void)
{
	printf("received=%u bad_form=%u bad_version=%u bad_address=%u bad_tag=%u replayed=%u "
	       "granted=%u refreshed=%u locked=%u released=%u refused=%u silent=%u "
	       "queued=%u pushed=%u inquired=%u yielded=%u stamped=%u denied=%u "
	       "recovered=%u challenged=%u stale=%u waited=%u\n",
	       expected.received, expected.bad_form, expected.bad_version, expected.bad_address,
	       expected.bad_tag, expected.replayed, expected.granted, expected.refreshed, expected.locked,
	       expected.released, expected.refused, expected.silent, expected.queued,
	       expected.pushed, expected.inquired, expected.yielded, expected.stamped,
	       expected.denied, expected.recovered, expected.challenged, expected.stale, expected.waited);
}

int run_case(int argc, char **argv, const struct test *t)
{
	int i, n = (argc - 3) / 2;
	struct peer p[PEERS_MAX];

	for (; t->name && argc > 2 && strcmp(t->name, argv[2]); t++)
		;
	if (!t->name || n != t->peers || n > PEERS_MAX) {
		fputs("usage: PROGRAM SERVER CASE {ADDRESS CREDENTIALS}...\n", stderr);
		return EX_USAGE;
	}
	snprintf(lock_name, sizeof(lock_name), "q%" PRIu64, fresh());	/* never seen before */
	for (i = 0; i < n; i++) {
		open_peer(&p[i], (u16)atoi(argv[1]), argv[3 + 2 * i], argv[4 + 2 * i]);
		hello(&p[i]);
	}
	t->run(p);
	/* No client gets another datagram. */
	for (i = 0; i < n; i++) {
		p[i].seq = fresh();
		hello(&p[i]);
	}
	print_expected();
	return failures != 0;
}
