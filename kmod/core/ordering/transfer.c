// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/ordering/transfer.h"
#include "core/resend.h"

static bool is_set(const u64 *bits, u32 i)
{
	return bits[i / 64] >> i % 64 & 1;
}

void bftm_transfer_begin(struct bftm_transfer *t, u32 len)
{
	memset(t, 0, sizeof(*t));
	t->len = len;
	t->pieces = (len + BFTM_PIECE_LEN - 1) / BFTM_PIECE_LEN;
	t->window = BFTM_TRANSFER_WINDOW_MAX / 2;
}

u32 bftm_transfer_next(struct bftm_transfer *t, u64 resend_ns, u64 now)
{
	u32 i;

	if (t->flying >= t->window)
		return BFTM_TRANSFER_NONE;
	for (i = 0; i < t->pieces; i++) {
		if (is_set(t->have, i) || is_set(t->asked, i))
			continue;
		t->asked[i / 64] |= 1ull << i % 64;
		t->flying++;
		if (!t->wake_ns)
			t->wake_ns = bftm_later(now, resend_ns, t->repeats);
		return i * BFTM_PIECE_LEN;
	}
	return BFTM_TRANSFER_NONE;
}

bool bftm_transfer_piece(struct bftm_transfer *t, u32 offset, u64 resend_ns, u64 now)
{
	u32 i = offset / BFTM_PIECE_LEN;

	if (offset % BFTM_PIECE_LEN || i >= t->pieces || is_set(t->have, i))
		return false;
	t->have[i / 64] |= 1ull << i % 64;
	t->done++;
	/* It may have been taken for lost. */
	if (is_set(t->asked, i)) {
		t->asked[i / 64] &= ~(1ull << i % 64);
		t->flying--;
	}
	if (t->window < BFTM_TRANSFER_WINDOW_MAX)
		t->window++;
	t->repeats = 0;
	if (t->done < t->pieces)
		t->wake_ns = bftm_later(now, resend_ns, t->repeats);
	else
		t->wake_ns = 0;
	return true;
}

bool bftm_transfer_wake(struct bftm_transfer *t, u64 now)
{
	if (!t->wake_ns || now < t->wake_ns)
		return true;
	if (t->repeats == BFTM_TRANSFER_REPEATS) {
		t->wake_ns = 0;
		return false;
	}
	memset(t->asked, 0, sizeof(t->asked));
	t->flying = 0;
	t->repeats++;
	t->window /= 2;
	if (t->window < BFTM_TRANSFER_WINDOW_MIN)
		t->window = BFTM_TRANSFER_WINDOW_MIN;
	t->wake_ns = 0;
	return true;
}
