// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/backoff/ended.h"

void bftm_ended_note(struct bftm_ended *ended, u64 attempt)
{
	ended->attempt[ended->next++ % BFTM_ENDED] = attempt;
}

bool bftm_ended_stray(const struct bftm_ended *ended, const struct bftm_msg *msg,
		      struct bftm_msg *ret)
{
	u32 i;

	if (msg->type != BFTM_MSG_FREE && msg->type != BFTM_MSG_INQUIRE)
		return false;
	for (i = 0; i < BFTM_ENDED; i++) {
		if (!msg->attempt || ended->attempt[i] != msg->attempt)
			continue;
		/* No program held the lock, so its value is what it was. */
		*ret = (struct bftm_msg){
			.type = BFTM_MSG_RELEASE,
			.attempt = msg->attempt,
			.name_len = msg->name_len,
		};
		memcpy(ret->name, msg->name, msg->name_len);
		return true;
	}
	return false;
}
