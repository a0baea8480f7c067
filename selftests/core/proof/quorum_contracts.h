/* SPDX-License-Identifier: GPL-2.0 */
/* The promises of quorum.h, for all clusters that there may be. */
#ifndef PROOF_QUORUM_CONTRACTS_H
#define PROOF_QUORUM_CONTRACTS_H

#include "core/types.h"

/*@ axiomatic Shifts {
  @   // The bit of a server in a set.
  @   axiom a_bit: \forall integer u; 0 <= u < 31 ==> 0 < (1 << u) <= 0x40000000;
  @ }
  @*/

/*@ requires 1 <= n <= 31 && 3 * b + 1 <= n;
  @ assigns \nothing;
  @ ensures share: 2 * \result - n >= b + 1;
  @ ensures reachable: \result <= n - b;
  @ ensures least: 2 * (\result - 1) - n < b + 1;
  @*/
static inline u32 bftm_free_needed(u32 n, u32 b);

/*@ // F, as bftm_free_needed() says; and Sigma's m, where there is one.
  @ logic integer free_needed(integer n, integer b) = (n + b + 2) / 2;
  @ logic integer win(integer n, integer b, integer m) = m != 0 ? m : free_needed(n, b);
  @ predicate m_ok(integer n, integer b, integer m) = m == 0 || (free_needed(n, b) <= m <= n - b);
  @*/

/*@ requires 1 <= n <= 31 && 3 * b + 1 <= n && m_ok(n, b, m);
  @ assigns \nothing;
  @ ensures win: \result == win(n, b, m);
  @ ensures share: 2 * \result - n >= b + 1;
  @ ensures reachable: \result <= n - b;
  @*/
static inline u32 bftm_grants_needed(u32 n, u32 b, u32 m);

/*@ requires 1 <= n <= 31 && 3 * b + 1 <= n;
  @ assigns \nothing;
  @ ensures fits: m_ok(n, b, \result) && \result != 0;
  @*/
static inline u32 bftm_sigma_default(u32 n, u32 b);

/* Two winners share a server that neither lies nor has forgotten. */
/*@ requires 1 <= n <= 31 && 3 * b + 1 <= n && m_ok(n, b, m);
  @ assigns \nothing;
  @ ensures one_is_left: 2 * win(n, b, m) - n - b - \result >= 1;
  @ ensures most: 2 * win(n, b, m) - n - b - (\result + 1) < 1;
  @*/
static inline u32 bftm_spared(u32 n, u32 b, u32 m);

/*@ requires 1 <= n <= 31 && 3 * b + 1 <= n;
  @ assigns \nothing;
  @ ensures share: 2 * \result - n >= 3 * b + 1;
  @ ensures reachable: 5 * b + 1 <= n ==> \result <= n - b;
  @ ensures least: 2 * (\result - 1) - n < 3 * b + 1;
  @*/
static inline u32 bftm_literal_quorum(u32 n, u32 b);

/*@ requires 1 <= n <= 31 && 3 * b + 1 <= n;
  @ assigns \nothing;
  @ ensures share: 2 * \result - n >= b + 1;
  @ ensures reachable: \result <= n - b;
  @ ensures forgetful: 5 * b + 1 <= n ==> 2 * \result - n >= 3 * b + 1;
  @*/
static inline u32 bftm_fence_quorum(u32 n, u32 b);

/*@ requires 1 <= n <= 31 && 4 * b + 1 <= n;
  @ assigns \nothing;
  @ ensures share: 2 * \result - n >= 2 * b + 1;
  @ ensures reachable: \result <= n - b;
  @ ensures outranked: 6 * b + 1 <= n ==> \result <= n - 2 * b;
  @*/
static inline u32 bftm_order_quorum(u32 n, u32 b);

/*@ requires b <= 31;
  @ assigns \nothing;
  @ ensures masks: \result == 3 * b + 1;
  @*/
static inline u32 bftm_servers_needed(u32 b);

/*@ requires b <= 31;
  @ assigns \nothing;
  @ ensures literal: \result == 5 * b + 1;
  @*/
static inline u32 bftm_servers_needed_literal(u32 b);

/*@ requires b <= 31;
  @ assigns \nothing;
  @ ensures order: \result == (signed_ranks ? 4 : 6) * b + 1;
  @*/
static inline u32 bftm_servers_needed_order(u32 b, bool signed_ranks);

/*@ axiomatic Counting {
  @   // How many of the first n values are larger than x, and how many are x.
  @   logic integer larger{L}(u64 *v, integer x, integer n) reads v[0 .. n - 1];
  @   logic integer alike{L}(u64 *v, integer x, integer n) reads v[0 .. n - 1];
  @   axiom no_larger{L}: \forall u64 *v, integer x, n; n <= 0 ==> larger(v, x, n) == 0;
  @   axiom no_alike{L}: \forall u64 *v, integer x, n; n <= 0 ==> alike(v, x, n) == 0;
  @   axiom next_larger{L}: \forall u64 *v, integer x, n;
  @     n >= 0 ==> larger(v, x, n + 1) == larger(v, x, n) + (v[n] > x ? 1 : 0);
  @   axiom next_alike{L}: \forall u64 *v, integer x, n;
  @     n >= 0 ==> alike(v, x, n + 1) == alike(v, x, n) + (v[n] == x ? 1 : 0);
  @ }
  @*/

/*@ requires n <= 31 && \valid_read(value + (0 .. n - 1));
  @ assigns \result \from value[0 .. n - 1], n, k;
  @ ensures some: \result == 0 || \exists integer i; 0 <= i < n && \result == value[i];
  @ ensures enough: 1 <= k <= n && \result != 0 ==>
  @   k <= larger(value, \result, n) + alike(value, \result, n);
  @ ensures not_more: \result != 0 ==> larger(value, \result, n) < k;
  @ ensures none: k == 0 || k > n ==> \result == 0;
  @*/
u64 bftm_kth_largest(const u64 *value, u32 n, u32 k);

#endif
