/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A protocol of kmod/core/protocol.h, and what checkers must know to judge it.
 */
#ifndef BFTM_SIM_PROTOCOL_H
#define BFTM_SIM_PROTOCOL_H

#include "core/protocol.h"
#include "core/release.h"

struct protocol {
	const char *name;
	const char *what;
	bool releases;	/* a holder can give the lock back before its time */
	bool orders;	/* no locks: the world of order.h; the rest is empty */
	bool spares;	/* servers restart without a quarantine, up to a number */
	bool needs_sync;/* safe only if delays keep within δ and clocks agree */
	const struct bftm_protocol *core;	/* what runs; NULL if it orders */
};

/** protocol_find() - by its name, also of the table of protocols; NULL for none */
const struct protocol *protocol_find(const char *name);

extern const struct protocol protocol_ours;
extern const struct protocol protocol_sigma;
extern const struct protocol protocol_paper;
extern const struct protocol protocol_order;

#endif /* BFTM_SIM_PROTOCOL_H */
