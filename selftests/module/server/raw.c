// SPDX-License-Identifier: GPL-2.0
/*
 * A client that sends valid and invalid datagrams to one server:
 *
 *	raw SERVER ADDRESS COMMAND CREDENTIALS...
 *
 * Exit status 0: no fault was found; faults are on stderr. It prints by how much the server's
 * counters must have grown: "received=162 bad_tag=160 …". BFTMUTEX_SEED chooses the flipped bits.
 */
#include "selftests/lib/clock.h"
#include "selftests/lib/datagram.h"

/* Requests that the core refuses. */
static void refusals(struct peer *p, const char *name)
{
	struct {
		const char *why;
		struct bftm_msg m;
		enum bftm_refusal reason;
	} t[4];
	int i, n = 0;

#define REFUSE(text, about, field, value) do { \
	t[n].why = text; \
	t[n].m = request(BFTM_MSG_TRY, name, fresh()); \
	t[n].m.field = value; \
	t[n++].reason = about; \
} while (0)
	REFUSE("TRY for an hour", BFTM_REFUSED_LEASE, lease_ns, 3600 * BFTM_NS_PER_SEC);
	REFUSE("TRY for less than 1 ms", BFTM_REFUSED_LEASE, lease_ns, BFTM_LEASE_MIN_NS - 1);
	REFUSE("TRY without a lease", BFTM_REFUSED_ACCESS, lease_ns, BFTM_LEASE_NONE);
	for (i = 0; i < n; i++) {
		struct bftm_msg r = ask(p, t[i].m, BFTM_MSG_REFUSED, t[i].why);

		check(r.arg == (u32)t[i].reason, "%s: reason %u", t[i].why, r.arg);
		expected.refused++;
	}
}

/* Every kind of answer, to the right client. */
static void types(struct peer *p, struct peer *q)
{
	struct bftm_msg m, first, r = hello(p);
	u64 attempt = fresh();
	char name[24];

	snprintf(name, sizeof(name), "t%" PRIu64, attempt);	/* never seen before */
	check(r.lease_ns >= LEASE_NS && !r.gno, "CHALLENGE: longest lease %" PRIu64
	      ", quarantine %" PRIu64, r.lease_ns, r.gno);
	hello(q);
	m = request(BFTM_MSG_TRY, name, attempt);
	m.server_epoch = p->epoch + 1;
	r = ask(p, m, BFTM_MSG_STALE, "TRY in another epoch");
	check(r.server_epoch == p->epoch, "STALE: of epoch %" PRIx64, r.server_epoch);
	ask(q, request(BFTM_MSG_RELEASE, name, attempt), BFTM_MSG_RELEASED,
	    "RELEASE of a lock that is not there");
	m = request(BFTM_MSG_TRY, name, attempt);
	first = ask(p, m, BFTM_MSG_FREE, "TRY");
	m.k = 2;
	r = ask(p, m, BFTM_MSG_FREE, "TRY again");
	check(r.gno == first.gno, "TRY again: another grant");
	m = request(BFTM_MSG_TRY, name, attempt);
	r = ask(q, m, BFTM_MSG_LOCKED, "TRY of another client, same attempt number");
	check(r.lease_ns > 0 && r.lease_ns <= 2 * LEASE_NS, "LOCKED: for %" PRIu64, r.lease_ns);
	ask(q, request(BFTM_MSG_RELEASE, name, attempt + 1), BFTM_MSG_RELEASED,
	    "RELEASE by who does not own it");
	m = request(BFTM_MSG_TRY, name, attempt + 2);
	ask(q, m, BFTM_MSG_LOCKED, "TRY after that");
	ask(p, request(BFTM_MSG_TRY, name, attempt + 1), BFTM_MSG_LOCKED,
	    "TRY of the owner's next attempt");
	ask(p, request(BFTM_MSG_RELEASE, name, attempt), BFTM_MSG_RELEASED, "RELEASE");
	r = ask(q, m, BFTM_MSG_FREE, "TRY after the RELEASE");
	check(r.gno > first.gno, "the grant number does not grow");
	ask(q, request(BFTM_MSG_RELEASE, name, attempt + 2), BFTM_MSG_RELEASED, "RELEASE");

	expected.released += 4;
	expected.locked += 3;
	expected.granted += 2;
	expected.refreshed++;
	expected.stale++;

	/* A request of an attempt that is over gets no answer. */
	tell(p, request(BFTM_MSG_TRY, name, attempt));
	tell(p, request(BFTM_MSG_YIELD, name, attempt));
	expected.silent += 2;
	hello(p);
	refusals(p, name);
}

/* The server's counter for these bytes, computed with the same code. */
static void expect_bytes(struct peer *p, const void *bytes, size_t len)
{
	struct bftm_msg m;
	enum bftm_wire_error err = bftm_wire_get(bytes, len, &m);

	if (err == BFTM_WIRE_BAD_VERSION)
		expected.bad_version++;
	else if (err)
		expected.bad_form++;
	else if (m.cluster != p->cluster || m.server != p->server || m.type & BFTM_MSG_REPLY)
		expected.bad_address++;
	else
		expected.bad_tag++;
}

/* One bit of each byte turned over; behind the tag, and the tag itself. */
static void flips(struct peer *p)
{
	struct bftm_msg m = request(BFTM_MSG_TRY, "flip", fresh());
	struct bftm_wire wire;
	size_t i;

	prepare(p, &m, &wire);
	for (i = 0; i < wire.len; i++) {
		u8 bit = (u8)(1 << rand() % 8);

		wire.data[i] ^= bit;
		say_wire(p, &wire);
		expect_bytes(p, wire.data, wire.len);
		wire.data[i] ^= bit;
	}
}

static void lengths(struct peer *p)
{
	static const size_t longer[] = {
		BFTM_WIRE_LEN_MAX, BFTM_WIRE_LEN_MAX + 8, BFTM_DATAGRAM_MAX, BFTM_DATAGRAM_MAX + 8,
		1472, 1473, 9000, 65000,
	};
	static u8 bytes[65000];
	struct bftm_msg m = request(BFTM_MSG_TRY, "length", fresh());
	struct bftm_wire wire;
	size_t i;

	prepare(p, &m, &wire);
	memcpy(bytes, wire.data, wire.len);
	for (i = 0; i < wire.len; i++)
		say_bytes(p, bytes, i);
	say_bytes(p, bytes, wire.len + 1);
	for (i = 0; i < sizeof(longer) / sizeof(longer[0]); i++)
		say_bytes(p, bytes, longer[i]);
	expected.bad_form += (unsigned int)(wire.len + 1 + i);
}

/* prepare(), also of a type that is none: that has the form of TRY. */
static void prepare_any(struct peer *p, struct bftm_msg *m, struct bftm_wire *wire)
{
	const u8 type = m->type;

	m->type = bftm_wire_form(type) ? type : BFTM_MSG_TRY;
	prepare(p, m, wire);
	wire->head.type = type;
	if (bftm_mac_sign(p->request, wire) < 0)
		abort();
}

/* Well formed and signed, but not for this server, or not by who it says. */
static void strangers(struct peer *p, struct peer *q)
{
	struct bftm_msg m = request(BFTM_MSG_TRY, "stranger", fresh());
	struct bftm_mac *own = p->request;
	struct bftm_msg v;
	struct bftm_wire wire;
	unsigned int type;

	for (type = 0; type < 256; type++) {
		if (type >= BFTM_MSG_HELLO && type <= BFTM_MSG_ASK)
			continue;
		v = m;
		v.type = (u8)type;
		prepare_any(p, &v, &wire);
		say_wire(p, &wire);
		expect_bytes(p, wire.data, wire.len);
	}
	v = m;
	v.cluster = p->cluster + 1;
	tell(p, v);
	v = m;
	v.server = p->server + 1;
	tell(p, v);
	expected.bad_address += 2;

	v = m;
	v.client = q->client;		/* under another's name */
	tell(p, v);
	v.client = BFTM_CLIENT_ID_MAX;
	tell(p, v);
	p->request = p->reply;		/* with the other direction's key */
	tell(p, m);
	p->request = q->request;
	tell(p, m);
	p->request = own;
	expected.bad_tag += 4;
}

/* Anybody may have recorded a HELLO of long ago: a hundred a second are answered. */
static void again_and_again(struct peer *p, const struct bftm_wire *old)
{
	const int times = 50;
	u64 begun = clock_ns(CLOCK_MONOTONIC), took;
	struct bftm_msg r;
	u32 told = 0;
	int i;

	for (i = 0; i < times; i++)
		say_wire(p, old);
	took = clock_ns(CLOCK_MONOTONIC) - begun;
	while (hear(p, &r, 50))
		told++;
	check(told <= 1 + took / (BFTM_NS_PER_SEC / 100),
	      "%u answers to %d HELLOs of long ago in %" PRIu64 " ns", told, times, took);
	expected.refused += told;
	expected.replayed += times;
}

/* The same again, whoever sends it: a right one is answered once. */
static void replays(struct peer *p)
{
	struct bftm_msg m = request(BFTM_MSG_RELEASE, "replay", fresh()), r;
	struct bftm_wire old;
	u64 before, epoch;

	hello(p);
	prepare(p, &m, &old);
	say_wire(p, &old);
	expected.released++;
	check(hear(p, &r, PATIENCE_MS) && r.type == BFTM_MSG_RELEASED, "RELEASE: no answer");
	say_wire(p, &old);

	/* A late datagram is taken, but not one older than the window. */
	before = p->seq;
	p->seq += 100;
	hello(p);
	m.seq = before + 1;
	ask(p, m, BFTM_MSG_RELEASED, "RELEASE that was overtaken");
	expected.released++;
	p->seq = before + 2 * 1024;
	hello(p);
	m.seq = before + 2;
	tell(p, m);
	say_wire(p, &old);

	/*
	 * A client without an epoch whose number is too low is told the server's number, and no
	 * other client is.
	 */
	m = (struct bftm_msg){ .type = BFTM_MSG_HELLO, .seq = before + 3 };
	tell(p, m);
	epoch = p->epoch;
	p->epoch = 0;
	r = ask(p, m, BFTM_MSG_REFUSED, "HELLO of long ago");
	check(r.arg == BFTM_REFUSED_BEHIND, "HELLO of long ago: reason %u", r.arg);
	check(r.gno == p->seq, "HELLO of long ago: %" PRIu64 " instead of %" PRIu64, r.gno, p->seq);
	prepare(p, &m, &old);
	p->epoch = epoch;
	expected.refused++;
	expected.replayed += 5;
	again_and_again(p, &old);
}

/* A server started with --max-clients 2 --max-locks 64. */
static void limits(struct peer *p, struct peer *q, struct peer *third)
{
	u64 attempt = fresh(), end;
	struct bftm_msg m, r = {};
	char name[16];
	int i;

	hello(p);
	hello(q);
	r = ask(third, (struct bftm_msg){ .type = BFTM_MSG_HELLO }, BFTM_MSG_REFUSED,
		"HELLO of one client too many");
	check(r.arg == BFTM_REFUSED_CLIENTS, "third client: reason %u", r.arg);
	for (i = 0; i < 64; i++) {
		snprintf(name, sizeof(name), "limit-%d", i);
		m = request(BFTM_MSG_TRY, name, attempt);
		m.lease_ns = 1000 * BFTM_NS_PER_MS;
		ask(p, m, BFTM_MSG_FREE, name);
	}
	m = request(BFTM_MSG_TRY, "newcomer", attempt);
	r = ask(q, m, BFTM_MSG_REFUSED, "TRY of one lock too many");
	check(r.arg == BFTM_REFUSED_LOCKS, "lock 65: reason %u", r.arg);
	ask(q, request(BFTM_MSG_TRY, "limit-63", attempt), BFTM_MSG_LOCKED,
	    "TRY of another's lock");
	m = request(BFTM_MSG_TRY, "limit-0", attempt);
	m.k = 2;
	ask(p, m, BFTM_MSG_FREE, "TRY of the owner");
	ask(p, request(BFTM_MSG_RELEASE, "limit-0", attempt), BFTM_MSG_RELEASED, "RELEASE");
	ask(q, request(BFTM_MSG_TRY, "limit-0", attempt), BFTM_MSG_FREE, "TRY after RELEASE");
	ask(q, request(BFTM_MSG_RELEASE, "limit-0", attempt), BFTM_MSG_RELEASED, "RELEASE");

	/* A lock that nobody has any more makes room after a while. */
	end = clock_ns(CLOCK_BOOTTIME) + 20 * BFTM_NS_PER_SEC;
	do {
		usleep(100000);
		m = request(BFTM_MSG_TRY, "newcomer", ++attempt);
		tell(q, m);
		check(hear(q, &r, PATIENCE_MS), "newcomer: no answer");
	} while (r.type == BFTM_MSG_REFUSED && clock_ns(CLOCK_BOOTTIME) < end);
	check(r.type == BFTM_MSG_FREE, "room is not used again");
}

/* Very many locks, to see what they cost; names as long as are kept among the short ones. */
static void many(struct peer *p)
{
	u64 attempt = fresh();
	char name[16];
	int i;

	for (i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "plenty.%08d", i);
		ask(p, request(BFTM_MSG_TRY, name, attempt), BFTM_MSG_FREE, name);
	}
	expected.granted += (unsigned int)i;
}

/* A lock that is held for as long as there is, to see that it stays so. */
static void hold(struct peer *p)
{
	struct bftm_msg m, r = hello(p);
	u64 attempt = fresh();
	char name[24];

	snprintf(name, sizeof(name), "h%" PRIu64, attempt);
	m = request(BFTM_MSG_TRY, name, attempt);
	m.lease_ns = r.lease_ns;
	ask(p, m, BFTM_MSG_FREE, "TRY");
	printf("%s ", name);
	expected.granted++;
}

/* Try again and again: WAIT, and nothing else, until the quarantine is over. */
static void quarantine(struct peer *p)
{
	struct bftm_msg m, r;
	u64 attempt = fresh(), asked;
	int waits = 0;

	do {
		asked = clock_ns(CLOCK_REALTIME);
		m = request(BFTM_MSG_TRY, "limit-0", ++attempt);
		tell(p, m);
		r.type = BFTM_MSG_WAIT;
		if (!hear(p, &r, 100) || r.seq != p->seq)
			continue;	/* no server yet */
		if (r.server_epoch != p->epoch) {
			p->epoch = r.server_epoch;
			continue;
		}
		waits += r.type == BFTM_MSG_WAIT;
		usleep(1000);
	} while (r.type == BFTM_MSG_WAIT || r.type == BFTM_MSG_STALE);
	check(r.type == BFTM_MSG_FREE, "%s after WAIT", bftm_msg_name(r.type));
	printf("free_ns=%" PRIu64 " asked_ns=%" PRIu64 " waits=%d part=%u\n",
	       clock_ns(CLOCK_REALTIME), asked, waits, (u32)r.gno);
	ask(p, request(BFTM_MSG_RELEASE, "limit-0", attempt), BFTM_MSG_RELEASED, "RELEASE");
}

static void print_expected(void)
{
	printf("received=%u bad_form=%u bad_version=%u bad_address=%u bad_tag=%u replayed=%u "
	       "challenged=%u stale=%u granted=%u refreshed=%u locked=%u waited=%u released=%u "
	       "refused=%u silent=%u\n",
	       expected.received, expected.bad_form, expected.bad_version, expected.bad_address,
	       expected.bad_tag, expected.replayed, expected.challenged, expected.stale,
	       expected.granted, expected.refreshed, expected.locked, expected.waited,
	       expected.released, expected.refused, expected.silent);
}

int main(int argc, char **argv)
{
	const char *seed = getenv("BFTMUTEX_SEED"), *command = argc > 4 ? argv[3] : "";
	struct peer p[3];
	int i, n = argc - 4;

	if (n < 1 || n > 3) {
		fputs("usage: raw SERVER ADDRESS COMMAND CREDENTIALS...\n", stderr);
		return EX_USAGE;
	}
	srand(seed ? (unsigned int)strtoul(seed, NULL, 10) : 1);
	for (i = 0; i < n; i++)
		open_peer(&p[i], (u16)atoi(argv[1]), argv[2], argv[4 + i]);

	if (!strcmp(command, "quarantine")) {
		quarantine(&p[0]);
		return failures != 0;
	}
	hello(&p[0]);
	if (!strcmp(command, "types") && n == 2)
		types(&p[0], &p[1]);
	else if (!strcmp(command, "flips"))
		flips(&p[0]);
	else if (!strcmp(command, "lengths"))
		lengths(&p[0]);
	else if (!strcmp(command, "strangers") && n == 2)
		strangers(&p[0], &p[1]);
	else if (!strcmp(command, "replays"))
		replays(&p[0]);
	else if (!strcmp(command, "limits") && n == 3)
		limits(&p[0], &p[1], &p[2]);
	else if (!strcmp(command, "many"))
		many(&p[0]);
	else if (!strcmp(command, "hold"))
		hold(&p[0]);
	else
		return EX_USAGE;
	/* Nothing of what should not be answered was: this answer comes next. */
	hello(&p[0]);
	print_expected();
	return failures != 0;
}
