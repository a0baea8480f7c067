// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "text/json.h"

static const char base64[] = "base64";

/*
 * Numbers that can be above 2^53 in the life of a cluster: random ones, numbers whose high half is
 * a time or a version, and times of a clock in nanoseconds, which reaches 2^53 after 104 days. All
 * others begin with 0 and count one by one, or are bounded far below.
 */
static const char *const wide[] = {
	"attempt", "deadline_ns", "epoch", "gno", "invoke_ns", "last_seq", "number",
	"rank_count", "return_ns", "seq", "t", "token", "token_floor", "wall_ns",
};

/* Length of the character that begins here, by RFC 3629; 0: none begins here. */
static size_t json_character(const u8 *p, size_t left)
{
	u8 low = 0x80, high = 0xbf;
	size_t len, i;

	if (*p < 0x80)
		return 1;
	len = *p >= 0xc2 && *p <= 0xdf ? 2 : (*p & 0xf0) == 0xe0 ? 3 :
	      *p >= 0xf0 && *p <= 0xf4 ? 4 : 0;
	if (!len || len > left)
		return 0;
	/* Too long encodings, surrogates, and characters above U+10FFFF. */
	if (*p == 0xe0)
		low = 0xa0;
	else if (*p == 0xed)
		high = 0x9f;
	else if (*p == 0xf0)
		low = 0x90;
	else if (*p == 0xf4)
		high = 0x8f;
	if (p[1] < low || p[1] > high)
		return 0;
	for (i = 2; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

static bool is_utf8(const u8 *p, size_t len)
{
	const u8 *end = p + len;
	size_t n;

	for (; p < end; p += n) {
		n = json_character(p, (size_t)(end - p));
		if (!n)
			return false;
	}
	return true;
}

static bool lacks;

bool bftm_json_lacks(void)
{
	return lacks;
}

void bftm_json_add(struct json_object *o, const char *key, struct json_object *value)
{
	if (!value || json_object_object_add(o, key, value))
		lacks = true;
}

struct json_object *bftm_json_bytes(const void *bytes, size_t len)
{
	struct json_object *o;
	u8 *text;
	int n;

	if (is_utf8(bytes, len))
		return json_object_new_string_len(bytes, (int)len);
	text = malloc(4 * (len / 3 + 1) + 1);
	if (!text)
		return NULL;
	n = EVP_EncodeBlock(text, bytes, (int)len);
	o = json_object_new_object();
	if (o)
		bftm_json_add(o, base64, json_object_new_string_len((char *)text, n));
	free(text);
	return o;
}

static char *decode(const char *text, int len, size_t *ret_len)
{
	char *bytes = malloc((size_t)len + 1);
	int n, pad;

	if (!bytes)
		return NULL;
	n = EVP_DecodeBlock((u8 *)bytes, (const u8 *)text, len);
	if (n < 0) {
		free(bytes);
		return NULL;
	}
	/* Padding was decoded as zero bytes. */
	for (pad = 0; pad < 2 && pad < len && text[len - 1 - pad] == '='; pad++)
		;
	*ret_len = (size_t)(n < pad ? 0 : n - pad);
	bytes[*ret_len] = '\0';
	return bytes;
}

char *bftm_json_read_bytes(struct json_object *value, size_t *ret_len)
{
	struct json_object *encoded;
	size_t len;
	char *text;

	if (json_object_is_type(value, json_type_object) &&
	    json_object_object_length(value) == 1 &&
	    json_object_object_get_ex(value, base64, &encoded) &&
	    json_object_is_type(encoded, json_type_string))
		return decode(json_object_get_string(encoded),
			      json_object_get_string_len(encoded), ret_len);
	if (!json_object_is_type(value, json_type_string))
		return NULL;
	len = (size_t)json_object_get_string_len(value);
	text = malloc(len + 1);
	if (!text)
		return NULL;
	memcpy(text, json_object_get_string(value), len);
	text[len] = '\0';
	*ret_len = len;
	return text;
}

struct json_object *bftm_json_number(const char *key, u64 number)
{
	char text[24];
	size_t i;

	for (i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
		if (strcmp(wide[i], key))
			continue;
		snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
		return json_object_new_string(text);
	}
	return json_object_new_uint64(number);
}

void bftm_json_add_number(struct json_object *o, const char *key, u64 number)
{
	bftm_json_add(o, key, bftm_json_number(key, number));
}

void bftm_json_add_bool(struct json_object *o, const char *key, bool value)
{
	bftm_json_add(o, key, json_object_new_boolean(value));
}

void bftm_json_add_bytes(struct json_object *o, const char *key, const void *bytes, size_t len)
{
	bftm_json_add(o, key, bftm_json_bytes(bytes, len));
}

void bftm_json_add_text(struct json_object *o, const char *key, const char *text)
{
	if (text)
		bftm_json_add(o, key, bftm_json_bytes(text, strlen(text)));
	else
		lacks |= json_object_object_add(o, key, NULL) != 0;
}

const char *bftm_json_text(struct json_object *o, int flags)
{
	const char *text;

	/* Without memory json-c leaves parts out, and says nothing else. */
	errno = 0;
	text = json_object_to_json_string_ext(o, flags);
	lacks |= !text || errno == ENOMEM;
	return text ?: "";
}
