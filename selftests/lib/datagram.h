/* SPDX-License-Identifier: GPL-2.0 */
/* A client that sends single datagrams to one server, and reads its answers. */
#ifndef BFTM_TEST_DATAGRAM_H
#define BFTM_TEST_DATAGRAM_H

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "crypto/keys.h"
#include "selftests/lib/clock.h"

/* Limit for answers that come within milliseconds; it only ends a test that hangs. */
#define PATIENCE_MS 60000
#define LEASE_NS (200 * BFTM_NS_PER_MS)

/** struct peer - client and server, the epoch and the last number used */
struct peer {
	int fd;
	struct bftm_mac *request, *reply;
	u32 cluster, client;
	u16 server;
	u64 epoch;
	u64 seq;
};

/** struct counted - counters of a server */
struct counted {
	unsigned int received, bad_form, bad_version, bad_address, bad_tag, replayed;
	unsigned int challenged, stale;
	unsigned int granted, refreshed, locked, waited, released, refused, silent;
	unsigned int queued, pushed, inquired, yielded, stamped, denied, recovered;
};

/* The counters that the server must have, and the number of failures of check(). */
extern struct counted expected;
extern int failures;

__attribute__((format(printf, 2, 3)))
bool check(bool right, const char *format, ...);

/* A number larger than all earlier ones, also of earlier processes, as the protocol requires. */
u64 fresh(void);

/* A socket to a server at a numeric address, IPv6 with %INTERFACE if need be. */
int open_socket(const char *address);

void open_peer(struct peer *p, u16 server, const char *address, const char *path);

/* Fill in the fields that every request has, and the tag. */
void prepare(struct peer *p, struct bftm_msg *m, struct bftm_wire *wire);

void say_bytes(struct peer *p, const void *bytes, size_t len);
void say_wire(struct peer *p, const struct bftm_wire *wire);

/* Signed anew, whatever was done to it. */
void say_signed(struct peer *p, struct bftm_wire *wire);

/* Send it, without an answer. */
void tell(struct peer *p, struct bftm_msg m);

bool hear(struct peer *p, struct bftm_msg *m, int patience_ms);

/* Ask, and hear an answer of this type that belongs to it and is no longer. */
struct bftm_msg ask(struct peer *p, struct bftm_msg m, u8 type, const char *why);

/* Asks for the server's epoch. If earlier requests were not answered, this is the first answer. */
struct bftm_msg hello(struct peer *p);

/* A request with all that its type needs; a STAMP offers 1. */
struct bftm_msg request(u8 type, const char *name, u64 attempt);

#endif /* BFTM_TEST_DATAGRAM_H */
