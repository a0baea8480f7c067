/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The promises of form.h to code that reads a datagram: nothing is read outside of it. A pointer to
 * void, and a message by its slots, are nothing that WP knows; so calls with these are of the
 * functions below, and that what they stand for keeps their contracts is shown in eva_wire.c.
 */
#ifndef PROOF_FORM_CONTRACTS_H
#define PROOF_FORM_CONTRACTS_H

#include "core/form.h"

/*@ axiomatic Datagrams {
  @   // There are so many bytes to read, or to write; whatever they are.
  @   predicate readable(void *buf, integer len);
  @   // These bytes are among them.
  @   predicate within(void *buf, u8 *at, integer len);
  @   // It is one of the tables of forms, into which nobody writes.
  @   predicate is_form(struct bftm_form *form);
  @ }
  @*/

#define FORMS_APART(msg)						\
	(\forall struct bftm_form *form; is_form(form) ==> \separated(form, msg))
/* The message lies apart from the datagram that is read into it. */
#define BYTES_APART(buf, msg)						\
	(\forall u8 *at, integer n; within(buf, at, n) ==> \separated(at + (0 .. n - 1), msg))
#define FORM_OK(form) \valid_read(form) && (form)->bytes <= 128

/*@ requires readable(buf, len) && \valid(head);
  @ assigns *head;
  @ ensures name: \result == BFTM_WIRE_OK ==> head->wire.name_len <= 64;
  @ ensures rest: \result == BFTM_WIRE_OK ==> head->left <= 1184 &&
  @   \valid_read(head->body + (0 .. head->left - 1)) && within(buf, head->body, head->left);
  @*/
enum bftm_wire_error bftm_head_get(const void *buf, size_t len, struct bftm_head *head);

/*@ requires \valid_read(head) && head->wire.name_len <= 64 && \valid(name + (0 .. 63));
  @ assigns name[0 .. 63];
  @*/
void bftm_name_get(const struct bftm_head *head, u8 name[BFTM_NAME_LEN_MAX]);

/*@ requires \valid_read(form) && \valid_read(head);
  @ assigns \nothing;
  @*/
enum bftm_wire_error bftm_form_allows(const struct bftm_form *form,
				      const struct bftm_wire_head *head, bool modes);

/*@ requires \valid_read(bytes + (0 .. len - 1));
  @ assigns \nothing;
  @*/
bool bftm_all_zero(const u8 *bytes, size_t len);

/*@ requires n <= 0xffffffff;
  @ assigns \nothing;
  @ ensures n <= \result < n + 8 && \result % 8 == 0;
  @*/
static inline size_t bftm_pad8(size_t n);

/* Zeros by assignment: bytes that are written to are a piece of memory for WP. */
#undef memset
#define memset(object, zero, size) (*(object) = (typeof(*(object))){ zero })

#endif
