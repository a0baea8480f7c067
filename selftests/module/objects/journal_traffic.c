// SPDX-License-Identifier: GPL-2.0
/*
 * Makes one iteration after the other on some objects of one server, and logs a line for each
 * answer before it makes the next request:
 *
 *	journal_traffic SERVER ADDRESS CREDENTIALS LOG OBJECTS ITERATIONS
 *
 *	OBJECT RANK PROPOSED COMMITTED		what the server must know from now on
 *
 * ITERATIONS is the number for each object, 0 for no end. The program continues where LOG stops,
 * and starts an iteration again when the server has another epoch. It repeats a request until there
 * is an answer.
 */
#include <fcntl.h>

#include "order_raw.h"

#define OP(n)		((7ull << 32) + (n))
#define OBJECTS_MAX	64
#define AGAIN_MS	50

/* The state of an object that the server has confirmed. */
static struct known {
	u64 rank, proposed, committed;
} known[OBJECTS_MAX];

static int log_fd;

static void note(const struct known *k)
{
	char line[128];
	int len = snprintf(line, sizeof(line), "%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", name,
			   k->rank, k->proposed, k->committed);

	if (write(log_fd, line, (size_t)len) != len)
		exit(EX_IOERR);
}

static void read_log(const char *path)
{
	unsigned int i;
	struct known k;
	FILE *log = fopen(path, "re");

	while (log && fscanf(log, "t%u %" SCNu64 " %" SCNu64 " %" SCNu64 "\n", &i, &k.rank,
			     &k.proposed, &k.committed) == 4)
		if (i < OBJECTS_MAX)
			known[i] = k;
	if (log)
		fclose(log);
}

/* Return: the answer to this request; false when the server was restarted. */
static bool insist(struct peer *p, struct bftm_order_msg m, struct answer *a)
{
	u8 buf[BFTM_DATAGRAM_MAX];
	size_t len;

	for (;;) {
		m.seq = 0;
		m.server_epoch = 0;
		len = prepare_order(p, &m, buf);
		/* Only an answer tells whether it arrives. */
		if (send(p->fd, buf, len, 0) < 0)
			poll(NULL, 0, AGAIN_MS);	/* no server runs at the moment */
		while (hear_order(p, a, AGAIN_MS)) {
			if (a->type == BFTM_MSG_STALE) {
				p->epoch = a->plain.server_epoch;
				break;
			}
			if (bftm_order_shaped(a->raw) && a->order.name_len == m.name_len &&
			    !memcmp(a->order.name, m.name, m.name_len) &&
			    (m.type == BFTM_ORDER_PUT ? a->order.offset == m.offset :
			     !bftm_rank_cmp(&a->order.rank, &m.rank)) &&
			    a->type >= BFTM_ORDER_GOT)
				return true;
		}
	}
}

static u8 said(struct peer *p, struct bftm_order_msg m)
{
	struct answer a;

	insist(p, m, &a);
	return a.type;
}

/* The length of one datagram, some pieces, or many. */
static struct body *next_state(struct peer *p, u64 version)
{
	static const u32 lengths[] = { 3, 900, 5000, 40000 };
	static const u8 app[40000];

	return state_new(version, p, OP(version), "done", app, lengths[(u32)rand() % 4]);
}

static bool put_state(struct peer *p, u64 rank, const struct body *b)
{
	bool whole = b->id.len <= BFTM_ORDER_DATA_MAX;
	struct bftm_order_msg m = about(order(BFTM_ORDER_PROPOSE, rank), b, whole);
	u8 type = said(p, m);
	u32 at;

	while (type == BFTM_ORDER_NEEDBODY) {
		for (at = 0; at < b->id.len; at += BFTM_PIECE_LEN)
			said(p, piece(b, at));
		type = said(p, m);
	}
	return type == BFTM_ORDER_PROPOSED;
}

/* An iteration; it ends early when an earlier run of this program had a higher rank. */
static void iterate(struct peer *p, struct known *k)
{
	u64 rank = k->rank + 1, version = (k->proposed > k->committed ? k->proposed :
					   k->committed) + 1;
	struct body *b;
	u8 type = said(p, get(rank));

	k->rank = rank;
	if (type != BFTM_ORDER_GOT)
		return;		/* the server promised more than its answer said */
	note(k);
	b = next_state(p, version);
	if (put_state(p, rank, b)) {
		k->proposed = version;
		note(k);
		if (said(p, about(order(BFTM_ORDER_COMMIT, rank), b, false)) ==
		    BFTM_ORDER_COMMITTED) {
			k->committed = version;
			note(k);
		}
	}
	free(b);
}

int main(int argc, char **argv)
{
	const char *seed = getenv("BFTMUTEX_SEED");
	u32 objects, iterations, i, n;
	struct peer p = {};

	if (argc != 7)
		return EX_USAGE;
	objects = (u32)atoi(argv[5]);
	iterations = (u32)atoi(argv[6]);
	if (!objects || objects > OBJECTS_MAX)
		return EX_USAGE;
	srand(seed ? (unsigned int)strtoul(seed, NULL, 10) : 1);
	read_log(argv[4]);
	log_fd = open(argv[4], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	open_peer(&p, (u16)atoi(argv[1]), argv[2], argv[3]);
	for (i = 0; !iterations || i < iterations; i++)
		for (n = 0; n < objects; n++) {
			snprintf(name, sizeof(name), "t%u", n);
			iterate(&p, &known[n]);
		}
	return failures != 0;
}
