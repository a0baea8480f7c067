/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * At-most-once delivery, which the paper's channels provide (Section 3): a
 * server takes each sequence number of a client once. The window slides as in
 * RFC 6479; what is older than it counts as taken.
 */
#ifndef BFTM_CORE_REPLAY_H
#define BFTM_CORE_REPLAY_H

#include "core/types.h"

#define BFTM_WINDOW_WORDS	16
#define BFTM_WINDOW_BITS	(BFTM_WINDOW_WORDS * 64)

/**
 * struct bftm_window - sequence numbers taken
 * @top:  the highest, 0 before the first
 * @bits: one for each number, at its residue; the word of the highest is
 *        always partly used, so BFTM_WINDOW_BITS - 64 numbers are kept at least
 */
struct bftm_window {
	u64 top;
	u64 bits[BFTM_WINDOW_WORDS];
};

/**
 * bftm_window_take() - is this number new? If so it is taken.
 * @w:   zeroed before first use
 * @seq: 1 or more
 *
 * Return: true for the first call with this number inside the window.
 */
static inline bool bftm_window_take(struct bftm_window *w, u64 seq)
{
	u64 word = seq / 64, top = w->top / 64, bit = 1ull << (seq % 64);
	u64 i;

	if (!seq)
		return false;
	if (seq > w->top) {
		if (word - top >= BFTM_WINDOW_WORDS)
			memset(w->bits, 0, sizeof(w->bits));
		else
			for (i = top + 1; i <= word; i++)
				w->bits[i % BFTM_WINDOW_WORDS] = 0;
		w->top = seq;
	} else if (top - word >= BFTM_WINDOW_WORDS) {
		return false;
	}
	if (w->bits[word % BFTM_WINDOW_WORDS] & bit)
		return false;
	w->bits[word % BFTM_WINDOW_WORDS] |= bit;
	return true;
}

/**
 * bftm_window_holds() - is this number, one that was taken, still in the window?
 * @w:   the window
 * @seq: the number, taken before
 *
 * Return: false when one was taken since that is above it by BFTM_WINDOW_BITS or more; true
 * when none is by more than BFTM_WINDOW_BITS - 64.
 */
static inline bool bftm_window_holds(const struct bftm_window *w, u64 seq)
{
	return w->top / 64 - seq / 64 < BFTM_WINDOW_WORDS;
}

#endif /* BFTM_CORE_REPLAY_H */
