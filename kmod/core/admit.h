/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a server decides about a request before its protocol does: is it for
 * this server, and does it know this incarnation? In the order in which a
 * shell asks: bftm_admit_address(), authentication, bftm_window_take(),
 * bftm_admit(), then the protocol's step.
 */
#ifndef BFTM_CORE_ADMIT_H
#define BFTM_CORE_ADMIT_H

#include "wire.h"

/**
 * struct bftm_server_cfg - what a server is, constant while it runs
 * @cluster:             its number
 * @id:                  its number in the cluster
 * @rho_ppm:             ρ
 * @epoch:               random number of this start, not 0
 * @lease_max_ns:        Δmax
 * @quarantine_until_ns: end of the quarantine after this start, by the
 *                       server's clock; see bftm_quarantine()
 */
struct bftm_server_cfg {
	u32 cluster;
	u16 id;
	u32 rho_ppm;
	u64 epoch;
	u64 lease_max_ns;
	u64 quarantine_until_ns;
};

/** bftm_quarantine() - the end of a quarantine that starts at @now. */
u64 bftm_quarantine(u64 lease_max_ns, u32 rho_ppm, u64 now);

/** bftm_admit_address() - is it a request, and for this server? */
bool bftm_admit_address(const struct bftm_server_cfg *cfg,
			const struct bftm_msg *req);

/**
 * bftm_admit() - may the protocol see this authentic, fresh request?
 * @reply: the answer when not: CHALLENGE or REFUSED
 * Return: true when it may, then @reply is untouched.
 */
bool bftm_admit(const struct bftm_server_cfg *cfg, const struct bftm_msg *req,
		u64 now, struct bftm_msg *reply);

/** bftm_refuse() - the answer REFUSED. @reply may not be @req. */
void bftm_refuse(const struct bftm_msg *req, struct bftm_msg *reply,
		 enum bftm_refusal reason);

#endif /* BFTM_CORE_ADMIT_H */
