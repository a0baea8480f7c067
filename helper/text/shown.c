// SPDX-License-Identifier: GPL-2.0
#include "text/shown.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

/* Printable, but invisible: these characters change the look of the following ones, or nothing. */
static bool is_unseen(wchar_t c)
{
	return c == 0xad || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
	       (c >= 0xfff0 && c <= 0xfffb) || c >= 0xe0000;
}

/* Bytes of the character that begins here, 0 when it cannot be shown. */
static size_t shown_character(const char *bytes, size_t len)
{
	mbstate_t state = {};
	wchar_t c;
	size_t n;

	if (*bytes >= ' ' && *bytes <= '~')
		return *bytes != '\\';
	if (strcmp(nl_langinfo(CODESET), "UTF-8"))
		return 0;
	n = mbrtowc(&c, bytes, len, &state);
	return n > 1 && n <= len && iswprint((wint_t)c) && !is_unseen(c) ? n : 0;
}

char *bftm_shown(const void *bytes, size_t len, char *buf, size_t size)
{
	const char *p = bytes, *end = p + len;
	size_t done = 0, n;

	while (p < end && done + 5 <= size) {
		n = shown_character(p, (size_t)(end - p));
		if (n && done + n >= size)
			break;
		memcpy(buf + done, p, n);
		done += n;
		p += n;
		if (n)
			continue;
		done += (size_t)snprintf(buf + done, size - done, *p == '\\' ? "\\\\" : "\\x%02x",
					 (unsigned char)*p);
		p++;
	}
	buf[done] = '\0';
	return buf;
}

void bftm_text_add(char *text, size_t size, const char *format, ...)
{
	size_t len = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + len, size - len, format, args);
	va_end(args);
}
