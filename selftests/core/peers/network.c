// SPDX-License-Identifier: GPL-2.0
/*
 * The network, which loses and doubles datagrams, and the link above it, which makes of it what
 * the textbook assumes (Section 15.1.1): a message has a number of its pair, is acknowledged, is
 * sent again until it is, is taken once, and in order if the link is FIFO. With ASSUME_ONCE taken
 * away there is no link, and each datagram is heard as it comes.
 */
#include <err.h>
#include <stdlib.h>

#include "world.h"

#define RESEND (4 * PEER_TRANSIT)
#define SLOW 20	/* times PEER_TRANSIT */

static u64 draw_delay(struct peer_world *w)
{
	const struct peer_plan *plan = w->plan;

	if (plan->exact)
		return PEER_UNIT;
	if (plan->slow_pct && rng_below(&w->network, 100) < plan->slow_pct)
		return rng_between(&w->network, PEER_TRANSIT, SLOW * PEER_TRANSIT);
	return rng_between(&w->network, 1, PEER_TRANSIT - 1);
}

static bool has_link(const struct peer_world *w)
{
	return !peer_bears(w->plan, ASSUME_ONCE);
}

static bool is_fifo(const struct peer_world *w)
{
	const struct peer_plan *plan = w->plan;

	return (plan->fifo || plan->algorithm->assumes & ASSUME_FIFO) &&
	       !(plan->without & ASSUME_FIFO);
}

/* A datagram about message @index, to process @to: none, one or two of it arrive. */
static void transmit(struct peer_world *w, enum peer_event part, u32 to, u32 index)
{
	const struct peer_plan *plan = w->plan;

	if (plan->loss_pct && rng_below(&w->network, 100) < plan->loss_pct)
		return;
	peer_push(w, w->now + draw_delay(w), part, to, index);
	if (plan->double_pct && rng_below(&w->network, 100) < plan->double_pct)
		peer_push(w, w->now + draw_delay(w), part, to, index);
}

static u32 message_new(struct peer_world *w)
{
	if (w->messages == w->room) {
		w->room = w->room ? 2 * w->room : 256;
		w->message = realloc(w->message, w->room * sizeof(*w->message));
		if (!w->message)
			err(2, "no memory");
	}
	return w->messages++;
}

/* The next message of its pair. */
static void append(struct peer_world *w, u32 index)
{
	struct peer_message *m = &w->message[index];
	u32 *tail = &w->tail[m->from][m->to];

	if (*tail == NO_MESSAGE)
		w->head[m->from][m->to] = index;
	else
		w->message[*tail].next = index;
	*tail = index;
}

void network_send(struct peer_world *w, u32 from, u32 to, const struct peer_note *note,
		  bool is_tale)
{
	u32 index = message_new(w);
	struct peer_message *m = &w->message[index];

	*m = (struct peer_message){
		.note = *note, .from = from, .to = to, .next = NO_MESSAGE, .is_tale = is_tale,
		.is_after = w->host[from].is_recorded,
	};
	memcpy(m->past, w->host[from].past, sizeof(m->past));
	if (from == to) {
		peer_push(w, w->now, PEER_ARRIVE, to, index);
		return;
	}
	w->counts.messages += !is_tale;
	w->counts.kinds[note->kind % PEER_KINDS] += !is_tale;
	append(w, index);
	transmit(w, PEER_ARRIVE, to, index);
	if (has_link(w))
		peer_push(w, w->now + RESEND, PEER_RESEND, from, index);
}

static void hear_one(struct peer_world *w, u32 index)
{
	/* The algorithm sends, so the table may move. */
	struct peer_message m = w->message[index];

	network_hear(w, &m);
}

/* All that have arrived and before which none is missing. */
static void hear_in_order(struct peer_world *w, u32 from, u32 to)
{
	u32 index;

	while ((index = w->head[from][to]) != NO_MESSAGE && w->message[index].arrived) {
		w->head[from][to] = w->message[index].next;
		if (w->head[from][to] == NO_MESSAGE)
			w->tail[from][to] = NO_MESSAGE;
		hear_one(w, index);
	}
}

static void arrive(struct peer_world *w, u32 index)
{
	struct peer_message *m = &w->message[index];
	u32 from = m->from, to = m->to;

	if (w->host[to].is_dead)
		return;
	if (from == to || !has_link(w)) {
		hear_one(w, index);
		return;
	}
	transmit(w, PEER_ACK, from, index);
	if (m->arrived)
		return;
	m->arrived = true;
	if (is_fifo(w))
		hear_in_order(w, from, to);
	else
		hear_one(w, index);
}

void network_event(struct peer_world *w, enum peer_event part, u32 index)
{
	struct peer_message *m = &w->message[index];

	if (part == PEER_ARRIVE) {
		arrive(w, index);
	} else if (part == PEER_ACK) {
		m->acknowledged = true;
	} else if (!m->acknowledged && !w->host[m->to].is_dead &&
		   !(w->host[m->from].is_dead && w->plan->without & ASSUME_OUTLIVE)) {
		/* To a dead process it would be sent for ever. */
		transmit(w, PEER_ARRIVE, m->to, index);
		peer_push(w, w->now + RESEND, PEER_RESEND, m->from, index);
	}
}
