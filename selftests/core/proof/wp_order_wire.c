// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_piece_len: what is left, and no more than a piece has
// prove: wp is_piece: PUT and BODY
// prove: wp fields_agree: a piece is one of its body, and a next rank is above the first
// prove: wp data_told: looks only
// prove: wp page_ok: no byte is read but those of the page
// prove: wp get_parts: no byte is read but those that are left; data and signature are among them
// prove: wp get_head: nothing but the message is written
// prove: wp get_ranks: nothing but ranks is written
// prove: wp bftm_order_wire_get: no byte is read but those of the datagram, of any length
// frama-c bftm_order_wire_get: -wp-model Typed+ref
// frama-c get_parts: -wp-no-pruning
// takes 40: get_parts
// takes 20: get_head
#include "form_contracts.h"
#include "core/ordering/wire.h"

/*@ requires offset < len;
  @ assigns \nothing;
  @ ensures \result == (len - offset < 1024 ? len - offset : 1024);
  @*/
static inline u32 bftm_piece_len(u32 len, u32 offset);

/*@ requires FORM_OK(form) && \valid_read(body + (0 .. form->bytes - 1)) && \valid(msg);
  @ assigns *msg;
  @*/
bool form_get(const struct bftm_form *form, const u8 *body, struct bftm_order_msg *msg);

#define OFFSET_OK							\
	(msg->type == BFTM_ORDER_FETCH || msg->type == BFTM_ORDER_PUT ||	\
	 msg->type == BFTM_ORDER_BODY ==> msg->offset < msg->id.len)

/*@ assigns \nothing;
  @ ensures \result != \null ==> FORM_OK(\result) && is_form((struct bftm_form *)\result);
  @*/
const struct bftm_form *bftm_order_form(u8 type);

/*@ assigns \nothing;
  @ ensures \result <==> type == BFTM_ORDER_PUT || type == BFTM_ORDER_BODY;
  @*/
static bool is_piece(u8 type);

/*@ assigns \nothing; */
static bool may_be_padded(u8 type);

/*@ assigns \nothing; */
static u32 least_room(u8 type);

/*@ requires \valid_read(msg);
  @ assigns \nothing;
  @ ensures offset: \result ==> OFFSET_OK;
  @ ensures next: \result && msg->type == BFTM_ORDER_COMMIT_GET ==>
  @   msg->rank.count < msg->then.count;
  @*/
static bool fields_agree(const struct bftm_order_msg *msg, u8 flags);

/*@ requires \valid_read(listed);
  @ assigns \nothing;
  @ ensures \result == (10 + listed->name_len + listed->type_len + 7) / 8 * 8;
  @*/
static inline u32 bftm_listed_len(const struct bftm_listed *listed);

/*@ requires \valid_read(data + (0 .. left - 1)) && \valid(ret) && left <= 1184;
  @ requires \separated(ret, data + (0 .. left - 1));
  @ assigns *ret;
  @ ensures \result <= left;
  @*/
u32 bftm_listed_get(const u8 *data, u32 left, struct bftm_listed *ret);

/*@ requires \valid_read(msg) && \valid_read(data + (0 .. left - 1)) && left <= 1184;
  @ assigns \nothing;
  @*/
static bool page_ok(const struct bftm_order_msg *msg, const u8 *data, size_t left);

/*@ requires \valid_read(msg) && OFFSET_OK && left <= 1184;
  @ assigns \nothing;
  @*/
static size_t data_told(const struct bftm_order_msg *msg, u8 flags, size_t left);

/*@ requires \valid(msg) && OFFSET_OK && \valid_read(at + (0 .. left - 1)) && left <= 1184;
  @ assigns msg->signature, msg->data, msg->data_len;
  @ ensures data: \result == BFTM_WIRE_OK && msg->data_len != 0 ==> msg->data_len <= left &&
  @   \valid_read(msg->data + (0 .. msg->data_len - 1));
  @*/
static enum bftm_wire_error get_parts(struct bftm_order_msg *msg, u8 flags, const u8 *at,
				      size_t left);

/*@ requires \valid_read(head) && \valid(msg) && \separated(head, msg);
  @ requires head->wire.name_len <= 64;
  @ assigns *msg;
  @*/
static void get_head(const struct bftm_head *head, struct bftm_order_msg *msg);

/*@ requires \valid(msg);
  @ assigns msg->rank, msg->then;
  @*/
static void get_ranks(struct bftm_order_msg *msg);

/*@ requires readable(buf, len) && \valid(msg) && FORMS_APART(msg);
  @ assigns *msg;
  @ ensures data: \result == BFTM_WIRE_OK && msg->data_len != 0 ==>
  @   \valid_read(msg->data + (0 .. msg->data_len - 1));
  @*/
enum bftm_wire_error bftm_order_wire_get(const void *buf, size_t len,
					 struct bftm_order_msg *msg);

#define bftm_form_get form_get
#include "core/ordering/wire.c"
