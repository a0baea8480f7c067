// SPDX-License-Identifier: GPL-2.0
/* Sends frames directly to the device at the other end of the server's link. */
#include <err.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>

#include "floods.h"

#define BATCH	32
#define FROM	"10.73.0.102"
#define PORT	9999

struct frame {
	u8 pad[2];	/* so that the headers are aligned */
	struct ethhdr eth;
	struct iphdr ip;
	struct udphdr udp;
	u8 data[PAYLOAD_MAX];
} __attribute__((packed, aligned(4)));
#define FRAME_HEAD	(offsetof(struct frame, data) - offsetof(struct frame, eth))

void link_open(struct link *ret, const char *device, const char *mac, const char *to)
{
	int one = 1;
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = 0 };

	/* Protocol 0: the socket receives nothing. */
	ret->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	ret->ifindex = (int)if_nametoindex(device);
	ret->port = PORT;
	at.sll_ifindex = ret->ifindex;
	if (ret->fd < 0 || !ret->ifindex || bind(ret->fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    setsockopt(ret->fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one)) < 0)
		err(EX_OSERR, "%s", device);
	if (sscanf(mac, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &ret->mac[0], &ret->mac[1], &ret->mac[2],
		   &ret->mac[3], &ret->mac[4], &ret->mac[5]) != 6)
		errx(EX_USAGE, "MAC '%s': must be six bytes in hexadecimal, with colons", mac);
	if (inet_pton(AF_INET, to, &ret->to) != 1)
		errx(EX_USAGE, "ADDRESS '%s': must be IPv4", to);
	inet_pton(AF_INET, FROM, &ret->from);
}

static u16 ip_checksum(const struct iphdr *ip)
{
	const u16 *word = (const u16 *)ip;
	u32 sum = 0, i;

	for (i = 0; i < sizeof(*ip) / 2; i++)
		sum += word[i];
	sum = (sum >> 16) + (sum & 0xffff);
	return (u16)~(sum + (sum >> 16));
}

static size_t head(const struct link *l, struct frame *f, size_t len)
{
	memcpy(f->eth.h_dest, l->mac, 6);
	memcpy(f->eth.h_source, "\x02\0\0\0\0\1", 6);
	f->eth.h_proto = htons(ETH_P_IP);
	f->ip = (struct iphdr){
		.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP,
		.tot_len = htons((u16)(sizeof(f->ip) + sizeof(f->udp) + len)),
		.saddr = l->from, .daddr = l->to,
	};
	f->ip.check = ip_checksum(&f->ip);
	/* No checksum, as IPv4 allows. */
	f->udp = (struct udphdr){
		.source = htons(l->port), .dest = htons(BFTM_PORT_DEFAULT),
		.len = htons((u16)(sizeof(f->udp) + len)),
	};
	return FRAME_HEAD + len;
}

void link_send(struct link *l, enum flood_kind kind, const struct samples *from, u64 count)
{
	static struct frame frame[BATCH];
	struct mmsghdr message[BATCH] = {};
	struct iovec part[BATCH];
	unsigned int n, i;
	int done;

	while (count) {
		n = count < BATCH ? (unsigned int)count : BATCH;
		for (i = 0; i < n; i++) {
			size_t len = flood_payload(kind, from, frame[i].data);

			part[i].iov_base = &frame[i].eth;
			part[i].iov_len = head(l, &frame[i], len);
			message[i].msg_hdr = (struct msghdr){ .msg_iov = &part[i], .msg_iovlen = 1 };
		}
		for (i = 0; i < n; i += (unsigned int)done) {
			done = sendmmsg(l->fd, message + i, n - i, 0);
			if (done <= 0)
				err(EX_OSERR, "sendmmsg");
		}
		count -= n;
	}
}

static enum flood_kind kind_of(const char *text)
{
	unsigned int i;

	for (i = 0; i <= FLOOD_KINDS; i++)
		if (!strcmp(text, flood_names[i]))
			return (enum flood_kind)i;
	errx(EX_USAGE, "KIND '%s': must be random, truncated, bit, key, replay or client", text);
}

int flood_send(int argc, char **argv)
{
	static struct samples samples;
	struct link l;

	(void)argc;
	flood_read(argv[0], &samples);
	link_open(&l, argv[3], argv[4], argv[5]);
	link_send(&l, kind_of(argv[1]), &samples, flood_number("COUNT", argv[2], 1, 1000000000));
	return 0;
}

/* A datagram of the client's own. */
static void send_new(struct link *l, struct peer *p)
{
	static struct frame f;
	size_t len = head(l, &f, flood_new(p, f.data));

	if (send(l->fd, &f.eth, len, 0) < 0)
		err(EX_OSERR, "send");
}

int flood_pace(int argc, char **argv)
{
	enum flood_kind kind = kind_of(argv[0]);
	u64 rate = flood_number("RATE", argv[1], 1000, 1000000);
	int n = (argc - 2) / 5, i;
	struct samples *samples = calloc((size_t)n, sizeof(*samples));
	struct peer *peer = calloc((size_t)n, sizeof(*peer));
	struct link *l = calloc((size_t)n, sizeof(*l));
	struct timespec next;
	u64 turn = 0, each;

	for (i = 0; i < n; i++) {
		char **arg = argv + 2 + 5 * i;
		u16 server = (u16)flood_number("SERVER", arg[1], 1, 65535);

		link_open(&l[i], arg[2], arg[3], arg[4]);
		if (kind != FLOOD_CLIENT) {
			flood_read(arg[0], &samples[i]);
			continue;
		}
		open_peer(&peer[i], server, arg[4], arg[0]);
		hello(&peer[i]);
		/* Its answers go to an address where no program listens. */
		close(peer[i].fd);
	}
	clock_gettime(CLOCK_MONOTONIC, &next);
	puts("ready");
	fflush(stdout);
	for (;;) {
		/* The frames of one millisecond, to each server in turn. */
		for (each = rate / 1000; each; each--, turn++)
			if (kind == FLOOD_CLIENT)
				send_new(&l[turn % (u64)n], &peer[turn % (u64)n]);
			else
				link_send(&l[turn % (u64)n], kind, &samples[turn % (u64)n], 1);
		next.tv_nsec += 1000000;
		next.tv_sec += next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
}
