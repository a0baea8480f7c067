// SPDX-License-Identifier: GPL-2.0
// prove: memory all_bodies bftm_state_ok bftm_state_find bftm_state_clients bftm_state_app: every body of up to 100 bytes
// prove: memory all_next_states bftm_state_make: from σ0, with up to two operations and their responses
// prove: memory all_responses bftm_vote_committed: in every body of up to 100 bytes
// prove: memory all_types bftm_state_type: in every body of 100 bytes that bftm_state_ok() lets pass
// frama-c: -eva-slevel 300
#include "any.h"
#include "core/ordering/state.c"
#include "core/ordering/vote.c"

#define LEN	100
#define CLIENTS	((LEN - sizeof(struct bftm_state_head)) / sizeof(struct bftm_state_client))

/* Eva does not see that the entries of all clients fit, so each number of them has its turn. */
void all_bodies(void)
{
	u8 body[LEN];
	struct bftm_state_head *head = (struct bftm_state_head *)body;
	struct bftm_applied applied;
	u32 len = (u32)any_from(0, LEN), clients, app_len;

	any(body);
	for (clients = 0; clients <= CLIENTS; clients++) {
		head->clients = clients;
		bftm_state_ok(body, LEN, any_from(0, ~0ull));
		if (bftm_state_find(body, (u32)any_from(0, ~0u), &applied)) {
			//@ assert inside: applied.len == 0 || \base_addr(applied.response) == \base_addr(&body[0]);
		}
		bftm_state_clients(body);
	}
	head->clients = (u32)any_from(CLIENTS + 1, ~0u);
	bftm_state_ok(body, len, any_from(0, ~0ull));
	bftm_state_find(NULL, 1, &applied);
	head->app_len = (u32)any_from(0, LEN);
	bftm_state_app(body, LEN, &app_len);
	bftm_state_app(NULL, 0, &app_len);
}

void all_next_states(void)
{
	u8 response[16], app[16], body[200];
	struct bftm_applied applied[2];
	u32 i;

	any(response);
	any(app);
	for (i = 0; i < 2; i++)
		applied[i] = (struct bftm_applied){
			.op = any_from(1, ~0ull),
			.client = i + 1,
			.len = (u32)any_from(0, sizeof(response)),
			.response = response,
		};
	for (i = 0; i <= 2; i++)
		bftm_state_make(NULL, any_from(1, ~0ull), applied, i, app,
				(u32)any_from(0, sizeof(app)), body, sizeof(body));
}

void all_responses(void)
{
	u8 body[LEN];
	struct bftm_state_head *head = (struct bftm_state_head *)body;
	struct bftm_applied applied;
	struct bftm_order order;
	struct bftm_body_id id;
	u32 clients;

	any(body);
	any(order.rank);
	any(order.next);
	any(id);
	for (clients = 0; clients <= CLIENTS; clients++) {
		head->clients = clients;
		if (bftm_vote_committed(&order, &id, body, any_from(1, ~0ull), &applied)) {
			//@ assert read_here: applied.len == 0 || \base_addr(applied.response) == \base_addr(&body[0]);
		}
	}
	bftm_vote_committed(&order, &id, NULL, any_from(1, ~0ull), &applied);
}

void all_types(void)
{
	u8 body[LEN];
	struct bftm_state_head *head = (struct bftm_state_head *)body;
	const u8 *type;
	u32 app_len;

	any(body);
	//@ loop unroll 100;
	for (app_len = 0; app_len <= LEN - sizeof(*head); app_len++) {
		head->app_len = app_len;
		bftm_state_type(body, LEN, &type);
	}
	bftm_state_type(NULL, 0, &type);
}
