/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The end of an attempt, until servers know: the same for all protocols. */
#ifndef BFTM_CORE_RELEASE_H
#define BFTM_CORE_RELEASE_H

#include "core/client.h"

/** bftm_stray() - what to do with an answer to an attempt that is unknown. */
void bftm_stray(const struct bftm_msg *msg, u32 u, struct bftm_out *out);

/**
 * struct bftm_release - RELEASE of one attempt, repeated until acknowledged
 * @attempt:    that is over
 * @lock:       bftm_ask_lock() of its name; 0: not known
 * @unanswered: servers that did not acknowledge
 * @sends:      so far
 * @wake_ns:    when to repeat
 * @surely:     it is repeated until all but b have acknowledged: their grants do not end
 * @doubt:      the value is in doubt
 * @written:    the value that it leaves, if any
 * @late:       the attempt, for bftm_ask_late()
 */
struct bftm_release {
	u64 attempt;
	u64 lock;
	u32 unanswered;
	u32 sends;
	u64 wake_ns;
	bool surely;
	bool doubt;
	struct bftm_written written;
	struct bftm_late late;
};

#define BFTM_RELEASE_SENDS 3	/* where locks have leases: a loss of all costs at most one */

/**
 * bftm_release_start() - after out.release_to; the first send is the caller's
 * @r:   the release; may be zeroed
 * @cfg: the cluster
 * @out: of which only what is about RELEASE counts
 * @now: the clock of leases, ns
 */
void bftm_release_start(struct bftm_release *r, const struct bftm_client_cfg *cfg,
			const struct bftm_out *out, u64 now);

/** bftm_release_message() - RELEASE, to servers of @to; as bftm_contender_message() */
u32 bftm_release_message(const struct bftm_release *r, u32 to, struct bftm_msg *msg);

/** bftm_release_answer() - RELEASED of server @u. True when all have. */
bool bftm_release_answer(struct bftm_release *r, const struct bftm_client_cfg *cfg, u32 u);

/**
 * bftm_release_restarted() - a server has forgotten what it granted
 * @r: the release
 * @u: number of the server
 *
 * Only where PROBE finds what the server has granted since: a TRY that was under way may have come.
 * Return: as bftm_release_answer().
 */
bool bftm_release_restarted(struct bftm_release *r, u32 u);

/** bftm_release_wake() - the servers to send to again; 0 when it is over. */
u32 bftm_release_wake(struct bftm_release *r,
		      const struct bftm_client_cfg *cfg, u64 now);

#endif /* BFTM_CORE_RELEASE_H */
