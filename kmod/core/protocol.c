// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/backoff/protocol.h"
#include "core/protocol.h"

const struct bftm_protocol *const bftm_protocols[BFTM_PROTOCOLS] = {
	&bftm_backoff,
};

int bftm_protocol_index(u8 number)
{
	int i;

	for (i = 0; i < BFTM_PROTOCOLS; i++)
		if (bftm_protocols[i]->number == number)
			return i;
	return -1;
}
