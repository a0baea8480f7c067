/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fuzzer of the real module, in a VM. An input is a sequence of operations: a byte each (enum
 * kfuzz_op; KFUZZ_REMOTE as well: see cover.c), then its arguments, in bytes or in values
 * (kfuzz_value()). At the end of an input, the state is as before it.
 *
 *	main.c      inputs, what holds after each, and the state between them
 *	device.c    /dev/bftmutex
 *	netlink.c   the netlink family, as any program, helper and journal
 *	attribute.c what is sent to it
 *	datagram.c  clients and strangers
 *	liar.c      what a helper lends, and a server that answers what the kernel asks
 *	value.c     numbers that are worth trying
 *	cover.c     what of the module was reached, told to libFuzzer
 *	seeds.c     (a program) sequences that are right, to begin with
 */
#ifndef BFTM_KFUZZ_H
#define BFTM_KFUZZ_H

#include "core/wire.h"
#include "selftests/core/fuzz/fuzz.h"

#define KFUZZ_CLUSTER	9
#define KFUZZ_SERVER	3
#define KFUZZ_CLIENTS	4
#define KFUZZ_LENDER	7	/* the client whose keys the helper lends */
#define KFUZZ_LIAR_PORT	7474
#define KFUZZ_REMOTE	0x80

enum kfuzz_op {
	/* device.c */
	KFUZZ_OPEN, KFUZZ_CLOSE, KFUZZ_ACQUIRE, KFUZZ_RENEW, KFUZZ_RELEASE, KFUZZ_STATUS,
	KFUZZ_CONVERT, KFUZZ_VALUE, KFUZZ_SIGNAL, KFUZZ_SUBMIT, KFUZZ_FETCH, KFUZZ_POLL, KFUZZ_FILE,
	KFUZZ_IOCTL,
	/* netlink.c */
	KFUZZ_NETLINK, KFUZZ_HANG_UP,
	/* datagram.c */
	KFUZZ_PLAIN, KFUZZ_ORDER, KFUZZ_REPLAY, KFUZZ_STRANGER, KFUZZ_LIAR,
	/* main.c */
	KFUZZ_WAIT,
	KFUZZ_OPS
};

/** enum kfuzz_number - a byte that stands for a value; those above are small numbers */
enum kfuzz_number {
	V_NOW, V_SOON, V_LATER, V_ID, V_ID_BEFORE, V_EPOCH, V_GNO, V_TOKEN, V_CHANGE,
	V_COUNTERS, V_SOCKET, V_MS, V_10_MS, V_SEC, V_HOUR, V_DAY, V_MAX, V_HALF, V_U32,
	V_LIAR, V_PORT, V_STATE_LEN, V_LONG_LEN, V_OP_1, V_OP_2, V_KIB, V_16_KIB, V_MIB,
	V_16_MIB, V_JOURNAL, V_MAX_LESS, V_I64, V_SOCKET_V4,
	V_SMALL,		/* 0, 1, 2 … */
	V_RAW = 0xf0,		/* eight bytes follow */
};

/* Also in seeds: V(3) is 3. */
#define V(small)	(V_SMALL + (small))

/** struct kfuzz - what operations know of each other; all but @in is the module's word */
struct kfuzz {
	struct fuzz_bytes in;
	u64 id, id_before;	/* of what the helper pulled */
	u64 change;		/* that the journal pulled */
	u64 epoch, gno, token;	/* of the server */
	void *counters;		/* a page that is lent */
	int socket, socket_v4;	/* sockets to lend */
	bool say;		/* what is done, on stderr */
	bool spoilt;		/* the namespace: a server had long leases */
};

extern struct kfuzz kfuzz;

#define say(...) do { \
	if (kfuzz.say) \
		dprintf(2, __VA_ARGS__); \
} while (0)

/** kfuzz_byte(), kfuzz_value() - the next one of the input; zero when it is over */
static inline u8 kfuzz_byte(void)
{
	return (u8)fuzz_take(&kfuzz.in, 1);
}

u64 kfuzz_value(void);

/** kfuzz_bytes() - the next of the input, at most @most of them, and how many */
const u8 *kfuzz_bytes(size_t most, size_t *ret_len);

/** kfuzz_name() - of a lock or an object; not terminated */
u8 kfuzz_name(u8 ret[BFTM_NAME_LEN_MAX]);

/* *_begin(): in a new namespace; *_do(): one operation; *_end(): close what it has opened. */
void kfuzz_device_do(enum kfuzz_op op);
void kfuzz_device_end(void);

void kfuzz_netlink_begin(void);
void kfuzz_netlink_do(enum kfuzz_op op);
void kfuzz_netlink_end(void);
/** kfuzz_netlink_drain() - what was left for a helper is of no use to the next input's */
void kfuzz_netlink_drain(void);
/** kfuzz_server() - an attribute of the server, 0 when there is none */
u64 kfuzz_server(int attr);
/** kfuzz_handles() - how many handles are held or wait in this namespace */
int kfuzz_handles(void);
void kfuzz_server_stop(void);

/** kfuzz_message() - what the input wants to be sent as this command, until the next */
struct genlmsghdr;
struct nlmsghdr *kfuzz_message(const struct genlmsghdr *genl);

void kfuzz_liar_begin(void);
void kfuzz_liar_do(void);
void kfuzz_liar_end(void);

/** kfuzz_put() - bftm_wire_put(), also of a type that is none: with the form of TRY */
void kfuzz_put(const struct bftm_msg *m, struct bftm_wire *ret);

/** kfuzz_udp() - a socket bound to @port, connected to the server or to nobody */
int kfuzz_udp(u16 port, bool v4, bool to_server);

void kfuzz_datagram_begin(void);
void kfuzz_datagram_do(enum kfuzz_op op);
void kfuzz_datagram_end(void);

/** struct kfuzz_body - of an operation or a state, that datagrams and journal tell of */
struct kfuzz_body {
	u64 version;
	u32 len;
	u8 digest[32];
	u8 data[4096];
};

#define KFUZZ_BODIES 5

/** kfuzz_body() - the @n-th of them; 0 and 1 are operations, 4 takes several datagrams */
const struct kfuzz_body *kfuzz_body(u8 n);

/** kfuzz_pair() - the two keys of a client and the server */
struct bftm_pair;
void kfuzz_pair(u32 client, struct bftm_pair *ret);

/** kfuzz_cover_open() - of this process: begin; false without KCOV */
bool kfuzz_cover_open(void);
/** kfuzz_cover_thread() - what this thread does is seen as well */
void kfuzz_cover_thread(void);
/** kfuzz_cover_begin(), _end() - around an operation */
void kfuzz_cover_begin(bool remote);
void kfuzz_cover_end(void);
/** kfuzz_result() - what an operation returned is something reached, too */
void kfuzz_result(u32 what, int error);
/** kfuzz_cover_keep() - after an input: what is new of it is written down */
void kfuzz_cover_keep(void);
/** kfuzz_cover_report() - how much was reached */
void kfuzz_cover_report(void);

/* libFuzzer calls it, and nothing declares it. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

#endif /* BFTM_KFUZZ_H */
