/* SPDX-License-Identifier: GPL-2.0 */
/* The promises of replay.h; it is included there, where struct bftm_window is known. */
#ifndef PROOF_REPLAY_CONTRACTS_H
#define PROOF_REPLAY_CONTRACTS_H

/*@ axiomatic Bits {
  @   axiom fits: \forall integer k; 0 <= k < 64 ==> 0 < (1 << k) <= 0x8000000000000000;
  @ }
  @ predicate bit(integer word, integer k) = (word & (1 << k)) != 0;
  @*/

/*@ requires k < 64 && bit == (u64)(1 << k);
  @ assigns \nothing;
  @ ensures bit(word, k) <==> (word & bit) != 0;
  @ ensures bit(word | bit, k);
  @ ensures \forall integer j; 0 <= j < 64 && j != k ==> (bit(word | bit, j) <==> bit(word, j));
  @*/
static void one_bit(u64 word, u64 k, u64 bit)
{
}

/*
 * used(w, s): s counts as taken, since it was, or is older than the window. A zeroed window is ok
 * . A number that is used stays so, and none that is used is taken: hence at most once.
 */
/*@ predicate marked{L}(struct bftm_window *w, integer s) =
  @   bit(w->bits[(s / 64) % 16], s % 64);
  @ predicate used{L}(struct bftm_window *w, integer s) =
  @   s == 0 || s / 64 + 16 <= w->top / 64 || (s <= w->top && marked(w, s));
  @ // The word of the highest is clean above it.
  @ predicate window_ok{L}(struct bftm_window *w) = \forall integer s;
  @   w->top < s && s / 64 == w->top / 64 ==> !marked(w, s);
  @*/

/*@ requires \valid(w) && window_ok(w);
  @ assigns *w;
  @ ensures ok: window_ok(w);
  @ ensures not_again: \result ==> !\old(used(w, seq));
  @ ensures noted: used(w, seq);
  @ ensures new: !\result ==> \old(used(w, seq));
  @ ensures kept: \forall integer s; 0 <= s && \old(used(w, s)) ==> used(w, s);
  @ ensures no_other: \forall integer s; 0 <= s && s != seq && used(w, s) && !\old(used(w, s)) ==>
  @   s / 64 + 16 <= w->top / 64;
  @*/
static inline bool bftm_window_take(struct bftm_window *w, u64 seq);

/*@ requires \valid_read(w) && seq <= w->top;
  @ assigns \nothing;
  @ ensures \result <==> seq / 64 + 16 > w->top / 64;
  @*/
static inline bool bftm_window_holds(const struct bftm_window *w, u64 seq);

#endif
