/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The recording that the hosts of a scenario would make for bftmutex-trace(1): a line of JSON for each datagram
 * about locks that leaves or arrives, and for each lock that is won or ends, by the host's own clock.
 */
#ifndef BFTM_SIM_RECORD_H
#define BFTM_SIM_RECORD_H

#include <stdio.h>

#include "world.h"

struct record;

/** record_start() - of a scenario; NULL without memory */
struct record *record_start(void);

/** record_message() - a datagram leaves, or arrives, at true time @at. @to_server: its direction */
void record_message(struct world *w, bool sends, bool to_server, u32 u, const struct bftm_msg *msg,
		    u64 at);
/** record_fact() - what is told to checkers */
void record_fact(struct world *w, const struct fact *f);
/** record_look() - the locks of client @x whose deadline has passed by now have ended then */
void record_look(struct world *w, u32 x);
/** record_restart() - server @u begins without memory */
void record_restart(struct world *w, u32 u);

/** record_print() - all of it, in the order of true time, and free it */
void record_print(struct world *w, FILE *out);

#endif /* BFTM_SIM_RECORD_H */
