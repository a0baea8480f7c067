// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_kth_end: a value that at least F of the servers' ends reach, or none
// prove: wp bftm_win: as bftm_grants_needed(), of the cluster
// prove: wp bftm_contend_end: that, or the end that the kernel knows
// prove: wp bftm_may_begin: looks only
#include "client_contracts.h"
#include "core/backoff/hold.c"
