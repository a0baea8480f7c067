// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_body_same: looks only
// prove: wp bftm_state_id: of a state, or of none, and can be read
// prove: wp bftm_is_initial: looks only
// prove: wp bftm_object_body: one that the object has, or none
// prove: wp known_state: likewise, of states
// prove: wp bftm_object_stored: looks only
// prove: wp bftm_object_wants: looks only
// prove: wp put_data: what an answer says stays within the room of its request
// prove: wp replica_respond: likewise
// prove: wp bftm_order_response: likewise, of what is sent unasked
#include "pending_contracts.h"

/*@ requires \valid_read(a) && \valid_read(b);
  @ assigns \nothing;
  @*/
static inline bool bftm_body_same(const struct bftm_body_id *a, const struct bftm_body_id *b);

/*@ requires \valid_read(a) && \valid_read(b);
  @ assigns \nothing;
  @*/
static inline int bftm_rank_cmp(const struct bftm_rank *a, const struct bftm_rank *b);

/*@ requires body == \null || \valid_read(body);
  @ assigns \nothing;
  @ ensures \valid_read(\result);
  @*/
static inline const struct bftm_body_id *bftm_state_id(const struct bftm_body *body);

/*@ requires \valid_read(id);
  @ assigns \nothing;
  @*/
static inline bool bftm_is_initial(const struct bftm_body_id *id);

#define BODIES_OK							\
	LIST_OK && bodies_ok(o->pend) && (o->sp == \null || \valid_read(o->sp))

/*@ requires BODIES_OK && \valid_read(id);
  @ assigns \result \from *o, *id;
  @ ensures there: \result == \null || \valid_read(\result);
  @*/
struct bftm_body *bftm_object_body(const struct bftm_object *o, const struct bftm_body_id *id);

/*@ requires BODIES_OK && \valid_read(id);
  @ assigns \result \from *o, *id;
  @ ensures there: \result == \null || \valid_read(\result);
  @*/
static struct bftm_body *known_state(const struct bftm_object *o, const struct bftm_body_id *id);

/*@ requires BODIES_OK && \valid_read(req);
  @ assigns \nothing;
  @*/
bool bftm_object_stored(const struct bftm_object *o, const struct bftm_order_msg *req);

/*@ requires BODIES_OK && \valid_read(req);
  @ assigns \nothing;
  @*/
bool bftm_object_wants(const struct bftm_object *o, const struct bftm_order_msg *req);

/*@ assigns \nothing;
  @ ensures bytes: type == BFTM_ORDER_RESPONSE ==> \valid_read(\result) && \result->bytes == 16;
  @*/
const struct bftm_form *bftm_order_form(u8 type);

#define ROOM (16 <= reply->room && \valid(out + (0 .. reply->room - 1)) && \
	\separated(reply, out + (0 .. reply->room - 1)))

/*@ requires \valid(reply) && ROOM && type == BFTM_ORDER_RESPONSE;
  @ requires len == 0 || \valid_read(data + (0 .. len - 1));
  @ requires apart: len == 0 || \base_addr(data) != \base_addr(out);
  @ assigns reply->type, reply->data, reply->data_len, out[0 .. reply->room - 1];
  @ ensures fits: reply->data_len + 16 <= reply->room && reply->type == type;
  @*/
static void put_data(struct bftm_order_msg *reply, u8 type, u8 *out, const u8 *data, u32 len);

/*@ requires \valid(reply) && ROOM && \valid_read(a);
  @ requires \separated(a, reply, out + (0 .. reply->room - 1));
  @ requires a->len == 0 || \valid_read(a->response + (0 .. a->len - 1));
  @ requires apart: a->len == 0 || \base_addr(a->response) != \base_addr(out);
  @ assigns *reply, out[0 .. reply->room - 1];
  @ ensures fits: reply->room == \old(reply->room) && reply->data_len + 16 <= reply->room;
  @*/
static void replica_respond(const struct bftm_applied *a, u32 offset, u8 *out,
			    struct bftm_order_msg *reply);

/*@ requires LIST_OK && \valid_read(p) && 16 <= p->room <= 0xffff && \valid(ret);
  @ requires \valid(out + (0 .. p->room - 1)) && \separated(o, p, ret, out + (0 .. p->room - 1));
  @ requires \separated(ret, o->sc) &&
  @   (o->sc == \null || \base_addr(o->sc->data) != \base_addr(out));
  @ assigns *ret, out[0 .. p->room - 1];
  @ ensures fits: ret->type != BFTM_MSG_NONE ==> ret->room == \old(p->room) &&
  @   ret->data_len + 16 <= ret->room;
  @*/
void bftm_order_response(const struct bftm_object *o, const struct bftm_pending *p,
			 u8 *out, struct bftm_order_msg *ret);

/* For memset() in bftm_order_response(), see annotations. */
/*@ requires \valid(ret);
  @ assigns *ret;
  @ ensures none: ret->type == BFTM_MSG_NONE;
  @*/
static void say_nothing(struct bftm_order_msg *ret);

/* Of rank_ok(), which is not looked at here: see annotations. */
/*@ assigns to[0 .. size - 1]; */
static void put_bytes(u8 *to, u64 size);

/* Zeros by assignment: bytes that are written to are a piece of memory for WP. */
#undef memset
#define memset(object, zero, size) (*(object) = (typeof(*(object))){ zero })

#include "core/ordering/body.c"
#include "core/ordering/server.c"
