/* SPDX-License-Identifier: GPL-2.0 */
/* Names, which may be any bytes, for people to read. */
#ifndef BFTM_SHOWN_H
#define BFTM_SHOWN_H

#include <stddef.h>

/* Room for a name of @len bytes. */
#define BFTM_SHOWN_ROOM(len) (4 * (len) + 1)

/**
 * bftm_shown() - bytes as a terminal can show them
 * @bytes: of a name
 * @len:   number of bytes
 * @buf:   gets the text
 * @size:  of @buf; characters that find no room are left out
 *
 * Printable characters stay: those of ASCII, and all of UTF-8 if the locale is one of UTF-8
 * (setlocale() was called). Any other byte becomes \xNN, and "\" is doubled, so two names look
 * alike only if their letters do.
 *
 * Return: @buf.
 */
char *bftm_shown(const void *bytes, size_t len, char *buf, size_t size);

/** bftm_text_add() - put words behind those in @text; text that finds no room in @size is cut off */
__attribute__((format(printf, 3, 4)))
void bftm_text_add(char *text, size_t size, const char *format, ...);

#endif /* BFTM_SHOWN_H */
