/* SPDX-License-Identifier: GPL-2.0 */
/* The services of a server: locks and objects, which stand above it and know it. */
#ifndef BFTM_SERVICE_H
#define BFTM_SERVICE_H

#include <linux/types.h>

struct bftm_address;
struct bftm_server;
struct sk_buff;

/**
 * struct bftm_service - one of them
 * @start:   makes its tables, empty. @gno is the number below the first grant of this start.
 *           Return: 0, or -ENOMEM; then some may be there.
 * @stop:    ends what sends by itself: timers and work. Nobody receives any more.
 * @destroy: gives the memory back; after @stop, or when @start failed
 * @receive: a datagram has come, @skb, beginning with its UDP header. It may become the answer
 *           and is NULL then. Context: softirq, RCU read side. Return: true when it was answered.
 */
struct bftm_service {
	int (*start)(struct bftm_server *server, u64 gno);
	void (*stop)(struct bftm_server *server);
	void (*destroy)(struct bftm_server *server);
	bool (*receive)(struct bftm_server *server, struct sk_buff **skb,
			const struct bftm_address *from);
};

enum bftm_service_number {
	BFTM_SERVICE_LOCKS,
	BFTM_SERVICE_OBJECTS,
	BFTM_SERVICES
};

/** bftm_services - in the order in which they are started and stopped */
extern const struct bftm_service *const bftm_services[BFTM_SERVICES];

#endif /* BFTM_SERVICE_H */
