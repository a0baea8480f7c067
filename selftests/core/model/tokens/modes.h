/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fencing tokens by mode: tenures that do not exclude each other may share one. Servers do not
 * restart here; else it is as in world.h.
 *
 * - Two clients have tenures, one after the other, each in any mode of --modes, any number of them.
 *   The lock excludes: two tenures at a time are in modes that do not exclude each other. A tenure
 *   may go on in another mode, which is stamped anew, as long as that is so.
 * - A tenure offers tokens, any, and another, higher one at any time. An offer arrives at any
 *   time, also when its tenure is long gone, and again and again. As a tenure does not offer a
 *   token twice, it does not matter of whose attempt an earlier offer is.
 * - b servers lie: they stamp all.
 *
 * The check: tenures that exclude each other have different tokens, and the later the higher.
 */
#ifndef BFTM_TOKEN_MODES_H
#define BFTM_TOKEN_MODES_H

#include "world.h"

#define TENURES	2

/**
 * struct m_stamper - a server that does not lie
 * @hi, @himask: of struct bftm_lock
 * @owner:   whose attempt hi_attempt is, a tenure from 1; 0 for one that is gone
 * @stamped: bit c: it has accepted what tenure c offers
 */
struct m_stamper {
	u8 hi, himask, owner, stamped;
};

/**
 * struct m_tenure
 * @mode:    NL while there is none
 * @offered: the token on offer, 0 for none
 * @highest: that it has offered
 * @got:     of each mode the highest token that it got in it
 */
struct m_tenure {
	u8 mode, offered, highest;
	u8 got[BFTM_MODES];
};

/**
 * struct modes_world
 * @last: of each mode the highest token that a tenure got in it that is gone
 * @old:  of each mode, tokens that were offered before, a bit each
 */
struct modes_world {
	struct m_stamper server[SERVERS_MAX];
	struct m_tenure tenure[TENURES];
	u8 last[BFTM_MODES], old[BFTM_MODES];
	u8 wrong;
};

/** modes_system_init() - @modes: bits of enum bftm_mode */
void modes_system_init(struct system *sys, u32 modes);

/** modes_shared - how often a tenure got the token of another, enumerated */
extern u64 modes_shared;

#endif /* BFTM_TOKEN_MODES_H */
