// SPDX-License-Identifier: GPL-2.0
/* No lie at all: a server in user space, to compare the kernel's with. */
#include "strategy.h"

static void answer(struct liar *l, const struct liar_request *req)
{
	liar_say(l, req, req->honest, 0);
}

const struct strategy strategy_honest = {
	.name = "honest",
	.what = "answer by the protocol",
	.answer = answer,
};
