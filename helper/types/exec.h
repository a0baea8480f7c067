/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs as types of objects. A program is run for each request, without a shell, in a process
 * group of its own, with only stdin, stdout and stderr open, in folder / and with a clean
 * environment: PATH, LC_ALL=C and BFTMUTEX_TYPE. On stdin, a file, it reads
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
 * A new object keeps no bytes. With a status other than 0 the state stays as it was. The state also
 * stays, and the status is EIO, when the program does not exit with 0, writes anything else or too
 * much, or takes longer than its time limit; then the program and its process group are killed.
 */
#ifndef BFTM_OBJECT_EXEC_H
#define BFTM_OBJECT_EXEC_H

#include "types/object.h"

struct bftm_conf;

/* Longest output of a program: status, state, response, and their lines. */
#define BFTM_EXEC_OUTPUT_MAX	(BFTM_STATE_MAX + BFTM_OP_MAX + 256)

/** bftm_exec_configure() - use the programs of @conf from now on; they are taken out of it. */
void bftm_exec_configure(struct bftm_conf *conf);

/** bftm_exec_stop() - forget the programs; running ones are killed. */
void bftm_exec_stop(void);

/** bftm_exec_limit_ns() - the longest time limit of all; 0: there are no programs */
u64 bftm_exec_limit_ns(void);

/** bftm_exec_programs - for struct bftm_object_job; runs on the daemon's loop */
extern const struct bftm_object_exec bftm_exec_programs;

/**
 * struct bftm_exec_output - output of a program
 * @status:       errno of the object, 0 to 4095
 * @state:        what the object keeps now; NULL when it was left out
 * @state_len:    bytes of @state
 * @response:     what the program answers
 * @response_len: bytes of @response, 0 to BFTM_OP_MAX
 */
struct bftm_exec_output {
	u32 status;
	const u8 *state;
	u32 state_len;
	const u8 *response;
	u32 response_len;
};

/** bftm_exec_parse() - parse an output; false when it is not valid. */
bool bftm_exec_parse(const u8 *text, u32 len, struct bftm_exec_output *ret);

#endif /* BFTM_OBJECT_EXEC_H */
