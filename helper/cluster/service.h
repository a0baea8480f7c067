/* SPDX-License-Identifier: GPL-2.0 */
/* The services of a cluster: locks and objects, which stand above it and know it. */
#ifndef BFTM_SERVICE_H
#define BFTM_SERVICE_H

#include "core/ordering/wire.h"

struct bftm_cluster;
struct bftm_identity;

/**
 * struct bftm_cluster_service - one of them; its requests come from the kernel, see kernel/upcall.h
 * @begin:     a client begins, with nothing under way
 * @restored:  that client's numbers go on in its new incarnation; may be NULL
 * @stop:      the daemon ends: forget what is under way by this cluster; held locks stay
 *             held
 * @forget:    the client ends: forget all that is known as this client, after @stop
 * @answer:    server @u has answered; for objects it refuses. @msg is authentic and new
 * @order:     likewise, in a message of the ordering protocol; NULL for locks
 * @epoch:     server @u has not read the request that @msg names, as it was for an earlier start:
 *             make it again
 * @restarted: server @u has lost what it knew; may be NULL
 * @challenged: server @u has another epoch than was known, or its first here; may be NULL
 * @told:      server @u knows all that this host holds without a lease; NULL: nothing is held so
 * @evicted:   incarnations of this client up to @incarnation are evicted; may be NULL
 */
struct bftm_cluster_service {
	void (*begin)(struct bftm_identity *identity);
	void (*restored)(struct bftm_identity *identity);
	void (*stop)(struct bftm_cluster *cl);
	void (*forget)(struct bftm_identity *identity);
	void (*answer)(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg);
	void (*order)(struct bftm_cluster *cl, u32 u, const struct bftm_order_msg *msg);
	void (*epoch)(struct bftm_cluster *cl, u32 u, const struct bftm_msg *msg);
	void (*restarted)(struct bftm_cluster *cl, u32 u);
	void (*challenged)(struct bftm_cluster *cl, u32 u);
	bool (*told)(struct bftm_cluster *cl, u32 u);
	void (*evicted)(struct bftm_cluster *cl, u32 incarnation);
};

enum bftm_cluster_service_number {
	BFTM_SERVICE_LOCKS,
	BFTM_SERVICE_OBJECTS,
	BFTM_SERVICES
};

/** bftm_services - a service uses those before it, and is stopped before them */
extern const struct bftm_cluster_service *const bftm_services[BFTM_SERVICES];

/** bftm_service_of() - whose message this is */
static inline const struct bftm_cluster_service *bftm_service_of(const struct bftm_msg *msg)
{
	return bftm_services[msg->proto == BFTM_PROTO_ORDER ? BFTM_SERVICE_OBJECTS :
							      BFTM_SERVICE_LOCKS];
}

#endif /* BFTM_SERVICE_H */
