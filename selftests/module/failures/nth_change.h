/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BFTM_TEST_NTH_CHANGE_H
#define BFTM_TEST_NTH_CHANGE_H

#include <stdint.h>

/** nth_change() - client 1 changes the rank of @object, at the server of this namespace */
void nth_change(uint32_t cluster, uint16_t server, const uint8_t *key, const char *object);

#endif /* BFTM_TEST_NTH_CHANGE_H */
