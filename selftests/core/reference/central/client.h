/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef REFERENCE_CENTRAL_CLIENT_H
#define REFERENCE_CENTRAL_CLIENT_H

#include "core/protocol.h"

#define CENTRAL_SERVER		(1u << 0)	/* as a set of servers */
#define CENTRAL_SENDS		7		/* unanswered, until a client that does not wait gives up */

extern const struct bftm_client_ops central_client;

#endif /* REFERENCE_CENTRAL_CLIENT_H */
