// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <strings.h>

#include "text/mode.h"
#include "uapi/linux/bftmutex.h"

static const char *const names[] = {
	[BFTM_LOCK_EX] = "EX",
	[BFTM_LOCK_PW] = "PW",
	[BFTM_LOCK_PR] = "PR",
	[BFTM_LOCK_CW] = "CW",
	[BFTM_LOCK_CR] = "CR",
	[BFTM_LOCK_NL] = "NL",
};

const char *bftm_mode_name(uint32_t mode)
{
	return mode <= BFTM_LOCK_NL ? names[mode] : "unknown";
}

int bftm_mode_parse(const char *text, uint32_t *ret)
{
	uint32_t mode;

	for (mode = BFTM_LOCK_EX; mode < BFTM_LOCK_NL; mode++) {
		if (strcasecmp(text, names[mode]))
			continue;
		*ret = mode;
		return 0;
	}
	return -EINVAL;
}
