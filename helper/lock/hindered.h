/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A request that cannot win although servers answer: some refuse it, or wait for members, and some
 * are silent, so that fewer are left than a lock needs. Nobody need have the lock.
 *
 * When b + 1 servers refuse for one reason, a correct one does, and the core ends the attempt. Of
 * fewer all may lie. They decide no more than a silent server does: how an attempt is explained
 * that has come to its end in vain, and when a request without a time limit is given up.
 */
#ifndef BFTM_HINDERED_H
#define BFTM_HINDERED_H

#include <stdbool.h>

#include "core/wire.h"
#include "uapi/linux/bftmutex.h"

struct bftm_acquire_op;

/**
 * struct bftm_words - the last word of each server to a request, as bit masks
 * @refused: it refuses, for the reason in @refusal
 * @awaits:  it waits for members, and grants nothing before
 * @busy:    somebody else has the lock, or goes first
 * @refusal: enum bftm_refusal
 */
struct bftm_words {
	u32 refused;
	u32 awaits;
	u32 busy;
	u8 refusal[BFTM_SERVERS_MAX];
};

/** bftm_words_take() - server @u has answered TRY by @msg */
void bftm_words_take(struct bftm_words *words, u32 u, const struct bftm_msg *msg);

/** bftm_words_refused() - servers whose last word is this enum bftm_refusal, a bit mask */
u32 bftm_words_refused(const struct bftm_words *words, u32 refusal);

/** bftm_refusal_errno() - how applications see an enum bftm_refusal. */
int bftm_refusal_errno(u32 refusal);

/**
 * bftm_hindered_errno() - why a request fails whose attempts have come to their end
 * @op:    the request
 * @error: positive errno
 *
 * Return: @error if servers say that somebody has the lock, or if enough servers could grant; else
 * the errno of the refusal if all that refuse name the same one; else ENETUNREACH. Logged.
 */
int bftm_hindered_errno(struct bftm_acquire_op *op, int error);

/**
 * bftm_hindered_in_vain() - would too few servers answer, if those that refuse the request were
 * silent?
 * @op: the request; logged
 */
bool bftm_hindered_in_vain(struct bftm_acquire_op *op);

/** bftm_hindered_why() - which servers hinder @op, as the end of a sentence in @text, and why */
const char *bftm_hindered_why(const struct bftm_acquire_op *op, char text[BFTM_WHY_MAX]);

#endif /* BFTM_HINDERED_H */
