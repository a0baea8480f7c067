// SPDX-License-Identifier: GPL-2.0
/* Records the datagrams of a client for floods; and makes a state that floods must not change. */
#include <err.h>
#include <time.h>

#include "floods.h"
#include "selftests/lib/spoil.h"
#include "selftests/lib/version1.h"

#define OP(n)	((7ull << 32) + (n))

static struct samples samples;

static void keep(const void *data, size_t len, enum sample_kind kind)
{
	struct sample *s = &samples.sample[samples.count];

	if (samples.count == SAMPLES_MAX)
		errx(EX_SOFTWARE, "too many samples");
	s->len = (u16)len;
	s->kind = (u8)kind;
	memcpy(s->data, data, len);
	samples.count++;
}

/* Waits for the end of the quarantine that the server reports. */
static void outwait_quarantine(struct peer *p)
{
	struct bftm_msg r = hello(p);
	struct timespec left = {
		.tv_sec = (time_t)(r.gno / BFTM_NS_PER_SEC),
		.tv_nsec = (long)(r.gno % BFTM_NS_PER_SEC),
	};

	while (r.gno && nanosleep(&left, &left) < 0)
		;
	hello(p);
}

/* Sends a request, reads the answer, and records both. */
static void lock_sample(struct peer *p, struct bftm_msg m, bool sent)
{
	struct bftm_wire wire;
	struct bftm_msg r;

	prepare(p, &m, &wire);
	keep(wire.data, wire.len, sent ? SAMPLE_SENT : SAMPLE_NEW);
	if (!sent)
		return;
	say_wire(p, &wire);
	if (m.type != BFTM_MSG_YIELD)
		check(hear(p, &r, PATIENCE_MS), "%s: no answer", bftm_msg_name(m.type));
}

static void order_sample(struct peer *p, struct bftm_order_msg m, bool sent)
{
	u8 buf[BFTM_DATAGRAM_MAX];
	size_t len = prepare_order(p, &m, buf);
	struct answer a;

	keep(buf, len, sent ? SAMPLE_SENT : SAMPLE_NEW);
	if (!sent)
		return;
	say_bytes(p, buf, len);
	check(hear_order(p, &a, PATIENCE_MS), "%s: no answer", bftm_order_name(m.type));
}

static void lock_samples(struct peer *p, bool sent)
{
	static const u8 types[] = { BFTM_MSG_TRY, BFTM_MSG_STAMP, BFTM_MSG_YIELD, BFTM_MSG_RELEASE };
	char lock[16];
	struct bftm_msg m;
	u64 attempt;
	u32 i, t;

	for (i = 0; i < 16; i++) {
		snprintf(lock, sizeof(lock), "sample%u", i);
		attempt = fresh();
		for (t = 0; t < sizeof(types); t++) {
			m = request(types[t], lock, attempt);
			m.token = types[t] == BFTM_MSG_STAMP ? 1 + i : 0;
			lock_sample(p, m, sent);
		}
		lock_sample(p, (struct bftm_msg){ .type = BFTM_MSG_HELLO }, sent);
	}
}

static void order_samples(struct peer *p, bool sent)
{
	struct body *op = op_new("add 1");
	u64 i, base = sent ? 0 : 100;

	for (i = base + 1; i <= base + 16; i++) {
		struct body *state = small_state(i, p, OP(i));

		snprintf(name, sizeof(name), "object%" PRIu64, i % 4);
		order_sample(p, submit_op(OP(i), op, true), sent);
		order_sample(p, get(i), sent);
		order_sample(p, piece(state, 0), sent);
		order_sample(p, about(order(BFTM_ORDER_PROPOSE, i), state, true), sent);
		order_sample(p, about(order(BFTM_ORDER_FETCH, 0), state, false), sent);
		/* Records the push and the answer, if nothing else is to come. */
		if (!sent)
			order_sample(p, about(order(BFTM_ORDER_COMMIT, i), state, false), sent);
		free(state);
	}
	free(op);
}

/* Datagrams of a client with keys that are dropped before they are looked at. */
static void wrong_samples(struct peer *p)
{
	struct version1 older;
	struct bftm_wire wire;
	struct bftm_msg m;
	unsigned int n;
	u8 type;

	for (type = BFTM_MSG_HELLO; type <= BFTM_MSG_ASK; type++) {
		m = request(type, "sample", fresh());
		prepare(p, &m, &wire);
		for (n = 0; spoil(&m, n, &wire); n++) {
			if (bftm_mac_sign(p->request, &wire) < 0)
				abort();
			keep(wire.data, wire.len, SAMPLE_WRONG);
		}
	}
	version1_put(&m, p->request, &older);
	keep(&older, sizeof(older), SAMPLE_WRONG);
}

/* A lock is held for as long as there is, and somebody waits for it. */
static void fill(struct peer *holder, struct peer *waiter)
{
	struct bftm_msg m = request(BFTM_MSG_TRY, "held", fresh());
	u64 longest = hello(holder).lease_ns;

	hello(waiter);
	m.lease_ns = longest;
	ask(holder, m, BFTM_MSG_FREE, "TRY");
	m = request(BFTM_MSG_TRY, "held", fresh());
	m.flags = 0;
	m.lease_ns = longest;
	ask(waiter, m, BFTM_MSG_WAIT, "TRY of the next");
	snprintf(name, sizeof(name), "filled");
	decide(holder, 1, small_state(1, holder, OP(1)), true);
}

int flood_record(int argc, char **argv)
{
	struct peer p[3] = {};
	FILE *out;
	int i;

	for (i = 0; i < argc - 3; i++)
		open_peer(&p[i], (u16)flood_number("SERVER", argv[1], 1, 65535), argv[2], argv[3 + i]);
	outwait_quarantine(&p[0]);
	lock_samples(&p[0], true);
	order_samples(&p[0], true);
	fill(&p[1], &p[2]);
	/* A request that the server has not got: with one flipped bit it must not be accepted. */
	lock_samples(&p[0], false);
	order_samples(&p[0], false);
	wrong_samples(&p[0]);
	out = fopen(argv[0], "we");
	if (!out || fwrite(&samples, sizeof(samples), 1, out) != 1 || fclose(out))
		err(EX_CANTCREAT, "%s", argv[0]);
	printf("samples=%u\n", samples.count);
	return failures != 0;
}

void flood_read(const char *path, struct samples *ret)
{
	FILE *in = fopen(path, "re");

	if (!in || fread(ret, sizeof(*ret), 1, in) != 1 || !ret->count ||
	    ret->count > SAMPLES_MAX)
		err(EX_NOINPUT, "%s", path);
	fclose(in);
}
