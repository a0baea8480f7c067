/* SPDX-License-Identifier: GPL-2.0 */
/* A clock in nanoseconds. */
#ifndef BFTM_TEST_CLOCK_H
#define BFTM_TEST_CLOCK_H

#include <stdint.h>
#include <time.h>

uint64_t clock_ns(clockid_t id);

#endif /* BFTM_TEST_CLOCK_H */
