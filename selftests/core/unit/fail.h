/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One of many calls fails: allocations, system calls, calls of libraries. The linker
 * hands those that fail.c lists, of the files under test, to it instead (../build.mk,
 * FAIL_CALLS); what libraries call themselves goes on working.
 */
#ifndef BFTM_UNIT_FAIL_H
#define BFTM_UNIT_FAIL_H

#include "unit.h"

/** struct fail - a call that failed; no name: none did */
struct fail {
	const char *call;
	int error;	/* errno that it stands for */
};

/**
 * fail_begin() - from here on the @nth call, from 1, fails; no other one
 * @only: calls of this name are counted; NULL: all that are known
 */
void fail_begin(u32 nth, const char *only);

/** fail_end() - up to here. Return: which one has failed */
struct fail fail_end(void);

#endif /* BFTM_UNIT_FAIL_H */
