/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the tests of BFTM_IOC_SUBMIT: programs that submit, and a helper that answers. */
#ifndef BFTM_TEST_SUBMIT_H
#define BFTM_TEST_SUBMIT_H

#include <pthread.h>

#include "fake_helper.h"

struct bftm_submit op_on(const char *name, const void *op, size_t len);
struct bftm_submit text_on(const char *name, const char *op);
void make_room(struct bftm_submit *arg, void *room, size_t len);
int submit(int fd, struct bftm_submit *arg);

/* Get the response that did not fit. */
int fetch(int fd, uint64_t id, void *room, size_t len, struct bftm_submit *ret);

/* One thread that submits once. */
struct program {
	pthread_t thread;
	int fd, err;
	struct bftm_submit arg;
	char response[BFTM_SUBMIT_MAX];
};

void *run_program(void *arg);

/* With room for @room bytes. */
void start_program(struct program *p, int fd, struct bftm_submit arg, size_t room);

/* Waits for the program's end; returns its result. */
int end_program(struct program *p);

/* A submit or a withdrawal, as the helper sees it. */
struct asked {
	struct seen head;
	bool has_op;
	size_t op_len;
	char op[BFTM_SUBMIT_MAX];
};

int pull_asked(struct bftm_nl *nl, struct asked *ret);

/* The next request, waited for; -ENODATA when none comes. */
int next_asked(struct bftm_nl *nl, struct asked *ret);

/* The number of the next submit; 0 when something else is asked for. */
uint64_t next_submit(struct bftm_nl *nl);

/* Any report; NONE leaves an attribute out, and so does NULL. */
int report(struct bftm_nl *nl, uint64_t id, uint64_t error, uint64_t status, uint64_t number,
	   const void *response, size_t len);

int answer(struct bftm_nl *nl, uint64_t id, uint32_t status, uint64_t number,
	   const char *response);
int refuse(struct bftm_nl *nl, uint64_t id, uint32_t error);

#endif /* BFTM_TEST_SUBMIT_H */
