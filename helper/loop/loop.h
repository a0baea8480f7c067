/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The loop of the daemon's one thread: file descriptors that become readable, and timers on the
 * clock of leases, which runs on while the machine sleeps.
 */
#ifndef BFTM_LOOP_H
#define BFTM_LOOP_H

#include <stddef.h>

#include "core/types.h"
#include "loop/tree.h"

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

/** struct bftm_watch - a descriptor; @ready is called while it is readable */
struct bftm_watch {
	int fd;
	void (*ready)(struct bftm_watch *watch);
};

/** struct bftm_timer - @fire is called once, not before @at_ns */
struct bftm_timer {
	RB_ENTRY(bftm_timer) node;
	u64 at_ns;
	bool armed;
	void (*fire)(struct bftm_timer *timer);
};

/** bftm_now() - the clock of leases in ns */
u64 bftm_now(void);

/** bftm_loop_init() - 0 or -errno */
int bftm_loop_init(void);

/** bftm_watch_add(), bftm_watch_del() - of an open descriptor. 0 or -errno. */
int bftm_watch_add(struct bftm_watch *watch);
void bftm_watch_del(struct bftm_watch *watch);

/**
 * bftm_timer_arm() - set or change
 * @timer: its turn comes after those of all timers that are due already; if it is one of these, it
 *         keeps its place
 * @at_ns: the clock of leases; 0: as soon as can be
 */
void bftm_timer_arm(struct bftm_timer *timer, u64 at_ns);
/** bftm_timer_stop() - fine when not armed */
void bftm_timer_stop(struct bftm_timer *timer);

/*
 * A message that could fill the log, for example with each answer of a server, is repeated after
 * this time at the earliest.
 */
#define BFTM_SAID_AGAIN_NS (60 * BFTM_NS_PER_SEC)

/**
 * bftm_due() - may something that is limited in rate happen again?
 * @last_ns:  time of the last one, 0 for never; set to now if it may happen
 * @every_ns: shortest time between two
 */
bool bftm_due(u64 *last_ns, u64 every_ns);

/** bftm_loop_run() - until bftm_loop_stop(). 0 or -errno. */
int bftm_loop_run(void);
void bftm_loop_stop(void);

#endif /* BFTM_LOOP_H */
