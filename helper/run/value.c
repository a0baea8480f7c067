// SPDX-License-Identifier: GPL-2.0
/*
 * A command writes the value that it leaves to a file in memory, not to a pipe: so no process has
 * to read while the command writes.
 */
#include "run/value.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u	/* since Linux 6.3, where a sysctl may demand it */
#endif

#define HEX_ROOM (2 * BFTM_VALUE_MAX + 1)

static const char *format_hex(const struct bftm_lock_value *value, char ret[HEX_ROOM])
{
	uint32_t i;

	ret[0] = '\0';
	for (i = 0; i < value->len; i++)
		snprintf(ret + 2 * i, 3, "%02x", value->bytes[i]);
	return ret;
}

int bftm_hex_parse(const char *text, struct bftm_hex *ret)
{
	size_t digits = strlen(text), i;

	if (digits % 2 || digits > 2 * sizeof(ret->bytes))
		return -EINVAL;
	for (i = 0; i < digits; i += 2) {
		char byte[3] = { text[i], text[i + 1] };

		if (!isxdigit((unsigned char)byte[0]) || !isxdigit((unsigned char)byte[1]))
			return -EINVAL;
		ret->bytes[i / 2] = (uint8_t)strtoul(byte, NULL, 16);
	}
	ret->len = (uint8_t)(digits / 2);
	return 0;
}

static int room_new(void)
{
	int fd = memfd_create("bftmutex-value", MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("bftmutex-value", 0);
	return fd < 0 ? -errno : fd;
}

int bftm_offer_value(int fd, uint32_t mode, int *ret_room)
{
	struct bftm_lock_value value;
	char text[HEX_ROOM];
	int r;

	*ret_room = -1;
	r = bftmutex_value(fd, &value);
	if (r < 0)
		return r;
	if (value.valid)
		setenv("BFTMUTEX_VALUE", format_hex(&value, text), 1);
	if (mode > BFTM_LOCK_PW)
		return 0;
	r = room_new();
	if (r < 0)
		return r;
	*ret_room = r;
	snprintf(text, sizeof(text), "%d", r);
	setenv("BFTMUTEX_VALUE_FD", text, 1);
	return 0;
}

int bftm_leave_value(int fd, int room)
{
	uint8_t bytes[BFTM_VALUE_MAX + 1];
	ssize_t len = pread(room, bytes, sizeof(bytes), 0);

	if (len < 0)
		return -errno;
	return len ? bftmutex_set_value(fd, bytes, (size_t)len) : 0;
}

int bftm_print_value(int fd)
{
	struct bftm_lock_value value;
	char text[HEX_ROOM];
	int r = bftmutex_value(fd, &value);

	if (r == 0 && value.valid)
		printf("BFTMUTEX_VALUE=%s\n", format_hex(&value, text));
	return r;
}
