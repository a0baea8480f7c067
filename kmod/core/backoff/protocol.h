/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Chockler, Malkhi and Reiter, Section 4: what the table of protocols has of it. */
#ifndef BFTM_CORE_BACKOFF_H
#define BFTM_CORE_BACKOFF_H

#include "core/protocol.h"

extern const struct bftm_protocol bftm_backoff;

#endif /* BFTM_CORE_BACKOFF_H */
