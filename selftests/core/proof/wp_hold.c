// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_kth_end: the end that counts from a time which at least F grants reach, or none
// prove: wp bftm_win: as bftm_grants_needed(), of the cluster
// prove: wp bftm_contend_end: that, or the end that the kernel knows
// prove: wp bftm_may_begin: looks only
#include "client_contracts.h"
#include "core/backoff/hold.c"
