/* SPDX-License-Identifier: GPL-2.0 */
/* The promises of pending.h: one entry a client, ascending, and none beyond the room there is. */
#ifndef PROOF_PENDING_CONTRACTS_H
#define PROOF_PENDING_CONTRACTS_H

#include "core/ordering/pending.h"

/*@ axiomatic Formed {
  @   // This body, which never changes, passed bftm_state_ok().
  @   predicate formed(u8 *body);
  @ }
  @ predicate ascending{L}(struct bftm_pendings *p, integer from, integer to) =
  @   \forall integer i, j; from <= i < j < to ==> p->entry[i].client < p->entry[j].client;
  @ predicate pend_ok{L}(struct bftm_pendings *p) = p == \null ||
  @   (\valid(p) && p->count <= p->room && p->room <= 1024 && ascending(p, 0, p->count));
  @ predicate bodies_ok{L}(struct bftm_pendings *p) = p == \null ||
  @   \forall integer i; 0 <= i < p->count ==> \valid_read(p->entry[i].body);
  @ predicate waits{L}(struct bftm_pendings *p, integer i, integer client) =
  @   p != \null && 0 <= i < p->count && p->entry[i].client == client;
  @ predicate state_ok{L}(struct bftm_body *sc) =
  @   sc == \null || (\valid_read(sc) && formed(sc->data));
  @*/

#define LIST_OK \valid_read(o) && pend_ok(o->pend) && state_ok(o->sc)

/* Field by field: of a structure that is assigned whole, provers do not see that it is the same. */
#define COPY_PENDING(to, from)						\
	do {								\
		(to).op = (from).op;					\
		(to).client = (from).client;				\
		(to).room = (from).room;				\
		(to).body = (from).body;				\
	} while (0)

#define RESPONSE_THERE							\
	(ret->len == 0 || \valid_read(ret->response + (0 .. ret->len - 1)))

/*@ requires body == \null || formed(body);
  @ requires \valid(ret);
  @ assigns *ret, \result \from client;
  @ ensures response: \result ==> RESPONSE_THERE;
  @ ensures inside: \result && ret->len != 0 ==> \base_addr(ret->response) == \base_addr(body);
  @*/
bool bftm_state_find(const u8 *body, u32 client, struct bftm_applied *ret);

/*@ requires pend_ok(pend);
  @ assigns \nothing;
  @ ensures there: \result <= (pend == \null ? 0 : pend->count);
  @ ensures before: pend != \null ==> \forall integer j; 0 <= j < \result ==>
  @   pend->entry[j].client < client;
  @ ensures behind: pend != \null ==> \forall integer j; \result <= j < pend->count ==>
  @   pend->entry[j].client >= client;
  @*/
static u32 place(const struct bftm_pendings *pend, u32 client);

/*@ requires LIST_OK;
  @ assigns \result \from *o, client, indirect: *o->pend;
  @ ensures found: \result != \null ==> \exists integer i; waits(o->pend, i, client) &&
  @   \result == &o->pend->entry[i] && \valid_read(\result);
  @ ensures none: \result == \null ==> \forall integer i; !waits(o->pend, i, client);
  @*/
struct bftm_pending *bftm_pending_of(const struct bftm_object *o, u32 client);

/*@ requires \valid_read(o) && state_ok(o->sc) && \valid(ret);
  @ assigns *ret, \result \from *o, client;
  @ ensures response: \result ==> RESPONSE_THERE;
  @ ensures inside: \result && ret->len != 0 ==> \old(o->sc) != \null &&
  @   \base_addr(ret->response) == \old(\base_addr(o->sc->data));
  @*/
bool bftm_object_applied(const struct bftm_object *o, u32 client, struct bftm_applied *ret);

/*@ requires LIST_OK && \valid_read(req);
  @ assigns \result \from *o, *req, *o->pend;
  @*/
bool bftm_pending_news(const struct bftm_object *o, const struct bftm_order_msg *req);

/*@ requires LIST_OK && \valid_read(req);
  @ assigns \result \from *o, *req, *o->pend;
  @*/
bool bftm_object_lacks_room(const struct bftm_object *o, const struct bftm_order_msg *req);

/*@ requires LIST_OK && \valid(o) && \valid_read(req) && o->pend != \null;
  @ requires \separated(o, req, o->pend);
  @ requires room: o->pend->count < o->pend->room ||
  @   \exists integer i; waits(o->pend, i, req->client);
  @ assigns o->replaced, o->pend->count, o->pend->entry[0 .. 1023];
  @ ensures ok: pend_ok(o->pend);
  @*/
void bftm_pending_add(struct bftm_object *o, const struct bftm_order_msg *req,
		      struct bftm_body *body);

/* For memmove() in bftm_pending_add(), see annotations. */
/*@ requires \valid(pend) && i <= pend->count <= 1023;
  @ requires size == (pend->count - i) * sizeof(struct bftm_pending);
  @ assigns pend->entry[0 .. 1023];
  @ ensures rest: pend->count == \old(pend->count) && pend->room == \old(pend->room);
  @ ensures below: \forall integer j; 0 <= j < i ==>
  @   pend->entry[j].client == \old(pend->entry[j].client);
  @ ensures above: \forall integer j; i <= j < pend->count ==>
  @   pend->entry[j + 1].client == \old(pend->entry[j].client);
  @*/
static void move_up(struct bftm_pendings *pend, u32 i, u64 size);

/*@ requires LIST_OK && bodies_ok(o->pend) && \valid(told) && \valid(ret + (0 .. room - 1));
  @ requires \separated(o, o->pend, told, ret + (0 .. room - 1));
  @ requires o->pend != \null ==> \forall integer i; 0 <= i < o->pend->count ==>
  @   \separated(o->pend->entry[i].body, ret + (0 .. room - 1));
  @ assigns ret[0 .. room - 1], *told;
  @ ensures room: *told <= room;
  @*/
void bftm_pending_tell(const struct bftm_object *o, u32 from, u32 room,
		       struct bftm_order_waiting *ret, u32 *told);

/* For the two assignments that bftm_pending_drop() swaps entries by, see annotations. */
/*@ requires \valid(pend) && front <= i < 1024;
  @ assigns pend->entry[front], pend->entry[i];
  @ ensures mine: pend->entry[front].client == \old(pend->entry[i].client);
  @ ensures others: \forall integer j; 0 <= j < 1024 && j != front && j != i ==>
  @   pend->entry[j].client == \old(pend->entry[j].client);
  @ ensures list: pend->count == \old(pend->count) && pend->room == \old(pend->room);
  @*/
static void keep(struct bftm_pendings *pend, u32 front, u32 i);

/*@ requires LIST_OK && \valid(o) && \separated(o, o->pend, o->sc);
  @ assigns o->pend->count, o->pend->entry[0 .. 1023];
  @ ensures ok: pend_ok(o->pend);
  @ ensures no_more: o->pend != \null ==> o->pend->count <= \old(o->pend->count);
  @*/
void bftm_pending_drop(struct bftm_object *o);

#endif
