// SPDX-License-Identifier: GPL-2.0
// prove: memory all_transfers bftm_transfer_begin bftm_transfer_next bftm_transfer_piece bftm_transfer_wake bftm_transfer_len bftm_transfer_complete: every body of up to 1 MB, every state of a transfer
#include "any.h"
#include "core/ordering/transfer.c"

void all_transfers(void)
{
	struct bftm_transfer t;
	u64 resend_ns = ANY_TIME / 16;

	any(t);
	t.len = (u32)any_from(1, BFTM_STATE_MAX);
	t.pieces = (u32)any_from(1, BFTM_PIECES_MAX);
	bftm_transfer_next(&t, resend_ns, ANY_TIME);
	bftm_transfer_piece(&t, (u32)any_from(0, ~0u), resend_ns, ANY_TIME);
	bftm_transfer_wake(&t, ANY_TIME);
	bftm_transfer_len(&t, (u32)any_from(0, ~0u));
	bftm_transfer_complete(&t);
	bftm_transfer_begin(&t, (u32)any_from(1, BFTM_STATE_MAX));
}
