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

/* Limit for tests that take seconds: it only ends a test that hangs, also on a busy machine. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 600

#endif /* BFTM_TEST_HARNESS_H */
