// SPDX-License-Identifier: GPL-2.0
/*
 * A packet capture: every datagram is cloned for it, and it reads late. It must read the datagrams
 * that were sent: a server that wrote its answer over a request would show as a datagram with a
 * wrong tag.
 */
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include "core/ordering/wire.h"
#include "selftests/lib/datagram.h"
#include "races.h"

#define CLIENTS	8

static struct bftm_mac *mac[CLIENTS][2];

static void load_keys(const struct races *r)
{
	struct bftm_master master;
	struct bftm_pair pair;
	char path[128];
	u32 i;

	snprintf(path, sizeof(path), "%s/server-%d.key", r->dir, RACES_SERVER);
	if (bftm_master_load(path, &master) < 0)
		exit(EX_NOINPUT);
	for (i = 0; i < CLIENTS; i++) {
		if (bftm_derive(&master, RACES_CLIENT + i, &pair) < 0)
			exit(EX_SOFTWARE);
		mac[i][0] = bftm_mac_new(pair.request);
		mac[i][1] = bftm_mac_new(pair.reply);
	}
}

/* The payload of a datagram from or to the server, and whether it is an answer. */
static u8 *payload(u8 *frame, size_t len, size_t *ret_len, bool *ret_answer)
{
	struct iphdr *ip = (struct iphdr *)(frame + ETH_HLEN);
	struct udphdr *udp;
	size_t head = ETH_HLEN + sizeof(*ip) + sizeof(*udp);

	if (len < head || ip->version != 4 || ip->ihl != 5 || ip->protocol != IPPROTO_UDP)
		return NULL;
	udp = (struct udphdr *)(ip + 1);
	*ret_answer = udp->source == htons(BFTM_PORT_DEFAULT);
	*ret_len = ntohs(udp->len) - sizeof(*udp);
	if (*ret_len > len - head || (!*ret_answer && udp->dest != htons(BFTM_PORT_DEFAULT)))
		return NULL;
	return frame + head;
}

/* Nothing is known of what strangers send, or of what is in pieces. */
static bool is_right(u8 *data, size_t len, bool answer)
{
	struct bftm_wire_head head;
	u32 client;

	if (len < BFTM_VERSION_LEN || len > BFTM_DATAGRAM_MAX)
		return true;
	memcpy(&head, data, sizeof(head));
	client = le32_to_cpu(head.client) - RACES_CLIENT;
	if (client >= CLIENTS)
		return true;
	if (!!(head.type & BFTM_MSG_REPLY) != answer)
		return false;
	return bftm_mac_verify_bytes(mac[client][answer], data, len);
}

void races_capture(struct races *r)
{
	static union {
		struct {
			u8 pad[2];	/* so that the headers are aligned */
			u8 frame[2048];
		};
		u32 align;
	} buf;
	int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)), room = 4 << 20;
	unsigned int turn;
	bool answer;
	size_t len;
	ssize_t got;
	u8 *data;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) < 0)
		exit(EX_OSERR);
	load_keys(r);
	for (turn = 0;; turn++) {
		got = recv(fd, buf.frame, sizeof(buf.frame), MSG_TRUNC);
		if (got < 0 || (size_t)got > sizeof(buf.frame))
			continue;
		data = payload(buf.frame, (size_t)got, &len, &answer);
		if (!data)
			continue;
		races_add(&r->shared->captured, 1);
		if (!is_right(data, len, answer)) {
			races_failed("captured: %s of %zu bytes with a wrong tag",
				     answer ? "an answer" : "a request", len);
			races_add(&r->shared->wrong, 1);
		}
		if (turn % 64 == 0)
			usleep(2000);	/* meanwhile what comes is held as clones */
	}
}
