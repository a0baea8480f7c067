/* SPDX-License-Identifier: GPL-2.0 */
/* All ways to lie, for those who offer a choice. */
#ifndef BFTM_LIAR_STRATEGIES_H
#define BFTM_LIAR_STRATEGIES_H

#include "strategy.h"

extern const struct strategy strategy_honest;
extern const struct strategy strategy_silent;
extern const struct strategy strategy_always_free;
extern const struct strategy strategy_always_locked;
extern const struct strategy strategy_equivocate;
extern const struct strategy strategy_late;
extern const struct strategy strategy_replay;
extern const struct strategy strategy_duplicate;
extern const struct strategy strategy_silent_some;
extern const struct strategy strategy_twin;
extern const struct strategy strategy_adaptive;
extern const struct strategy strategy_refuse;
extern const struct strategy strategy_challenge;
extern const struct strategy strategy_unasked;
extern const struct strategy strategy_queue_jumper;
extern const struct strategy strategy_false_position;
extern const struct strategy strategy_inquirer;
extern const struct strategy strategy_inflate;
extern const struct strategy strategy_deny;
extern const struct strategy strategy_hoard;
extern const struct strategy strategy_withhold;
extern const struct strategy strategy_new_epochs;
extern const struct strategy strategy_ahead;
extern const struct strategy strategy_other_attempt;
extern const struct strategy strategy_false_priority;
extern const struct strategy strategy_take_back;
extern const struct strategy strategy_deaf;
extern const struct strategy strategy_false_mode;
extern const struct strategy strategy_false_value;
extern const struct strategy strategy_false_member;
extern const struct strategy strategy_fickle;

static const struct strategy *const strategies[] = {
	&strategy_honest, &strategy_silent, &strategy_always_free, &strategy_always_locked,
	&strategy_equivocate, &strategy_late, &strategy_replay, &strategy_duplicate,
	&strategy_silent_some, &strategy_twin, &strategy_adaptive, &strategy_refuse,
	&strategy_challenge, &strategy_unasked, &strategy_queue_jumper, &strategy_false_position,
	&strategy_inquirer, &strategy_inflate, &strategy_deny, &strategy_hoard,
	&strategy_withhold, &strategy_new_epochs, &strategy_ahead, &strategy_other_attempt,
	&strategy_false_priority, &strategy_take_back, &strategy_deaf,
	&strategy_false_mode, &strategy_false_value, &strategy_false_member, &strategy_fickle,
};

#define STRATEGIES (sizeof(strategies) / sizeof(strategies[0]))

#endif /* BFTM_LIAR_STRATEGIES_H */
