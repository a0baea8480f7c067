/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A bftmutex-liar on the loopback interface and two clients of it. Datagrams
 * there arrive when they are sent, and the liar answers what has arrived
 * before it obeys a signal: so after peer_stop() all answers are there, and
 * silence needs no time-out.
 */
#ifndef BFTM_UNIT_LIAR_PEER_H
#define BFTM_UNIT_LIAR_PEER_H

#include "unit.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crypto/keys.h"

#define MS		BFTM_NS_PER_MS
#define PATIENCE_MS	60000	/* what is waited for comes within a millisecond */

extern const struct bftm_master master;

/** struct peer - client number 1 or 2, its socket and its keys */
struct peer {
	int fd;
	u64 seq;
	struct bftm_mac *request, *reply;
};

extern struct peer peers[3];	/* [0] is nobody */
extern char key_path[64], stats_path[64];
extern pid_t liar;
extern u16 port;
extern u64 epoch;
/* As long as a liar grants by itself: no pause of a busy machine is as long. */
extern u64 lease;
/* The result of read_stats(). */
extern unsigned int requests, lies, replies, pushes;

u64 liar_peer_now(void);

/* Next to the tests' directory, or where the environment says. */
const char *liar_path(void);

pid_t spawn(char *const argv[], int out);
int exit_status(pid_t pid);
void peer_connect(struct peer *p, bool v6);

/* Start one with these options, NULL at the end. Waits until it listens. */
void liar_start_with(const char *strategy, const char *const *more);

/* @option and @value may be NULL. */
void liar_start(const char *strategy, const char *option, const char *value);

void read_stats(const char *strategy);
void liar_stop(const char *strategy);

/* Send as client @c, with the next number and a good tag. */
void peer_send(u32 c, struct bftm_msg msg);

/* About lock x. */
void peer_say(u32 c, u8 type, u64 attempt, struct bftm_msg msg);

/* A try that waits in the queue for lock x. */
void peer_queue(u32 c, u64 attempt, u32 k);

void peer_try(u32 c, const char *name, u64 attempt, u32 k);

/* The next datagram that is there, or comes within this time; -1 for none. */
ssize_t peer_hear(u32 c, void *data, size_t size, int wait_ms);

/* The next datagram that is an authentic message, as peer_hear(). False for none. */
bool peer_next(u32 c, struct bftm_msg *ret, int wait_ms);

/* The next datagram, which must be an authentic answer to client @c. */
struct bftm_msg peer_answer(u32 c);

void assert_silence(u32 c);
void peer_hello(u32 c);
int peers_make(void **state);
int peers_destroy(void **state);

/* After a test that failed half-way. */
int liar_reap(void **state);

#endif /* BFTM_UNIT_LIAR_PEER_H */
