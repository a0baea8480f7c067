/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's test harness, which is not as strict as our compiler options. */
#ifndef BFTM_TEST_HARNESS_H
#define BFTM_TEST_HARNESS_H

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wclobbered"
#include "kselftest_harness.h"

/* Seconds for what takes some: a hang's end, also on a machine that is busy with other things. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 600

#endif /* BFTM_TEST_HARNESS_H */
