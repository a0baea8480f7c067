/* SPDX-License-Identifier: GPL-2.0 */
/* Messages of the ordering protocol with any values in all the fields that their type has. */
#ifndef BFTM_UNIT_ORDER_SAMPLES_H
#define BFTM_UNIT_ORDER_SAMPLES_H

#include <string.h>

#include "unit.h"

#include "core/ordering/wire.h"

/* The bytes of the samples' data and signatures. */
extern u8 order_bytes[BFTM_DATAGRAM_MAX];

/**
 * order_sample() - of a type that has a form, in the one spelling; @room is as little as can be
 * @name_len: of its name, if the type has one
 */
struct bftm_order_msg order_sample(u8 type, u8 name_len, u64 *rnd);

#endif /* BFTM_UNIT_ORDER_SAMPLES_H */
