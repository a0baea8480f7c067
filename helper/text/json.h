/* SPDX-License-Identifier: GPL-2.0 */
/*
 * JSON that the programs print, one rule for each kind of value:
 *
 * bytes    a string when they are UTF-8; else { "base64": "..." }. Names, requests,
 *          responses and values of objects may be any bytes
 * numbers  a string when they can be above 2^53, which readers like jq 1.6 round; the
 *          key decides, see json.c
 * unknown  null; no key is ever missing
 */
#ifndef BFTM_JSON_H
#define BFTM_JSON_H

#include <json-c/json.h>
#include <stdbool.h>

#include "core/types.h"

/** bftm_json_bytes() - a value of bytes; NULL without memory */
struct json_object *bftm_json_bytes(const void *bytes, size_t len);

/**
 * bftm_json_read_bytes() - the bytes of such a value
 * @value:   the value in JSON; NULL is none
 * @ret_len: number of bytes
 *
 * Return: bytes to be freed, with a zero byte behind them; NULL when @value is no such value, or
 * without memory.
 */
char *bftm_json_read_bytes(struct json_object *value, size_t *ret_len);

/** bftm_json_number() - the value of a number with this key */
struct json_object *bftm_json_number(const char *key, u64 number);

/* Members of an object. One without memory is left out, and bftm_json_lacks() is true from then on. */

/** bftm_json_add() - @value is the object's from now on; NULL: there was no memory for it */
void bftm_json_add(struct json_object *o, const char *key, struct json_object *value);
void bftm_json_add_number(struct json_object *o, const char *key, u64 number);
void bftm_json_add_bool(struct json_object *o, const char *key, bool value);
void bftm_json_add_bytes(struct json_object *o, const char *key, const void *bytes, size_t len);
/** bftm_json_add_text() - null when @text is NULL */
void bftm_json_add_text(struct json_object *o, const char *key, const char *text);

/** bftm_json_text() - as text, with flags of json-c; "" without memory */
const char *bftm_json_text(struct json_object *o, int flags);

/** bftm_json_lacks() - was something left out, of any object of this process? */
bool bftm_json_lacks(void);

#endif /* BFTM_JSON_H */
