/* SPDX-License-Identifier: GPL-2.0 */
/* The promises of wire.h about modes; all_modes() in eva_small.c shows it, pair by pair. */
#ifndef PROOF_MODE_CONTRACTS_H
#define PROOF_MODE_CONTRACTS_H

#include "core/wire.h"

/*@ predicate mode_ok(integer m) = 0 <= m <= 5;
  @ // These exclude each other: EX all, PW all but CR, and CW and PR each other.
  @ predicate conflict(integer a, integer b) =
  @   (a == 5 && b >= 1) || (b == 5 && a >= 1) || (a == 4 && b >= 2) || (b == 4 && a >= 2) ||
  @   (a == 2 && b == 3) || (a == 3 && b == 2);
  @ // a excludes all that b excludes.
  @ predicate covers(integer a, integer b) = a >= b && !(a == 3 && b == 2);
  @*/

/*@ requires mode_ok(a) && mode_ok(b);
  @ assigns \nothing;
  @ ensures \result <==> conflict(a, b);
  @*/
static inline bool bftm_modes_conflict(enum bftm_mode a, enum bftm_mode b);

/*@ requires mode_ok(mode) && mode_ok(other);
  @ assigns \nothing;
  @ ensures \result <==> covers(mode, other);
  @*/
static inline bool bftm_mode_covers(enum bftm_mode mode, enum bftm_mode other);

/*@ requires mode_ok(mode);
  @ assigns \nothing;
  @ ensures \result <==> mode >= 4;
  @*/
static inline bool bftm_mode_writes(enum bftm_mode mode);

#endif
