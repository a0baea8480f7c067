/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by moves.c and moves_server.c. */
#ifndef BFTM_MODEL_MOVES_H
#define BFTM_MODEL_MOVES_H

#include "world.h"

/** struct turn - what the functions below hand on */
struct turn {
	const struct world *w;
	struct visitor *v;
};

/** emit() - this may come next, unless nothing came of it. */
void emit(const struct turn *t, const struct event *e, struct world *next);

/** requests() - what may arrive at server u from client c. */
void requests(const struct turn *t, u32 u, u32 c);

/** timer() - what server u does by itself; restart() - it loses its memory. */
void timer(const struct turn *t, u32 u);
void restart(const struct turn *t, u32 u);

#endif /* BFTM_MODEL_MOVES_H */
