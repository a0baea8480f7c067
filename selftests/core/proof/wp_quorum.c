// SPDX-License-Identifier: GPL-2.0
// prove: wp bftm_free_needed: two sets of F share b + 1 servers, F is at most n - b, and F is the least; n >= 3b + 1
// prove: wp bftm_grants_needed: F, or an m from F to n - b: two such sets share b + 1 servers
// prove: wp bftm_spared: r is the largest for which 2m - n - b - r >= 1
// prove: wp bftm_sigma_default: an m from F to n - b
// prove: wp bftm_literal_quorum: two sets of q share 3b + 1 servers; q is at most n - b where n >= 5b + 1
// prove: wp bftm_fence_quorum: two sets of q share b + 1 servers, and 3b + 1 where n >= 5b + 1; q is at most n - b
// prove: wp bftm_order_quorum: two sets of q share 2b + 1 servers; q is at most n - b, and n - 2b where n >= 6b + 1
// prove: wp bftm_servers_needed: 3b + 1
// prove: wp bftm_servers_needed_literal: 5b + 1
// prove: wp bftm_servers_needed_order: 6b + 1, and 4b + 1 with signed ranks
// prove: wp bftm_kth_largest: one of the values, which at least k reach and fewer than k exceed; or 0
#include "quorum_contracts.h"
#include "core/quorum.c"
