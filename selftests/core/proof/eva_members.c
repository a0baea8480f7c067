// SPDX-License-Identifier: GPL-2.0
// prove: eva all_members bftm_members_find bftm_members_start bftm_members_heard bftm_members_evict bftm_members_refuse bftm_members_lease bftm_members_note bftm_members_unnoted bftm_members_roll start_member: up to four members, and every request
#include "any.h"
#include "any_lock.h"
#include "core/members.c"

#define MEMBERS 4

void all_members(void)
{
	struct bftm_member member[MEMBERS];
	struct bftm_members members = { .member = member, .count = (u32)any_from(0, MEMBERS) };
	struct bftm_msg req = any_request();
	struct bftm_member *m;
	u32 i;

	any(member);
	for (i = 0; i < MEMBERS; i++)
		member[i].awaited = any_bool();
	/* It counts them. */
	members.awaited = (u32)any_from(1, MEMBERS);
	m = bftm_members_find(&members, req.client);
	if (m)
		bftm_members_heard(&members, m);
	bftm_members_refuse(&members, &req);
	bftm_members_lease(&members, any_from(BFTM_LEASE_MIN_NS, BFTM_LEASE_MAX_NS));
	members.awaited = (u32)any_from(1, MEMBERS);
	bftm_members_evict(&members, req.client, (u32)any_from(0, ~0u), any_bool());
	members.roll = any_bool();
	bftm_members_note(&members, req.client, (u32)any_from(0, ~0u));
	bftm_members_unnoted(&members, &req);
	bftm_members_start(&members);
	bftm_members_start(&members);
	bftm_members_roll(&members);
}
