// SPDX-License-Identifier: GPL-2.0
/*
 * Sequences that are right, for a fuzzer of the module to begin with: seeds FOLDER.
 * Bytes are what main.c and the operations take, one after another.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

#include "core/ordering/wire.h"
#include "uapi/linux/bftmutex_netlink.h"
#include "kfuzz.h"

#define REMOTE(op)	(KFUZZ_##op | KFUZZ_REMOTE)

/* A message of @n attributes, which follow. */
#define NL(socket, cmd, n)	KFUZZ_NETLINK, socket, BFTMUTEX_CMD_##cmd, 0, n
#define DUMP(cmd)		KFUZZ_NETLINK, 2, BFTMUTEX_CMD_##cmd, 2, 0
#define A(set, name)		BFTMUTEX_A_##set##_##name

#define START_WITH(n) \
	NL(2, SERVER_START, 6 + (n)), A(SERVER, CLUSTER), V(KFUZZ_CLUSTER), \
	A(SERVER, ID), V(KFUZZ_SERVER), A(SERVER, KEY), A(SERVER, LEASE_MAX_NS), V_10_MS, \
	A(SERVER, MAX_LOCKS), V(64), A(SERVER, MAX_CLIENTS), V(5)
/* A server whose quarantine is over, and which knows that no token was given. */
#define START \
	START_WITH(1), A(SERVER, TOKEN_FLOOR), V(0), KFUZZ_WAIT, 11

#define HELPER		NL(0, HELPER_REGISTER, 0)
#define PULL		NL(0, HELPER_PULL, 0)
#define OPEN(slot)	KFUZZ_OPEN, slot, 0
#define ACQUIRE(slot, bits, timeout) \
	KFUZZ_ACQUIRE, slot, 0, bits, 2, V(0), timeout
#define DONE(deadline) \
	NL(0, HELPER_DONE, 6), A(HANDLE, ID), V_ID, A(HANDLE, ATTEMPT), V(5), \
	A(HANDLE, ATTEMPTS), V(1), A(HANDLE, DEADLINE_NS), deadline, \
	A(HANDLE, TOKEN), V(11), A(HANDLE, SENDS), V(1)
#define HELD	HELPER, OPEN(0), ACQUIRE(0, 2, V(0)), PULL, DONE(V_LATER)

#define EX		BFTM_MODE_EX
#define EX_NOQUEUE	(BFTM_MODE_EX | BFTM_FLAG_NOQUEUE)

/* Name 2 is "lock", 3 is "object". */
#define SAY(client, type, flags, attempt, lease) \
	REMOTE(PLAIN), client, BFTM_MSG_##type, flags, 2, attempt, V(1), lease, V(1), \
	V_GNO, V_TOKEN
#define ODD(client, type, flags, proto, arg, version, at, byte) \
	REMOTE(PLAIN), (client) | 128, BFTM_MSG_##type, flags, 2, V_OP_1, V(1), V_10_MS, V(1), \
	V_GNO, V(1), proto, arg, V(1), 5, 1, version, at, byte
#define ORDER(client, type, rank, op, body, data) \
	REMOTE(ORDER), client, BFTM_ORDER_##type, 3, V(rank), op, body, data
#define PUT(client, offset) \
	REMOTE(ORDER), client, BFTM_ORDER_PUT, 3, V(0), V(0), 4, 4 | 1, V_RAW, \
	0, 0, 0, 0, 0, 0, (offset) >> 8, 0

#define PEER(port) \
	A(SESSION, PEER), 6, A(PEER, SERVER_ID), V(KFUZZ_SERVER), A(PEER, EPOCH), V_EPOCH, \
	A(PEER, ADDRESS), 0, A(PEER, PORT), port, A(PEER, REQUEST_KEY), A(PEER, REPLY_KEY)
#define LEND(port)	LEND_BY(V_SOCKET, PEER(port))
#define LEND_BY(socket, ...) \
	NL(0, HELPER_LEND, 12), A(SESSION, CLUSTER), 0, A(SESSION, STANDARD), \
	A(SESSION, CLUSTER_ID), V(KFUZZ_CLUSTER), A(SESSION, CLIENT_ID), V(KFUZZ_LENDER), \
	A(SESSION, LIARS), V(0), A(SESSION, RHO_PPM), V(200), A(SESSION, DELTA_NS), V_MS, \
	A(SESSION, LEASE_NS), V_10_MS, A(SESSION, LEASE_MAX_NS), V_10_MS, \
	A(SESSION, COUNTERS), V_COUNTERS, A(SESSION, SOCKET), socket, __VA_ARGS__

#define RANK(attr)	A(JOURNAL, attr), 3, A(RANK, COUNT), V(1), A(RANK, CLIENT), V(1), \
	A(RANK, INCARNATION), V(1)
#define STATE(attr)	A(JOURNAL, attr), 3, A(STATE, VERSION), V(1), A(STATE, LENGTH), \
	V_STATE_LEN, A(STATE, DIGEST), 2
#define JOURNAL(durability) \
	START_WITH(3), A(SERVER, DURABILITY), V(durability), A(SERVER, JOURNAL_ID), V_JOURNAL, \
	A(SERVER, TOKEN_FLOOR), V(0), KFUZZ_WAIT, 11, \
	NL(1, JOURNAL_OPEN, 1), A(JOURNAL, ID), V_JOURNAL
#define LOAD \
	NL(1, JOURNAL_LOAD, 6), A(JOURNAL, NAME), 3, RANK(RANK), RANK(PROPOSER), \
	STATE(COMMITTED), STATE(PROPOSED), A(JOURNAL, SIGNATURE)
#define BODY(which) \
	NL(1, JOURNAL_LOAD, 4), A(JOURNAL, NAME), 3, A(JOURNAL, BODY), V(which), \
	A(JOURNAL, OFFSET), V(0), A(JOURNAL, PIECE), 2
#define LOADED \
	NL(1, JOURNAL_LOADED, 1), A(JOURNAL, COMPLETE)
#define KEPT \
	NL(1, JOURNAL_PULL, 0), NL(1, JOURNAL_DONE, 2), A(JOURNAL, NAME), 3, \
	A(JOURNAL, CHANGE), V_CHANGE

#define SUBMIT(bits, room, timeout) \
	KFUZZ_SUBMIT, 0, (bits) | 3 << 4, 0, 3, 'g', 'e', 't', room, timeout
#define SUBMITTED \
	NL(0, HELPER_SUBMITTED, 4), A(HANDLE, ID), V_ID, A(HANDLE, STATUS), V(0), \
	A(HANDLE, NUMBER), V(7), A(HANDLE, RESPONSE), 0

#define SEED(name, ...) \
	static const u8 seed_##name[] = { __VA_ARGS__ }

SEED(acquire, HELD, KFUZZ_STATUS, 0, 0, KFUZZ_POLL, 0, 0, DUMP(HANDLE_GET), KFUZZ_RELEASE, 0, PULL);
SEED(expire, HELPER, OPEN(0), KFUZZ_SIGNAL, 0, 0, 1, V_MS, ACQUIRE(0, 0, V(0)), PULL,
	DONE(V_SOON), KFUZZ_WAIT, 4, KFUZZ_STATUS, 0, 0, KFUZZ_POLL, 0, 0);
SEED(cancel, HELPER, OPEN(0), ACQUIRE(0, 1, V_SEC), PULL, KFUZZ_RELEASE, 0, PULL);
SEED(wait, HELPER, KFUZZ_OPEN, 0, 1, ACQUIRE(0, 4, V_SEC), PULL, DONE(V_LATER), KFUZZ_RELEASE, 0);
SEED(timeout, HELPER, OPEN(0), ACQUIRE(0, 0, V_MS), KFUZZ_WAIT, 3, PULL, PULL);
SEED(renew, HELD, KFUZZ_RENEW, 0, 0, V(0), V_SEC, PULL, NL(0, HELPER_RENEWED, 3), A(HANDLE, ID),
	V_ID, A(HANDLE, DEADLINE_NS), V_LATER, A(HANDLE, SENDS), V(2), PULL);
/* EX to PR at once, and up to PW by the helper, with a token. */
SEED(convert, HELD, KFUZZ_CONVERT, 0, 0, 2, V(0), PULL, KFUZZ_CONVERT, 0, 0, 1 | 4 << 3, V_SEC, PULL,
	NL(0, HELPER_CONVERTED, 5), A(HANDLE, ID), V_ID, A(HANDLE, CONVERSION), V(2),
	A(HANDLE, DEADLINE_NS), V_LATER, A(HANDLE, TOKEN), V(12), A(HANDLE, SENDS), V(2),
	KFUZZ_POLL, 0, 0, DUMP(HANDLE_GET));
/* The value of a lock that is converted to have one; it is set, read and left, in EX and then in PW. */
SEED(value, HELD, KFUZZ_CONVERT, 0, 0, 0 | 8 << 3, V(0), PULL, KFUZZ_VALUE, 0, 0, 1, 5, 'v', 'a', 'l', 'u', 'e',
	KFUZZ_VALUE, 0, 0, 0, KFUZZ_CONVERT, 0, 0, 1, V(0), PULL, KFUZZ_VALUE, 0, 0, 1, 0, KFUZZ_RELEASE, 0, PULL);
/* A program waits for what the first one holds, and the second one gives it up. */
SEED(wanted, HELD, NL(0, HELPER_WANTED, 1), A(HANDLE, ID), V_ID, KFUZZ_POLL, 0, 0, KFUZZ_CONVERT, 0, 0, 2, V(0),
	NL(0, HELPER_WANTED, 2), A(HANDLE, ID), V_ID, A(HANDLE, MODE), V(2), KFUZZ_POLL, 0, 0);
SEED(adopt, HELD, KFUZZ_HANG_UP, 0, HELPER, PULL, NL(0, HELPER_RENEWED, 3), A(HANDLE, ID), V_ID,
	A(HANDLE, DEADLINE_NS), V_LATER, A(HANDLE, SENDS), V(2), KFUZZ_CLOSE, 0, PULL);
SEED(share, HELD, KFUZZ_FILE, 0, 0x14, KFUZZ_CLOSE, 0, KFUZZ_RELEASE, 1, KFUZZ_FILE, 1, 0,
	KFUZZ_FILE, 1, 1, KFUZZ_FILE, 1, 2, KFUZZ_FILE, 1, 3, KFUZZ_FILE, 1, 5);
SEED(refuse, HELPER, OPEN(0), ACQUIRE(0, 0, V(0)), PULL, NL(0, HELPER_DONE, 2), A(HANDLE, ID),
	V_ID, A(HANDLE, ERROR), V(13), KFUZZ_STATUS, 0, 0);
SEED(suspect, HELPER, NL(0, HELPER_SUSPECT, 4), A(SUSPECT, CLUSTER), 0, A(SUSPECT, SERVER_ID),
	V(3), A(SUSPECT, EVIDENCE), 3, A(SUSPECT, COUNT), V(4));
SEED(submit, HELPER, OPEN(0), SUBMIT(1, V_KIB, V_SEC), PULL, SUBMITTED);
SEED(fetch, HELPER, OPEN(0), SUBMIT(0, V(2), V_SEC), PULL, SUBMITTED, KFUZZ_FETCH, 0, 0, V_ID, V(1),
	KFUZZ_FETCH, 0, 0, V_ID, V_KIB);
SEED(withdraw, HELPER, OPEN(0), SUBMIT(0, V(2), V_MS), PULL, KFUZZ_WAIT, 4, PULL, SUBMITTED);
SEED(owner_dead, HELPER, OPEN(0), SUBMIT(0, V(2), V(0)), PULL, KFUZZ_HANG_UP, 0, HELPER, PULL);
SEED(try_lock, START, SAY(0, HELLO, 0, V(0), V(0)), SAY(0, TRY, EX_NOQUEUE, V_OP_1, V_10_MS),
	SAY(1, TRY, EX_NOQUEUE, V_OP_1, V_10_MS), DUMP(LOCK_GET), DUMP(CLIENT_GET),
	SAY(0, RELEASE, 0, V_OP_1, V(0)), SAY(1, TRY, EX_NOQUEUE, V_OP_2, V_10_MS));
SEED(queue, START, SAY(0, TRY, EX, V_OP_1, V_10_MS), SAY(1, TRY, EX, V_OP_1, V_10_MS),
	SAY(2, TRY, EX, V_OP_1, V_10_MS), DUMP(LOCK_GET), SAY(0, RELEASE, 0, V_OP_1, V(0)),
	SAY(1, YIELD, 0, V_OP_1, V(0)), KFUZZ_WAIT, 11, SAY(2, RELEASE, 0, V_OP_1, V(0)));
SEED(tokens, START, SAY(0, TRY, EX_NOQUEUE, V_OP_1, V_10_MS), REMOTE(PLAIN), 0, BFTM_MSG_STAMP, EX, 2,
	V_OP_1, V(1), V(0), V(1), V_GNO, V(5), REMOTE(PLAIN), 1, BFTM_MSG_STAMP, EX, 2, V_OP_1,
	V(1), V(0), V(1), V_GNO, V(4), SAY(0, RECOVER, 0, V(0), V(0)));
SEED(odd, START, SAY(0, TRY, EX, V_OP_1, V_10_MS), ODD(0, TRY, EX, 3, 0, 2, 0, 0),
	ODD(0, TRY, EX | BFTM_FLAG_VALUE, 1, 5, 2, 0, 0), ODD(0, TRY, EX, 1, 0, 3, 0, 0),
	ODD(0, RELEASE, 0, 1, 0, 255, 0, 0), ODD(0, SYNC, 0, 1, 0, 2, 0, 0),
	ODD(0, ASK, 0, 1, 0, 2, 0, 0), ODD(0, TRY, 4, 1, 3, 2, 0, 0), ODD(0, YIELD, 0, 1, 5, 2, 0, 0),
	ODD(1, TRY, EX, 1, 0, 2, 21, 0xff), ODD(0, TRY, EX, 1, 0, 1, 0, 0));
SEED(recover, START_WITH(0), SAY(0, HELLO, 0, V(0), V(0)), REMOTE(PLAIN), 0, BFTM_MSG_RECOVER, 0,
	2, V_OP_1, V(1), V(0), V(1), V(0), V(9), SAY(0, HELLO, 0, V(0), V(0)));
SEED(stranger, START, SAY(0, TRY, EX_NOQUEUE, V_OP_1, V_10_MS), REMOTE(STRANGER), 1, V(100),
	REMOTE(STRANGER), 2, V(100), REMOTE(STRANGER), 6, 1, 1, 1, 0, 9, 0, 2, REMOTE(REPLAY));
SEED(access, START_WITH(1), A(SERVER, RULE), 4, A(RULE, CLIENT_FIRST), V(1), A(RULE, CLIENT_LAST),
	V(1), A(RULE, LEASE_MAX_NS), V_10_MS, A(RULE, MAX_WAITERS), V(1), DUMP(ACCESS_GET),
	SAY(1, TRY, EX_NOQUEUE, V_OP_1, V_10_MS), NL(2, ACCESS_SET, 1), A(SERVER, RULE), 4,
	A(RULE, CLIENT_FIRST), V(1), A(RULE, CLIENT_LAST), V(9), A(RULE, PREFIX), 2, A(RULE, DENY),
	SAY(1, TRY, EX_NOQUEUE, V_OP_1, V_10_MS), NL(2, SERVER_GET, 0), NL(2, SERVER_STOP, 0));
SEED(object, START, ORDER(0, SUBMIT, 0, V_OP_1, 0, 1), ORDER(0, GET, 1, V(0), 0, 3),
	ORDER(0, PROPOSE, 1, V(0), 2, 1), ORDER(0, COMMIT, 1, V(0), 2, 0),
	ORDER(0, SUBMIT, 0, V_OP_1, 0, 1), DUMP(OBJECT_GET), ORDER(1, SUBMIT, 0, V_OP_1, 1, 1),
	ORDER(0, SUBMIT, 0, V_OP_2, 1, 1), ORDER(1, GET, 2, V(0), 0, 0),
	ORDER(1, PROPOSE, 2, V(0), 3, 1), ORDER(1, COMMIT, 2, V(0), 3, 0));
SEED(outrank, START, ORDER(0, GET, 2, V(0), 0, 3), ORDER(1, GET, 1, V(0), 0, 3),
	ORDER(1, PROPOSE, 1, V(0), 2, 1), ORDER(1, COMMIT, 1, V(0), 2, 1));
SEED(pieces, START, PUT(0, 0), PUT(0, 1024), PUT(0, 2048), PUT(0, 3072),
	ORDER(0, GET, 1, V(0), 0, 0),
	ORDER(0, PROPOSE, 1, V(0), 4, 0), ORDER(0, COMMIT, 1, V(0), 4, 0), REMOTE(ORDER), 0,
	BFTM_ORDER_FETCH, 3, V(0), V(0), 4, 16, V_KIB);
SEED(install, START_WITH(0), ORDER(0, GET, 1, V(0), 0, 0), ORDER(0, INSTALL, 1, V(0), 2, 1),
	ORDER(0, GET, 1, V(0), 0, 0), ORDER(0, SUBMIT, 0, V_OP_1, 0, 1));
SEED(journal, JOURNAL(2), LOAD, BODY(0), LOADED, ORDER(0, GET, 2, V(0), 0, 0), KEPT,
	ORDER(0, PROPOSE, 2, V(0), 3, 1), KEPT, ORDER(0, COMMIT, 2, V(0), 3, 0), KEPT,
	KFUZZ_HANG_UP, 1, NL(1, JOURNAL_OPEN, 1), A(JOURNAL, ID), V_JOURNAL, KEPT, KEPT);
SEED(journal_async, JOURNAL(1), LOADED, ORDER(0, SUBMIT, 0, V_OP_1, 0, 1),
	ORDER(0, GET, 1, V(0), 0, 0), KEPT, KEPT, NL(1, JOURNAL_PULL, 0), NL(2, SERVER_GET, 0));
SEED(fast, START, HELPER, LEND(V_PORT), OPEN(0), REMOTE(ACQUIRE), 0, 0, 0, 2, V_10_MS, V_SEC,
	KFUZZ_STATUS, 0, 0, PULL, KFUZZ_RELEASE, 0, PULL, REMOTE(ACQUIRE), 0, 0, 1, 2, V_10_MS, V_SEC);
SEED(fast_v4, START, HELPER, LEND_BY(V_SOCKET_V4, PEER(V_PORT)), OPEN(0), ACQUIRE(0, 1, V_SEC));
SEED(fast_lied, START, HELPER, LEND(V_LIAR), OPEN(0), ACQUIRE(0, 1, V_SEC), REMOTE(LIAR),
	BFTM_MSG_FREE, 0, V(1), V(0), KFUZZ_STATUS, 0, 0, PULL, KFUZZ_RELEASE, 0,
	ACQUIRE(0, 0, V_SEC), REMOTE(LIAR), BFTM_MSG_LOCKED, 0, V(1), V(0), PULL,
	NL(0, HELPER_LEND, 1), A(SESSION, CLUSTER), 0);
SEED(ioctl, OPEN(0), KFUZZ_IOCTL, 0, 3, 4, 48, 48, 48, 0, 0, 0, KFUZZ_IOCTL, 0, 0, 3, 0, 0,
	KFUZZ_IOCTL, 0, 3, 1, 144, 4, 144, 0, 0, 0);

#define LISTED(name)	{ #name, seed_##name, sizeof(seed_##name) }

static const struct {
	const char *name;
	const u8 *data;
	size_t len;
} seeds[] = {
	LISTED(acquire), LISTED(expire), LISTED(cancel), LISTED(wait), LISTED(timeout),
	LISTED(renew), LISTED(convert), LISTED(value), LISTED(wanted), LISTED(adopt),
	LISTED(share), LISTED(refuse), LISTED(suspect),
	LISTED(submit), LISTED(fetch), LISTED(withdraw), LISTED(owner_dead), LISTED(try_lock),
	LISTED(queue), LISTED(tokens), LISTED(odd), LISTED(recover), LISTED(stranger), LISTED(access),
	LISTED(object), LISTED(outrank), LISTED(pieces), LISTED(install), LISTED(journal),
	LISTED(journal_async), LISTED(fast), LISTED(fast_v4), LISTED(fast_lied),
	LISTED(ioctl),
};

int main(int argc, char **argv)
{
	char path[4096];
	FILE *file;
	size_t i;
	bool bad;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return EX_USAGE;
	}
	for (i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", argv[1], seeds[i].name);
		file = fopen(path, "w");
		bad = !file || fwrite(seeds[i].data, seeds[i].len, 1, file) != 1;
		if (file)
			bad |= fclose(file);
		if (bad) {
			perror(path);
			return EX_CANTCREAT;
		}
	}
	return 0;
}
