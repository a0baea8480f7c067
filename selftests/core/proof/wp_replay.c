// SPDX-License-Identifier: GPL-2.0
// prove: wp one_bit: used by what follows
// prove: wp bftm_window_take: a number is taken at most once, whatever is taken between, and a new one always; for every window and number
// prove: wp bftm_window_holds: whether the window is still at that number
#include "core/replay.h"
