// SPDX-License-Identifier: GPL-2.0
// prove: wp value_fits: looks only
// prove: wp fields_agree: looks only
// prove: wp get_head: nothing but the message is written
// prove: wp get_parts: no byte is read but those that are left; a value is there in all its room
// prove: wp get_foreign: no byte is read but those of the datagram
// prove: wp bftm_wire_get: no byte is read but those of the datagram, of any length
// frama-c get_foreign bftm_wire_get: -wp-model Typed+ref
// takes 25: get_head
#include "form_contracts.h"
#include "core/wire.h"

/*@ requires FORM_OK(form) && \valid_read(body + (0 .. form->bytes - 1)) && \valid(msg);
  @ assigns *msg;
  @*/
bool form_get(const struct bftm_form *form, const u8 *body, struct bftm_msg *msg);

/*@ assigns \nothing;
  @ ensures \result != \null ==> FORM_OK(\result) && is_form((struct bftm_form *)\result);
  @ ensures stale: type == BFTM_MSG_STALE ==> \result != \null;
  @*/
const struct bftm_form *bftm_wire_form(u8 type);

/*@ assigns \nothing; */
bool bftm_wire_common(u8 type);

/*@ assigns \nothing; */
static inline u8 bftm_mode_mask(enum bftm_mode mode);

/*@ assigns \nothing; */
static bool is_foreign(u8 proto);

/*@ requires \valid_read(msg);
  @ assigns \nothing;
  @ ensures \result != \null ==> FORM_OK(\result);
  @*/
static const struct bftm_form *refusal_form(const struct bftm_msg *msg);

/*@ requires FORM_OK(form) && \valid_read(body + (0 .. form->bytes - 1)) && \valid(msg);
  @ assigns *msg;
  @*/
static bool get_body(const struct bftm_form *form, const u8 *body, struct bftm_msg *msg);

/*@ requires \valid_read(msg);
  @ assigns \nothing;
  @ ensures room: \result ==> msg->value_room <= 64 && msg->value_len <= 64;
  @*/
static bool value_fits(const struct bftm_msg *msg);

/* memcpy() into the place for a value: see annotations. */
/*@ requires \valid(msg) && len <= 64 && \valid_read(at + (0 .. len - 1));
  @ requires \separated(msg, at + (0 .. len - 1));
  @ assigns msg->value[0 .. 63];
  @*/
void copy_value(struct bftm_msg *msg, const u8 *at, size_t len);

/*@ requires \valid_read(msg);
  @ assigns \nothing;
  @*/
static bool fields_agree(const struct bftm_msg *msg);

/*@ requires \valid(msg) && \valid_read(at + (0 .. left - 1)) && left <= 1184;
  @ requires \separated(msg, at + (0 .. left - 1));
  @ assigns *msg;
  @*/
static enum bftm_wire_error get_parts(struct bftm_msg *msg, const u8 *at, size_t left);

/*@ requires \valid_read(head) && \valid(msg) && \separated(head, msg);
  @ assigns *msg;
  @*/
static void get_head(const struct bftm_wire_head *head, bool modes, struct bftm_msg *msg);

/*@ requires \valid_read(head) && \valid(msg) && \separated(head, msg);
  @ requires head->wire.name_len <= 64 && \valid_read(head->body + (0 .. head->left - 1));
  @ requires FORMS_APART(msg);
  @ assigns *msg;
  @*/
static enum bftm_wire_error get_foreign(const struct bftm_head *head, struct bftm_msg *msg);

/*@ requires readable(buf, len) && \valid(msg) && FORMS_APART(msg) && BYTES_APART(buf, msg);
  @ assigns *msg;
  @*/
enum bftm_wire_error bftm_wire_get(const void *buf, size_t len, struct bftm_msg *msg);

#define bftm_form_get form_get
#include "core/wire.c"
