// SPDX-License-Identifier: GPL-2.0
// prove: wp objects_on: no byte is read but those of the page; unsigned numbers may wrap around
// frama-c: -no-warn-unsigned-overflow
#include "listing_contracts.h"

/*@ requires left <= 1184 && \valid_read(data + (0 .. left - 1)) && \valid(ret);
  @ assigns *ret;
  @ ensures \result <= left;
  @*/
u32 bftm_listed_get(const u8 *data, u32 left, struct bftm_listed *ret);

#include "core/ordering/listing.c"
