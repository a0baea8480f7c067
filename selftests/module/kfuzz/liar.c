// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions that the helper lends the kernel (helper-lend): a socket, counters, keys. With these the
 * kernel asks a server by itself; the liar is a server whose answers have a right tag.
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "crypto/keys.h"
#include "kfuzz.h"

static int liar = -1;
static struct bftm_mac *liar_mac;
static struct bftm_msg asked;	/* by the kernel, last */
static struct sockaddr_in6 from;

/* The kernel has asked the liar: an answer, as the input wants it, or one more. */
void kfuzz_liar_do(void)
{
	socklen_t from_len = sizeof(from);
	u8 type = kfuzz_byte(), bits = kfuzz_byte();
	struct bftm_wire wire;
	struct bftm_msg m;
	ssize_t len;

	len = recvfrom(liar, wire.data, sizeof(wire.data), MSG_DONTWAIT, (void *)&from, &from_len);
	if (len > 0) {
		must(!bftm_wire_get(wire.data, (size_t)len, &asked));
		say("liar: asked %s\n", bftm_msg_name(asked.type));
	}
	if (!asked.type || !from.sin6_port)
		return;
	m = asked;
	m.type = type;
	if (bits & 1)
		m.seq = kfuzz_value();
	if (bits & 2)
		m.attempt = kfuzz_value();
	if (bits & 4)
		m.k = (u32)kfuzz_value();
	if (bits & 8)
		m.lease_ns = kfuzz_value();
	if (bits & 16)
		m.position = (u32)kfuzz_value();
	if (bits & 32)
		m.server_epoch = kfuzz_value();
	if (bits & 64)
		m.server = (u16)kfuzz_value();
	if (bits & 128)
		m.client = (u32)kfuzz_value();
	m.gno = kfuzz_value();
	m.token = kfuzz_value();
	m.mode = BFTM_MODE_EX;
	m.arg = type == BFTM_MSG_REFUSED || type == BFTM_MSG_VERSION ? (u8)m.gno : 0;
	kfuzz_put(&m, &wire);
	if (bftm_mac_sign(liar_mac, &wire))
		abort();
	say("liar: %s\n", bftm_msg_name(m.type));
	sendto(liar, wire.data, wire.len, 0, (void *)&from, sizeof(from));
}

/* A socket that is lent, and counters; each input has new ones. */
static void renew_loan(void)
{
	struct {
		u64 seq, attempt, won, lost;
	} *counters = kfuzz.counters;
	struct sockaddr_in any = { .sin_family = AF_INET };

	if (!counters) {
		counters = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				-1, 0);
		if (counters == MAP_FAILED)
			abort();
		kfuzz.counters = counters;
		kfuzz.socket = -1;
		kfuzz.socket_v4 = -1;
	}
	counters->seq = 5ull << 32;
	counters->attempt = (5ull << 32) + 10;
	if (kfuzz.socket >= 0)
		close(kfuzz.socket);
	kfuzz.socket = kfuzz_udp(0, false, false);
	if (kfuzz.socket_v4 >= 0)
		close(kfuzz.socket_v4);
	kfuzz.socket_v4 = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (kfuzz.socket_v4 < 0 || bind(kfuzz.socket_v4, (void *)&any, sizeof(any)))
		abort();
}

void kfuzz_liar_begin(void)
{
	struct bftm_pair pair;

	if (liar >= 0)
		close(liar);
	liar = kfuzz_udp(KFUZZ_LIAR_PORT, false, false);
	if (!liar_mac) {
		kfuzz_pair(KFUZZ_LENDER, &pair);
		liar_mac = bftm_mac_new(pair.reply);
	}
	renew_loan();
}

void kfuzz_liar_end(void)
{
	struct bftm_wire wire;

	while (recv(liar, wire.data, sizeof(wire.data), MSG_DONTWAIT) >= 0)
		;
	asked.type = BFTM_MSG_NONE;
	renew_loan();
}
