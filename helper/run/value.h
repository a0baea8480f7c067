/* SPDX-License-Identifier: GPL-2.0 */
/* The value of a lock, for the command and from it. */
#ifndef BFTM_RUN_VALUE_H
#define BFTM_RUN_VALUE_H

#include <stdint.h>

#include "lib/libbftmutex.h"

/** struct bftm_hex - bytes that were written as hexadecimal digits */
struct bftm_hex {
	uint8_t len;
	uint8_t bytes[BFTM_VALUE_MAX];
};

/**
 * bftm_hex_parse() - bytes from hexadecimal digits
 * @text: two digits a byte, in upper or lower case; empty for no bytes
 * @ret:  undefined on failure
 * Return: 0 or -EINVAL.
 */
int bftm_hex_parse(const char *text, struct bftm_hex *ret);

/**
 * bftm_offer_value() - set BFTMUTEX_VALUE, if it is valid, and BFTMUTEX_VALUE_FD for the command
 * @fd:       the handle
 * @mode:     enum bftm_lock_mode in which it is held
 * @ret_room: descriptor that the command inherits to write what it leaves, -1 in modes that leave
 *            nothing; -1 on failure
 * Return: 0 or a negative errno.
 */
int bftm_offer_value(int fd, uint32_t mode, int *ret_room);

/**
 * bftm_leave_value() - set the value of the lock to what the command has written
 * @fd:   the handle
 * @room: of bftm_offer_value(); the value stays as it is when the command has written nothing
 * Return: 0, -EMSGSIZE for more than BFTM_VALUE_MAX bytes, or another negative errno.
 */
int bftm_leave_value(int fd, int room);

/**
 * bftm_print_value() - "BFTMUTEX_VALUE=HEX", or nothing when it is not valid
 * @fd: handle that holds the lock with its value
 * Return: 0 or a negative errno.
 */
int bftm_print_value(int fd);

#endif /* BFTM_RUN_VALUE_H */
