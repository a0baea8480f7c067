// SPDX-License-Identifier: GPL-2.0
// prove: wp take_free: FREE counts by a send of this attempt whose time is known, and not for a grant that was given back
// prove: wp bftm_contend_answer: what is said to another attempt is looked at by nobody who counts
#include "client_contracts.h"

/* Zeros by assignment: bytes that are written to are a piece of memory for WP. */
#undef memset
#define memset(object, zero, size) (*(object) = (typeof(*(object))){ zero })

#include "core/backoff/client.c"
