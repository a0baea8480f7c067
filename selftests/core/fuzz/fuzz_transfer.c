// SPDX-License-Identifier: GPL-2.0
/*
 * Bodies in pieces, beside an oracle that keeps two lists: a piece is done once,
 * none flies that is done, no more fly than may, and it ends.
 */
#include "core/ordering/transfer.h"
#include "fuzz.h"

static bool done[BFTM_PIECES_MAX], flies[BFTM_PIECES_MAX];
static u32 done_count, flying;

static void act_next(struct bftm_transfer *t, u64 resend, u64 now)
{
	u32 offset = bftm_transfer_next(t, resend, now), i = offset / BFTM_PIECE_LEN;

	if (offset == BFTM_TRANSFER_NONE) {
		must(t->flying >= t->window || t->done + t->flying == t->pieces);
		return;
	}
	must(offset < t->len && offset % BFTM_PIECE_LEN == 0);
	must(!done[i] && !flies[i] && t->wake_ns);
	must(bftm_transfer_len(t, offset) && bftm_transfer_len(t, offset) <= BFTM_PIECE_LEN);
	must(offset + bftm_transfer_len(t, offset) <= t->len);
	flies[i] = true;
	flying++;
}

static void act_piece(struct bftm_transfer *t, u32 offset, u64 resend, u64 now)
{
	u32 i = offset / BFTM_PIECE_LEN;
	bool good = offset % BFTM_PIECE_LEN == 0 && offset < t->len && !done[i];

	must(bftm_transfer_piece(t, offset, resend, now) == good);
	if (!good)
		return;
	done[i] = true;
	done_count++;
	flying -= flies[i];
	flies[i] = false;
	must(!t->repeats && !t->wake_ns == bftm_transfer_complete(t));
}

/* False when it is given up. */
static bool act_wake(struct bftm_transfer *t, u64 now)
{
	bool due = t->wake_ns && now >= t->wake_ns;

	if (!bftm_transfer_wake(t, now)) {
		must(due && t->repeats == BFTM_TRANSFER_REPEATS && !t->wake_ns);
		return false;
	}
	if (due) {
		memset(flies, 0, sizeof(flies));
		flying = 0;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct fuzz_bytes in = { data, len };
	struct bftm_transfer t;
	u64 now = 1, resend;

	memset(done, 0, sizeof(done));
	memset(flies, 0, sizeof(flies));
	done_count = flying = 0;
	bftm_transfer_begin(&t, 1 + (u32)fuzz_take(&in, 3) % BFTM_STATE_MAX);
	resend = 1 + fuzz_take(&in, 2);
	must(t.pieces && t.pieces <= BFTM_PIECES_MAX);
	while (in.left) {
		u8 what = (u8)fuzz_take(&in, 1);
		u32 i = (u32)fuzz_take(&in, 1) << 2 | what >> 6;

		now += i;
		if (what & 1)
			act_next(&t, resend, now);
		else if (what & 2)
			act_piece(&t, i * BFTM_PIECE_LEN + (what >> 2 & 15) / 15, resend, now);
		else if (what & 4)
			act_piece(&t, (u32)fuzz_take(&in, 4), resend, now);
		else if (!act_wake(&t, what & 8 ? t.wake_ns : now))
			return 0;
		must(t.done == done_count && t.flying == flying);
		must(t.window >= BFTM_TRANSFER_WINDOW_MIN && t.window <= BFTM_TRANSFER_WINDOW_MAX);
		must(bftm_transfer_complete(&t) == (t.done == t.pieces));
	}
	return 0;
}
