/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs as types of objects. One is run for each request, without a shell, in a
 * process group of its own, with nothing but stdin, stdout and stderr open, in
 * folder / and with a clean environment: PATH, LC_ALL=C and BFTMUTEX_TYPE. On
 * stdin, a file, it finds
 *
 *	bftmutex-object 1\n
 *	state LEN\n
 *	the LEN bytes that the object keeps, then \n
 *	request LEN\n
 *	the LEN bytes of the request, then \n
 *
 * and writes to stdout
 *
 *	status NUMBER\n		errno of the object, 0 to 4095
 *	state LEN\n		what it keeps now; left out: what it kept
 *	LEN bytes, then \n
 *	response LEN\n		left out: no bytes
 *	LEN bytes, then \n
 *
 * A new object keeps no bytes. With a status other than 0 the state stays as it
 * was. So it does, and the status is EIO, when the program does not exit with 0,
 * writes anything else or more than may be, or takes longer than its time limit;
 * then it is killed, and with it its process group.
 */
#ifndef BFTM_OBJECT_EXEC_H
#define BFTM_OBJECT_EXEC_H

#include "types/object.h"

struct bftm_conf;

/* What a program may write: status, state, response, and their lines. */
#define BFTM_EXEC_OUTPUT_MAX	(BFTM_STATE_MAX + BFTM_OP_MAX + 256)

/** bftm_exec_configure() - the programs of @conf, from now on; taken out of it. */
void bftm_exec_configure(struct bftm_conf *conf);

/** bftm_exec_stop() - forget them; what runs is killed. */
void bftm_exec_stop(void);

/** bftm_exec_limit_ns() - the longest time limit of all; 0: there are no programs */
u64 bftm_exec_limit_ns(void);

/** bftm_exec_programs - for struct bftm_object_job; runs on the daemon's loop */
extern const struct bftm_object_exec bftm_exec_programs;

/**
 * struct bftm_exec_output - what a program wrote
 * @state: NULL when it was left out
 */
struct bftm_exec_output {
	u32 status;
	const u8 *state;
	u32 state_len;
	const u8 *response;
	u32 response_len;
};

/** bftm_exec_parse() - read its output; false when it is anything else. */
bool bftm_exec_parse(const u8 *text, u32 len, struct bftm_exec_output *ret);

#endif /* BFTM_OBJECT_EXEC_H */
