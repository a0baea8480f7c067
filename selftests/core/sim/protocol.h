/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam for protocols: the functions of kmod/core/backoff_*.h, which are one
 * of them, and what checkers must know to judge it.
 */
#ifndef BFTM_SIM_PROTOCOL_H
#define BFTM_SIM_PROTOCOL_H

#include "core/backoff/protocol.h"
#include "core/backoff/client.h"

struct protocol {
	const char *name;
	const char *what;
	bool releases;	/* a holder can give the lock back before its time */
	bool orders;	/* no locks: the world of order.h; the rest is empty */
	bool needs_sync;/* safe only if delays keep within δ and clocks agree */
	u32 (*servers_needed)(u32 b);
	void (*start)(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		      const struct bftm_want *want, u64 attempt, u64 now, struct bftm_out *out);
	void (*answer)(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u32 u,
		       const struct bftm_msg *msg, u64 now, u64 rnd, struct bftm_out *out);
	void (*wake)(struct bftm_contend *c, const struct bftm_client_cfg *cfg, u64 now,
		     u64 attempt, u64 rnd, struct bftm_out *out);
	void (*stop)(struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		     struct bftm_out *out);
	u64 (*end)(const struct bftm_contend *c, const struct bftm_client_cfg *cfg);
	const struct bftm_protocol *core;	/* its server side */
};

extern const struct protocol protocol_ours;
extern const struct protocol protocol_paper;
extern const struct protocol protocol_order;

#endif /* BFTM_SIM_PROTOCOL_H */
