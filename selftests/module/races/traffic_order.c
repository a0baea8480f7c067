// SPDX-License-Identifier: GPL-2.0
/* A client of objects, whose iterations get as far as the server lives. */
#include "selftests/module/objects/order_raw.h"
#include "races.h"

#define OP(n)	((7ull << 32) + (n))
#define OBJECTS	24
#define BURST	4

static void say(struct peer *p, struct bftm_order_msg m)
{
	u8 buf[BFTM_DATAGRAM_MAX];
	size_t len = prepare_order(p, &m, buf);

	/* Lost while no server is there, and that is no news. */
	if (send(p->fd, buf, len, 0) < 0)
		return;
}

static void hear_all(struct races *r, struct peer *p)
{
	struct answer a;

	while ((a.len = (size_t)recv(p->fd, a.raw, sizeof(a.raw), MSG_DONTWAIT)) < sizeof(a.raw)) {
		if (!read_answer(p, &a))
			continue;
		if (a.type == BFTM_MSG_STALE)
			p->epoch = a.plain.server_epoch;
		races_add(&r->shared->ordered, 1);
	}
}

/* Every request about one object; what comes back is of no interest here. */
static void iterate(struct peer *p, u64 count)
{
	struct body *op = op_new("add 1"), *state = small_state(count, p, OP(count));

	say(p, submit_op(OP(count), op, true));
	say(p, get(count));
	say(p, piece(state, 0));
	say(p, about(order(BFTM_ORDER_PROPOSE, count), state, races_random(2)));
	if (races_random(4))
		say(p, about(order(BFTM_ORDER_COMMIT, count), state, false));
	if (!races_random(4))
		say(p, about(order(BFTM_ORDER_INSTALL, count), state, true));
	if (!races_random(4))
		say(p, about(order(BFTM_ORDER_FETCH, 0), state, false));
	if (!races_random(4))
		say(p, list_from(races_random(2) ? 0 : count << 58, 0));
	free(op);
	free(state);
}

void races_traffic_order(struct races *r)
{
	struct peer p = {};
	char path[128];
	u64 turn;

	snprintf(path, sizeof(path), "%s/client-%d.client", r->dir, RACES_ORDER);
	open_peer(&p, RACES_SERVER, r->address, path);
	for (turn = 0;; turn++) {
		struct bftm_msg hello = { .type = BFTM_MSG_HELLO };
		struct bftm_wire wire;

		snprintf(name, sizeof(name), "%s%u", races_random(4) ? "o" : "gone",
			 races_random(OBJECTS));
		iterate(&p, 1 + turn / OBJECTS);
		prepare(&p, &hello, &wire);
		if (turn % BURST == 0 && send(p.fd, wire.data, wire.len, 0) < 0)
			p.epoch = 0;
		hear_all(r, &p);
		races_add(&r->shared->wrong, (unsigned int)failures);
		failures = 0;
		usleep(1000 + races_random(3000));
	}
}
