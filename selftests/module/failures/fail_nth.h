/* SPDX-License-Identifier: GPL-2.0 */
/* Operations that are tried with each of their allocations failing; fail_nth.c runs them. */
#ifndef BFTM_TEST_FAIL_NTH_H
#define BFTM_TEST_FAIL_NTH_H

#include "selftests/module/device/submit.h"

extern struct bftm_nl nth_nl;	/* calls that fail, and the helper's */
extern struct bftm_nl nth_calm;	/* those that look */
extern int nth_fd;		/* a handle; -1: none */

#define ANY_ERROR	1

/**
 * struct operation - what is tried
 * @setup: makes the state before it, from any
 * @run:   the call; @want is what it returns when nothing fails
 * @check: more than what can be seen; may be NULL
 * @also:  another error that stands for want of memory; ANY_ERROR where the kernel has many
 */
struct operation {
	const char *name;
	void (*setup)(void);
	int (*run)(void);
	int want;
	void (*check)(int err);
	int also;
};

/* Each list ends with a name that is NULL. They are tried in this order. */
extern const struct operation nth_module_operations[];
extern const struct operation nth_server_operations[];
extern const struct operation nth_client_operations[];

/** nth_dump() - a listing by @by, of @count entries; Return: 0 or the error */
int nth_dump(struct bftm_nl *by, uint8_t cmd, int *count);

/** nth_be_helper() - nth_nl is a new helper, and no other is there */
void nth_be_helper(void);

/** nth_module() - ours is loaded, and everything may fail */
void nth_module(void);

/** nth_stop_answering() - end the thread that answers who submits, if there is one */
void nth_stop_answering(void);

#endif /* BFTM_TEST_FAIL_NTH_H */
