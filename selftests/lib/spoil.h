/* SPDX-License-Identifier: GPL-2.0 */
/* Datagrams of a wrong form, made of messages about locks that have a right one. */
#ifndef BFTM_TEST_SPOIL_H
#define BFTM_TEST_SPOIL_H

#include "core/wire.h"

/**
 * spoil() - a message in a wrong form
 * @m:   a request about a lock, with all that it needs
 * @n:   which of its wrong forms, from 0 on
 * @ret: the datagram, whose tag is not right yet
 * Return: what is wrong with it; NULL when there are no more.
 */
const char *spoil(const struct bftm_msg *m, unsigned int n, struct bftm_wire *ret);

#endif /* BFTM_TEST_SPOIL_H */
