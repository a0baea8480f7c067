// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "protocol.h"

const struct protocol *protocol_find(const char *name)
{
	static const struct protocol *const ours[] = {
		&protocol_ours, &protocol_sigma, &protocol_paper, &protocol_order,
	};
	static struct protocol other = {
		.what = "a protocol of selftests/core/reference", .releases = true,
	};
	size_t i;

	for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (!strcmp(ours[i]->name, name))
			return ours[i];
	for (i = 0; bftm_protocols[i]; i++) {
		if (strcmp(bftm_protocols[i]->name, name))
			continue;
		other.name = name;
		other.core = bftm_protocols[i];
		return &other;
	}
	return NULL;
}
