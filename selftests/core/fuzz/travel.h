/* SPDX-License-Identifier: GPL-2.0 */
/* Messages about locks on their way from one core to another. */
#ifndef BFTM_FUZZ_TRAVEL_H
#define BFTM_FUZZ_TRAVEL_H

#include "core/wire.h"
#include "fuzz.h"

/**
 * fuzz_travels() - a message as its receiver reads it
 * @msg:  as its sender has it; in its place what is left of it
 * @wire: the datagram
 * Return: false for a wrong form, which nobody hears of.
 */
static inline bool fuzz_travels(struct bftm_msg *msg, struct bftm_wire *wire)
{
	const struct bftm_msg sent = *msg;

	if (!bftm_wire_form(sent.type))
		return false;
	bftm_wire_put(&sent, wire);
	return !bftm_wire_get(wire->data, wire->len, msg);
}

/** fuzz_answers() - what a server says has a right form, and no answer is longer than @asked */
static inline void fuzz_answers(const struct bftm_msg *msg, const struct bftm_wire *asked)
{
	struct bftm_msg answer = *msg;
	struct bftm_wire wire;

	if (msg->type == BFTM_MSG_NONE)
		return;
	must(fuzz_travels(&answer, &wire));
	must(!msg->seq || wire.len <= asked->len);
}

#endif /* BFTM_FUZZ_TRAVEL_H */
