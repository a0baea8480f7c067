/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of what a helper lends the kernel: the test is the helper and all servers, each a
 * socket of its own, on the loopback interface.
 */
#ifndef BFTM_TEST_LENDER_H
#define BFTM_TEST_LENDER_H

#include <arpa/inet.h>
#include <sys/mman.h>

#include "crypto/keys.h"
#include "selftests/module/device/fake_helper.h"

#define N		4	/* b = 1, F = 3 */
#define CLIENT		7
#define DELTA		(100 * MS)	/* sends are repeated after four of them */
#define LEASE		(20 * SEC)

extern const uint8_t request_key[16], reply_key[16];

/* FIXTURE(lend) of lend_fixture.h declares a struct of this name for the data of a test. */
struct _test_data_lend {
	struct bftm_nl nl;
	struct bftm_counters *counters;
	struct bftm_mac *request_mac, *reply_mac;
	int fd;
	int sock;		/* the helper's */
	int server[N];
	uint16_t port[N];
	int leave_out;		/* attribute that is not sent */
	uint32_t peers;
	uint32_t liars;
	uint32_t needed, forgetful, ask;	/* 0: they are left out */
	int socket_attr;
	uint64_t counters_attr;
	bool backoff;
	const char *device;	/* NULL: it is not sent */
	bool far;		/* the servers are at the other end of a link */
	bool twins;
	int peer_leave_out;
	uint64_t configuration;
	uint64_t epoch[N];	/* that servers have, and requests name */
	const char *cluster;
	int wrong;		/* attribute with a value that it cannot have */
	uint64_t value;
};
typedef struct _test_data_lend lend_t;

/* A UDP socket at a port of the kernel's choice, on both families. */
int bound(uint16_t *ret_port);

int lend(lend_t *self);

/* Reads the next datagram to server @u; its type, 0 for none within @ms, -1 for a wrong one. */
int told(lend_t *self, int u, int ms, struct bftm_msg *ret, struct sockaddr_in6 *from);

void say(lend_t *self, int u, struct bftm_msg msg, uint8_t type, const struct sockaddr_in6 *to,
	 struct bftm_mac *mac);

/* Servers @first to @last are asked @type, and answer @answer unless that is 0. */
int asked(lend_t *self, int first, int last, uint8_t type, uint8_t answer);

/* Nothing more is said to anybody: asked for 2 ms, which may be less than it takes. */
bool silence(lend_t *self);

int begin(lend_t *self, uint32_t flags);

/* It holds, by the answers of the first three. */
bool holds(lend_t *self, uint32_t flags);

#endif /* BFTM_TEST_LENDER_H */
