// SPDX-License-Identifier: GPL-2.0
/*
 * Makes and changes objects, also while the server stops, until it is killed:
 *
 *	order_server_churn SERVER ADDRESS CREDENTIALS
 *
 * It prints a line for each round in which all objects were answered.
 */
#include "order_raw.h"

#define OP(n) ((7ull << 32) + (n))
#define OBJECTS 300

static u64 count;

/* Answers may be missing; other programs check their contents. */
static bool heard(struct peer *p)
{
	struct answer a;

	if (!hear_order(p, &a, 20))
		return false;
	if (a.type == BFTM_MSG_CHALLENGE)
		p->epoch = a.plain.server_epoch;
	return true;
}

static bool churn(struct peer *p)
{
	struct body *op = op_new("add 1"), *state = small_state(count, p, OP(count));
	bool all = true;
	int i;

	for (i = 0; i < OBJECTS; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		tell_order(p, submit_op(OP(count), op, true));
		tell_order(p, piece(state, 0));
		tell_order(p, get(count));
		/* Some objects are lost with the server: nothing was promised of them. */
		if (i % 3)
			tell_order(p, about(order(BFTM_ORDER_COMMIT, count), state, false));
		snprintf(name, sizeof(name), "gone%d", i);
		tell_order(p, about(order(BFTM_ORDER_INSTALL, 1), state, true));
		while (heard(p))
			if (i % 32)
				break;
	}
	while (heard(p))
		;
	tell(p, (struct bftm_msg){ .type = BFTM_MSG_HELLO });
	all = heard(p);
	free(op);
	free(state);
	return all;
}

int main(int argc, char **argv)
{
	struct peer p;

	if (argc != 4) {
		fputs("usage: order_server_churn SERVER ADDRESS CREDENTIALS\n", stderr);
		return EX_USAGE;
	}
	open_peer(&p, (u16)atoi(argv[1]), argv[2], argv[3]);
	for (;;) {
		count++;
		p.seq = fresh();
		if (churn(&p))
			puts("round");
		fflush(stdout);
	}
}
