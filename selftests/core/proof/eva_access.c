// SPDX-License-Identifier: GPL-2.0
// prove: eva all_rules bftm_access_find bftm_access_admit bftm_access_leaseless: every request, up to four rules of any content
// prove: memory all_admitted bftm_admit bftm_admit_address bftm_refuse bftm_refuse_behind bftm_quarantine bftm_window_holds: every request and time
// prove: eva all_tokens bftm_tokens_answer bftm_tokens_top bftm_tokens_may_be bftm_tokens_stamped: every request, token and clock
#include "any.h"
#include "any_lock.h"
#include "core/access.c"
#include "core/admit.c"

#define RULES 4

void all_rules(void)
{
	struct bftm_server_cfg cfg = any_server();
	struct bftm_msg req = any_request(), reply;
	struct bftm_rule rule[RULES];
	u32 i;

	any(rule);
	for (i = 0; i < RULES; i++) {
		rule[i].deny = any_bool();
		rule[i].leaseless = any_bool();
		rule[i].prefix_len = (u8)any_from(0, BFTM_NAME_LEN_MAX);
	}
	bftm_access_leaseless(rule, (u32)any_from(0, RULES), &req);
	bftm_access_find(rule, (u32)any_from(0, RULES), &req);
	bftm_access_admit(rule, (u32)any_from(0, RULES), &req, &cfg, &reply);
}

void all_admitted(void)
{
	struct bftm_server_cfg cfg = any_server();
	struct bftm_msg req = any_request(), reply;
	struct bftm_window window;

	any(window);
	bftm_admit_address(&cfg, &req);
	bftm_admit(&cfg, &req, ANY_TIME, &reply);
	bftm_refuse(&req, &reply, (enum bftm_refusal)any_from(0, 255));
	bftm_refuse_behind(&window, &req, &reply);
	bftm_quarantine(any_from(BFTM_LEASE_MIN_NS, BFTM_LEASE_MAX_NS),
			(u32)any_from(BFTM_RHO_MIN_PPM, BFTM_RHO_MAX_PPM), ANY_TIME);
	bftm_window_holds(&window, any_from(0, ~0ull));
}

void all_tokens(void)
{
	struct bftm_server_cfg cfg = any_server();
	struct bftm_msg req = any_request(), reply = any_request();
	struct bftm_tokens tokens;

	any(tokens);
	bftm_tokens_answer(&tokens, &cfg, &req, ANY_TIME, any_from(0, ~0ull), &reply);
	bftm_tokens_top(&tokens);
	bftm_tokens_stamped(&tokens, any_from(0, ~0ull));
	tokens.floor = any_from(0, BFTM_TOKEN_FLOOR_MAX);
	bftm_tokens_may_be(&tokens, any_from(0, ~0ull), any_from(0, ~0ull), ANY_TIME);
}
