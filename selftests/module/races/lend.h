/* SPDX-License-Identifier: GPL-2.0 */
/* A helper that lends the kernel what it needs to take locks of our server by itself. */
#ifndef BFTM_RACES_LEND_H
#define BFTM_RACES_LEND_H

#include "selftests/module/device/fake_helper.h"
#include "races.h"

/** struct lender - it serves this namespace while @nl is open */
struct lender {
	struct races *r;
	struct bftm_nl nl;
	struct bftm_counters *counters;
	int sock[2];	/* one of them is lent at a time */
	struct bftm_nl *server;	/* of the server's namespace; NULL: this one */
	const char *address;	/* of the server there */
	const char *device;	/* at which answers are taken; NULL: none */
};

/** lender_open() - become the helper; false: said. lender_close() twice is once. */
bool lender_open(struct lender *ret, struct races *r);
void lender_close(struct lender *l);

/**
 * lender_lend() - a cluster of one server, or none
 * @peers: 1; or 0, to take it back
 */
bool lender_lend(struct lender *l, unsigned int peers);

/** lender_serve() - pull so many requests at most; answer, refuse or forget them */
bool lender_serve(struct lender *l, unsigned int count);

#endif /* BFTM_RACES_LEND_H */
