/* SPDX-License-Identifier: GPL-2.0 */
/* The objects of a page, in listing.c. */
#ifndef PROOF_LISTING_CONTRACTS_H
#define PROOF_LISTING_CONTRACTS_H

#include "core/ordering/listing.h"

/*@ requires \valid_read(page) && page->data_len <= 1184;
  @ requires page->data_len == 0 || \valid_read(page->data + (0 .. page->data_len - 1));
  @ assigns \result \from *page;
  @*/
static u32 objects_on(const struct bftm_order_msg *page);

#endif
