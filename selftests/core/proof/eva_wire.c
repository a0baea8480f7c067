// SPDX-License-Identifier: GPL-2.0
// prove: eva all_datagrams bftm_wire_get bftm_wire_put: every payload of 0 to 200 bytes; what is read can be written
// frama-c all_datagrams: -eva-slevel 600
// prove: eva all_types bftm_msg_name bftm_refusal_name bftm_mode_mask: every type, reason and mode
#include "any.h"
#include "core/wire.c"

void all_datagrams(void)
{
	u8 payload[200];
	struct bftm_wire wire;
	struct bftm_msg msg;

	any(payload);
	/* Eva sees by cases that a name is not longer than its place. */
	payload[offsetof(struct bftm_wire, name_len)] = any_bool() ?
		(u8)any_from(0, BFTM_NAME_LEN_MAX) : (u8)any_from(BFTM_NAME_LEN_MAX + 1, 255);
	if (bftm_wire_get(payload, any_from(0, sizeof(payload)), &msg) == BFTM_WIRE_OK)
		bftm_wire_put(&msg, &wire);
}

void all_types(void)
{
	bftm_msg_name((u8)any_from(0, 255));
	bftm_refusal_name((u32)any_from(0, ~0u));
	bftm_mode_mask((enum bftm_mode)any_from(BFTM_MODE_NL, BFTM_MODE_EX));
}
