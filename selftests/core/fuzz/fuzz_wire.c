// SPDX-License-Identifier: GPL-2.0
/* The decoder of datagrams: what it takes, it gives back byte for byte. */
#include "core/wire.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct bftm_msg msg;
	struct bftm_wire wire;

	if (bftm_wire_get(data, len, &msg))
		return 0;
	must(len == BFTM_WIRE_LEN);
	must(*bftm_msg_name(msg.type) != '?');
	bftm_wire_put(&msg, &wire);
	must(!memcmp(&wire, data, BFTM_TAGGED_LEN));
	return 0;
}
