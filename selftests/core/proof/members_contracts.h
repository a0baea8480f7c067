/* SPDX-License-Identifier: GPL-2.0 */
/* The promises of members.h: who is awaited, and who was evicted. */
#ifndef PROOF_MEMBERS_CONTRACTS_H
#define PROOF_MEMBERS_CONTRACTS_H

#include "core/members.h"

/*@ // Their numbers ascend, and the server awaits somebody as long as it awaits one of them.
  @ predicate members_ok{L}(struct bftm_members *m) = \valid(m) && m->count <= BFTM_MEMBERS_MAX &&
  @   \valid(m->member + (0 .. m->count - 1)) &&
  @   \separated(m, m->member + (0 .. m->count - 1)) &&
  @   (\forall integer i, j; 0 <= i < j < m->count ==> m->member[i].client < m->member[j].client);
  @ predicate awaits_ok{L}(struct bftm_members *m) =
  @   \forall integer i; 0 <= i < m->count && m->member[i].awaited != 0 ==> m->awaited > 0;
  @*/

#define the_members ((struct bftm_members *)m)
/* The incarnation that a request is of; of an attempt its own. */
#define INCARNATION							\
	((req->type == BFTM_MSG_TRY || req->type == BFTM_MSG_YIELD ||	\
	  req->type == BFTM_MSG_STAMP ? req->attempt : req->seq) >> 32)

/*@ requires members_ok(the_members);
  @ assigns \result \from m, client;
  @ ensures found: \result != \null ==> \exists integer i; 0 <= i < m->count &&
  @   \result == &m->member[i] && m->member[i].client == client;
  @ ensures none: \result == \null ==> \forall integer i; 0 <= i < m->count ==>
  @   m->member[i].client != client;
  @*/
struct bftm_member *bftm_members_find(const struct bftm_members *m, u32 client);

/*@ requires members_ok(m);
  @ assigns m->awaited, m->member[0 .. m->count - 1].awaited;
  @ ensures all: \forall integer i; 0 <= i < m->count ==> m->member[i].awaited != 0;
  @ ensures counted: m->awaited == m->count;
  @*/
void bftm_members_start(struct bftm_members *m);

/*@ requires \valid(member);
  @ assigns member->awaited, member->noted;
  @ ensures named: member->awaited != 0 <==> \old(member->noted) > member->evicted;
  @ ensures noted: member->noted ==
  @   (\old(member->noted) == 4294967295 ? 0 : \old(member->noted));
  @*/
static void start_member(struct bftm_member *member);

/*@ requires members_ok(m);
  @ assigns m->member[0 .. m->count - 1].noted;
  @ ensures stays: \forall integer i; 0 <= i < m->count ==>
  @   m->member[i].noted >= \old(m->member[i].noted);
  @ ensures others: \forall integer i; 0 <= i < m->count && m->member[i].client != client ==>
  @   m->member[i].noted == \old(m->member[i].noted);
  @ ensures noted: \result ==> \exists integer i; 0 <= i < m->count && m->member[i].client == client &&
  @   m->member[i].noted >= incarnation;
  @*/
bool bftm_members_note(struct bftm_members *m, u32 client, u32 incarnation);

/* The roll says that it may hold anything, and it tells what it holds. */
#define UNKNOWN(member)							\
	((req->flags & BFTM_FLAG_REASSERT) != 0 && (member).noted == 0 && (member).awaited != 0 && \
	 (req->attempt >> 32) <= (req->seq >> 32))
/*@ requires members_ok(the_members) && \valid_read(req);
  @ assigns \nothing;
  @ ensures others: m->roll == 0 || req->type != BFTM_MSG_TRY || req->lease_ns != 18446744073709551615 ==>
  @   !\result;
  @ ensures unnoted: m->roll != 0 && req->type == BFTM_MSG_TRY && req->lease_ns == 18446744073709551615 ==>
  @   (\result <==> \exists integer i; 0 <= i < m->count && m->member[i].client == req->client &&
  @    (req->attempt >> 32) > m->member[i].noted && !UNKNOWN(m->member[i]));
  @*/
bool bftm_members_unnoted(const struct bftm_members *m, const struct bftm_msg *req);

/*@ requires \valid(m) && \valid(member) && \separated(m, member);
  @ requires member->awaited != 0 ==> m->awaited > 0;
  @ assigns m->awaited, member->awaited;
  @ ensures heard: member->awaited == 0;
  @ ensures once: m->awaited == \old(m->awaited) - (\old(member->awaited) != 0 ? 1 : 0);
  @*/
void bftm_members_heard(struct bftm_members *m, struct bftm_member *member);

/*@ requires members_ok(m) && awaits_ok(m);
  @ assigns m->awaited, m->member[0 .. m->count - 1].evicted, m->member[0 .. m->count - 1].awaited;
  @ ensures stays: \forall integer i; 0 <= i < m->count ==>
  @   m->member[i].evicted >= \old(m->member[i].evicted);
  @ ensures others: \forall integer i; 0 <= i < m->count && m->member[i].client != client ==>
  @   m->member[i].evicted == \old(m->member[i].evicted) &&
  @   m->member[i].awaited == \old(m->member[i].awaited);
  @ ensures evicted: \result ==> \exists integer i; 0 <= i < m->count && m->member[i].client == client &&
  @   m->member[i].evicted >= incarnation && (m->member[i].awaited == 0 || back);
  @*/
bool bftm_members_evict(struct bftm_members *m, u32 client, u32 incarnation, bool back);

/*@ requires \valid_read(req);
  @ assigns \nothing;
  @ ensures \result == INCARNATION;
  @*/
static u64 incarnation_of(const struct bftm_msg *req);

/*@ requires members_ok(the_members) && \valid_read(req);
  @ assigns \nothing;
  @ ensures gives_back: req->type == BFTM_MSG_RELEASE || req->proto == BFTM_PROTO_ORDER ==> !\result;
  @ ensures evicted: req->type != BFTM_MSG_RELEASE && req->proto != BFTM_PROTO_ORDER ==>
  @   (\result <==> \exists integer i; 0 <= i < m->count && m->member[i].client == req->client &&
  @    m->member[i].evicted != 0 && INCARNATION <= m->member[i].evicted);
  @*/
bool bftm_members_refuse(const struct bftm_members *m, const struct bftm_msg *req);

#endif
