/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by tests that are the helper of a network namespace themselves. */
#ifndef BFTM_TEST_FAKE_HELPER_H
#define BFTM_TEST_FAKE_HELPER_H

#include "selftests/module/netlink/netlink.h"

int pull(struct bftm_nl *nl, struct seen *ret);

#define NONE	UINT64_MAX	/* leave the attribute out */

int done_with(struct bftm_nl *nl, uint64_t id, uint64_t error, uint64_t attempt,
	      uint64_t deadline_ns, uint64_t token, uint32_t sends);
int done(struct bftm_nl *nl, uint64_t id, uint64_t error, uint64_t attempt, uint64_t deadline_ns);
/* The value of a report: @flags of NONE leave that attribute out, a @text of NULL the other. */
void put_value(struct nl_msg *msg, uint64_t flags, const char *text, int len);
/* Won with this value. */
int done_of(struct bftm_nl *nl, uint64_t id, uint64_t deadline_ns, uint64_t flags,
	    const char *text, int len);
int renewed(struct bftm_nl *nl, uint64_t id, uint64_t deadline_ns, uint32_t sends);
int wanted(struct bftm_nl *nl, uint64_t id, uint32_t mode);

/* @conversion, and either @error or @deadline_ns; 0 leaves the attribute out. */
int converted(struct bftm_nl *nl, uint64_t id, uint32_t conversion, uint32_t error,
	      uint64_t deadline_ns, uint64_t token);

/* cmd: DONE, of attempt 5, or RENEWED. */
int held_until(struct bftm_nl *nl, uint8_t cmd, uint64_t id, uint64_t deadline_ns, uint64_t end_ns);

struct nl_sock *open_events(const char *name);

/* The state in the next event; -1 when none comes. */
int next_event(struct nl_sock *sock, struct seen *ret, int ms);

/* An acquire that was pulled. */
uint64_t pulled(struct bftm_nl *nl, int fd, const char *name);

/* Holds a lock until @deadline_ns, by an acquire with @flags. Returns the number of the request. */
uint64_t held(struct bftm_nl *nl, int fd, const char *name, uint32_t flags, uint64_t deadline_ns);

/* The same in a mode; the helper gives token 11, if one was asked for. */
uint64_t held_in(struct bftm_nl *nl, int fd, const char *name, uint32_t mode, uint32_t flags,
		 uint64_t deadline_ns);

/* Becomes the next helper of this namespace, after the previous one has ended. */
void take_over(struct bftm_nl *nl);

#endif /* BFTM_TEST_FAKE_HELPER_H */
