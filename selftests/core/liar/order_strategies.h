/* SPDX-License-Identifier: GPL-2.0 */
/* All ways to lie about order, for those who offer a choice. */
#ifndef BFTM_LIAR_ORDER_STRATEGIES_H
#define BFTM_LIAR_ORDER_STRATEGIES_H

#include "order_strategy.h"

extern const struct order_strategy order_honest;
extern const struct order_strategy order_silent;
extern const struct order_strategy order_inflate;
extern const struct order_strategy order_outrank;
extern const struct order_strategy order_signed;
extern const struct order_strategy order_stale;
extern const struct order_strategy order_permit;
extern const struct order_strategy order_deny;
extern const struct order_strategy order_twin;
extern const struct order_strategy order_mix;
extern const struct order_strategy order_forge;
extern const struct order_strategy order_waits;
extern const struct order_strategy order_respond;
extern const struct order_strategy order_bodies;
extern const struct order_strategy order_recovering;
extern const struct order_strategy order_need;
extern const struct order_strategy order_refuse;
extern const struct order_strategy order_echo;
extern const struct order_strategy order_withhold;
extern const struct order_strategy order_late;
extern const struct order_strategy order_garble;
extern const struct order_strategy order_rival;

static const struct order_strategy *const order_strategies[] = {
	&order_honest, &order_silent, &order_inflate, &order_outrank, &order_signed,
	&order_stale, &order_permit, &order_deny, &order_twin, &order_mix, &order_forge,
	&order_waits, &order_respond, &order_bodies, &order_recovering, &order_need,
	&order_refuse, &order_echo, &order_withhold, &order_late, &order_garble, &order_rival,
};

extern const struct order_strategy order_list_invent;
extern const struct order_strategy order_list_hide;
extern const struct order_strategy order_list_delete;
extern const struct order_strategy order_list_endless;

/* … of them about lists of objects: the simulator has no lists. */
static const struct order_strategy *const order_listers[] = {
	&order_list_invent, &order_list_hide, &order_list_delete, &order_list_endless,
};

#define ORDER_LISTERS (sizeof(order_listers) / sizeof(order_listers[0]))
#define ORDER_STRATEGIES (sizeof(order_strategies) / sizeof(order_strategies[0]))

#endif /* BFTM_LIAR_ORDER_STRATEGIES_H */
