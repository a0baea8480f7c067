// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_contend_end: a value that at least F of the servers' ends reach, or the end that the kernel knows
#include "client_contracts.h"
#include "core/backoff/hold.c"
