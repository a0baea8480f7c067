// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of Ethernet with a request for a server, right ones and odd ones:
 *
 *	frames DEVICE MAC REMOTE LOCAL CREDENTIALS CASE...	each must fare as its row in "cases" says
 *	frames DEVICE MAC REMOTE LOCAL CREDENTIALS spoilt N	N with random bits wrong; none is answered
 *	frames DEVICE MAC REMOTE LOCAL CREDENTIALS load		right ones, until SIGTERM
 *
 * REMOTE is server 1's address, LOCAL ours, both of one family; MAC is that of its device.
 * They come from port BFTMUTEX_PORT. Of each case it prints "CASE" and whether it was answered, "yes" or "no".
 */
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <sys/ioctl.h>

#include "selftests/lib/datagram.h"

#define ROOM	2048

/* A frame is odd in one way. */
enum odd {
	NOTHING, OPTIONS, TTL, EVIL, NO_SUM, BAD_SUM, BAD_IP_SUM, PADDED, TO_ALL, FROM_ALL, TO_OTHER, FROM_MANY,
	FROM_SERVER, PORT_0, LONGER, FRAGMENT
};

static const struct {
	const char *name;
	enum odd odd;
} cases[] = {
	{ "plain", NOTHING }, { "options", OPTIONS }, { "ttl", TTL }, { "evil", EVIL }, { "no-sum", NO_SUM },
	{ "bad-sum", BAD_SUM }, { "bad-ip-sum", BAD_IP_SUM }, { "padded", PADDED }, { "to-all", TO_ALL },
	{ "from-all", FROM_ALL }, { "to-other", TO_OTHER }, { "from-many", FROM_MANY },
	{ "from-server", FROM_SERVER }, { "port-0", PORT_0 }, { "longer", LONGER }, { "fragment", FRAGMENT },
};

/* The way: our device and both ends. */
static struct {
	int fd;
	u8 mac[ETH_ALEN], server_mac[ETH_ALEN];
	bool is6;
	u16 port;
	struct in6_addr server, own;	/* an IPv4 address is in the first bytes */
} way;

static u32 add_up(const void *data, size_t len, u32 sum)
{
	const u8 *byte = data;
	size_t i;

	for (i = 0; i + 1 < len; i += 2)
		sum += (u32)(byte[i] << 8 | byte[i + 1]);
	if (len & 1)
		sum += (u32)(byte[len - 1] << 8);
	return sum;
}

static u16 folded(u32 sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((u16)~sum);
}

static u16 udp_sum(const void *from, const void *to, size_t address_len, const struct udphdr *uh, size_t len)
{
	u32 sum = (u32)len + IPPROTO_UDP;

	sum = add_up(from, address_len, sum);
	sum = add_up(to, address_len, sum);
	return folded(add_up(uh, len, sum));
}

/* Return: the length of the header. */
static size_t put_ip4(u8 *at, size_t len, const struct in6_addr *from, enum odd odd)
{
	struct iphdr *ip = (void *)at;
	size_t head = sizeof(*ip) + (odd == OPTIONS ? 4 : 0);

	*ip = (struct iphdr){
		.version = 4, .ihl = (u8)(head / 4) & 0xf, .tot_len = htons((u16)(head + len)),
		.frag_off = htons(odd == EVIL ? 0x8000 : odd == FRAGMENT ? IP_MF : IP_DF),
		.ttl = odd == TTL ? 0 : 64, .protocol = IPPROTO_UDP,
	};
	memcpy(&ip->saddr, from, sizeof(ip->saddr));
	memcpy(&ip->daddr, &way.server, sizeof(ip->daddr));
	memset(at + sizeof(*ip), IPOPT_NOP, head - sizeof(*ip));
	ip->check = folded(add_up(ip, head, 0)) ^ (odd == BAD_IP_SUM);
	return head;
}

static size_t put_ip6(u8 *at, size_t len, const struct in6_addr *from, enum odd odd)
{
	static const u8 options[8] = { IPPROTO_UDP, 0, IP6OPT_PADN, 4 };
	const size_t more = odd == OPTIONS ? sizeof(options) : 0;
	struct ip6_hdr *ip = (void *)at;

	*ip = (struct ip6_hdr){ .ip6_src = *from, .ip6_dst = way.server };
	ip->ip6_vfc = 6 << 4;
	ip->ip6_plen = htons((u16)(len + more));
	ip->ip6_nxt = more ? IPPROTO_DSTOPTS : IPPROTO_UDP;
	ip->ip6_hlim = odd == TTL ? 0 : 64;
	memcpy(at + sizeof(*ip), options, more);
	return sizeof(*ip) + more;
}

static struct in6_addr source(enum odd odd)
{
	struct in6_addr from = odd == FROM_SERVER ? way.server : way.own;

	if (odd == FROM_MANY)
		from.s6_addr[way.is6 ? 0 : 3] = 0xff;	/* the network's broadcast, multicast */
	return from;
}

/* Return: the length of the frame. */
static size_t put_frame(u8 *frame, const struct bftm_wire *wire, enum odd odd)
{
	const size_t payload = wire->len + (odd == LONGER ? 8 : 0);
	const size_t len = sizeof(struct udphdr) + payload;
	const struct in6_addr from = source(odd);
	struct ethhdr *eth = (void *)frame;
	struct udphdr *uh;
	size_t head;

	memset(frame, 0, ROOM);
	memcpy(eth->h_dest, way.server_mac, ETH_ALEN);
	memcpy(eth->h_source, way.mac, ETH_ALEN);
	if (odd == TO_ALL)
		memset(eth->h_dest, 0xff, ETH_ALEN);
	else if (odd == TO_OTHER)
		eth->h_dest[5] ^= 1;
	else if (odd == FROM_ALL)
		memset(eth->h_source, 0xff, ETH_ALEN);
	eth->h_proto = htons(way.is6 ? ETH_P_IPV6 : ETH_P_IP);
	head = ETH_HLEN + (way.is6 ? put_ip6 : put_ip4)(frame + ETH_HLEN, len, &from, odd);
	uh = (void *)(frame + head);
	uh->source = htons(odd == PORT_0 ? 0 : way.port);
	uh->dest = htons(BFTM_PORT_DEFAULT);
	uh->len = htons((u16)len);
	memcpy(uh + 1, wire->data, wire->len);
	if (odd != NO_SUM) {
		uh->check = udp_sum(&from, &way.server, way.is6 ? 16 : 4, uh, len);
		uh->check ^= odd == BAD_SUM;
	}
	return head + len + (odd == PADDED ? 7 : 0);
}

static void send_frame(const u8 *frame, size_t len)
{
	ssize_t sent;

	while ((sent = send(way.fd, frame, len, 0)) < 0 && errno == ENOBUFS)
		usleep(1000);	/* as long as the link is down */
	check(sent == (ssize_t)len, "a frame of %zu bytes: %s", len, strerror(errno));
}

/* Of an answer: exchanged addresses, right checksums, no more bytes than were asked with. */
static void check_answer(const u8 *frame, size_t len, size_t asked)
{
	const struct ethhdr *eth = (const void *)frame;
	const struct iphdr *ip = (const void *)(eth + 1);
	const struct ip6_hdr *ip6 = (const void *)(eth + 1);
	const size_t head = ETH_HLEN + (way.is6 ? sizeof(*ip6) : sizeof(*ip));
	struct udphdr uh;

	memcpy(&uh, frame + head, sizeof(uh));
	check(len <= asked, "%zu bytes are answered by %zu", asked, len);
	check(!memcmp(eth->h_dest, way.mac, ETH_ALEN), "an answer to another MAC");
	check(!memcmp(eth->h_source, way.server_mac, ETH_ALEN), "an answer of another MAC");
	check(ntohs(uh.len) == len - head, "UDP's length %u in %zu bytes", ntohs(uh.len), len);
	if (way.is6) {
		check(ip6->ip6_hlim == 64, "hop limit %u", ip6->ip6_hlim);
		check(ntohs(ip6->ip6_plen) == len - head, "IPv6's length");
	} else {
		check(!folded(add_up(ip, sizeof(*ip), 0)), "IP's checksum");
		check(ip->ttl == 64 && ip->tos == 0, "TTL %u, TOS %u", ip->ttl, ip->tos);
		check(ntohs(ip->tot_len) == len - ETH_HLEN, "IP's length");
	}
}

/* The next frame of the server's port to ours. Return: its length, 0 when none comes in time. */
static size_t hear_frame(u8 *frame, int patience_ms)
{
	struct pollfd fd = { .fd = way.fd, .events = POLLIN };
	const struct ethhdr *eth = (const void *)frame;
	const struct iphdr *ip = (const void *)(eth + 1);
	const struct ip6_hdr *ip6 = (const void *)(eth + 1);
	const size_t head = ETH_HLEN + (way.is6 ? sizeof(*ip6) : sizeof(*ip));
	struct udphdr uh;
	ssize_t len;

	while (poll(&fd, 1, patience_ms) > 0) {
		len = recv(way.fd, frame, ROOM, 0);
		if (len < (ssize_t)(head + sizeof(uh)) ||
		    eth->h_proto != htons(way.is6 ? ETH_P_IPV6 : ETH_P_IP) ||
		    (way.is6 ? ip6->ip6_nxt : ip->protocol) != IPPROTO_UDP)
			continue;
		memcpy(&uh, frame + head, sizeof(uh));
		if (uh.source == htons(BFTM_PORT_DEFAULT) && uh.dest == htons(way.port))
			return (size_t)len;
	}
	return 0;
}

/* Is the answer in @frame, of @len bytes, the one to @seq? */
static bool is_answer(struct peer *p, const u8 *frame, size_t len, u64 seq)
{
	const size_t head = ETH_HLEN + sizeof(struct udphdr) +
			    (way.is6 ? sizeof(struct ip6_hdr) : sizeof(struct iphdr));
	struct bftm_msg m;

	check(bftm_mac_verify_bytes(p->reply, frame + head, len - head), "a reply with a wrong tag");
	check(!bftm_wire_get(frame + head, len - head, &m), "a reply with a wrong form");
	return m.seq == seq;
}

/* A right HELLO comes behind: when that is answered, nothing else will be. */
static bool answered(struct peer *p, enum odd odd)
{
	struct bftm_msg m = { .type = BFTM_MSG_HELLO }, last = m;
	u8 frame[ROOM], answer[ROOM];
	struct bftm_wire wire;
	size_t asked, len;
	bool found = false;

	prepare(p, &m, &wire);
	asked = put_frame(frame, &wire, odd);
	send_frame(frame, asked);
	prepare(p, &last, &wire);
	send_frame(frame, put_frame(frame, &wire, NOTHING));
	for (;;) {
		len = hear_frame(answer, PATIENCE_MS);
		if (!check(len != 0, "no answer, not even to a right HELLO"))
			return false;
		check_answer(answer, len, asked);
		if (is_answer(p, answer, len, last.seq))
			return found;
		found |= is_answer(p, answer, len, m.seq);
	}
}

/* Bits behind the Ethernet header; the tag or a checksum must find them. */
static void spoil(struct peer *p, unsigned long count)
{
	u8 frame[ROOM], answer[ROOM];
	struct bftm_wire wire;
	unsigned int bits, at;
	size_t len;

	for (; count; count--) {
		struct bftm_msg m = { .type = BFTM_MSG_HELLO };

		prepare(p, &m, &wire);
		len = put_frame(frame, &wire, NOTHING);
		for (bits = 1 + (unsigned int)rand() % 3; bits; bits--) {
			at = ETH_HLEN + (unsigned int)rand() % (unsigned int)(len - ETH_HLEN);
			frame[at] ^= (u8)(1 << rand() % 8);
		}
		if (rand() % 4 == 0)
			len = ETH_HLEN + (size_t)rand() % (len - ETH_HLEN);
		send_frame(frame, len);
	}
	while ((len = hear_frame(answer, 0)))
		check_answer(answer, len, ROOM);
	check(answered(p, NOTHING), "no answer after spoilt frames");
}

static void load(struct peer *p)
{
	struct bftm_wire wire;
	u8 frame[ROOM];

	for (;;) {
		struct bftm_msg m = { .type = BFTM_MSG_HELLO };

		prepare(p, &m, &wire);
		/* The device may be gone or down. */
		(void)!send(way.fd, frame, put_frame(frame, &wire, NOTHING), 0);
		hear_frame(frame, 1);
	}
}

static bool read_mac(const char *text, u8 *ret)
{
	return sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &ret[0], &ret[1], &ret[2], &ret[3], &ret[4],
		      &ret[5]) == ETH_ALEN;
}

/* Only datagrams to our port: answers to others, of which there are many under load, would fill the socket. */
static int hear_own(void)
{
	const unsigned int head = ETH_HLEN + (way.is6 ? sizeof(struct ip6_hdr) : sizeof(struct iphdr));
	struct sock_filter own[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, head + offsetof(struct udphdr, dest)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, way.port, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, ROOM),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog program = { .len = sizeof(own) / sizeof(own[0]), .filter = own };

	return setsockopt(way.fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static void open_way(char **argv)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	struct ifreq ifr = {};
	int one = 1;

	way.is6 = strchr(argv[3], ':');
	if (!read_mac(argv[2], way.server_mac) ||
	    inet_pton(way.is6 ? AF_INET6 : AF_INET, argv[3], &way.server) != 1 ||
	    inet_pton(way.is6 ? AF_INET6 : AF_INET, argv[4], &way.own) != 1)
		exit(EX_USAGE);
	way.fd = socket(AF_PACKET, SOCK_RAW, 0);
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", argv[1]);
	at.sll_ifindex = (int)if_nametoindex(argv[1]);
	/* A socket that sees the frames that are sent would get clones of them. */
	if (way.fd < 0 || hear_own() < 0 ||
	    setsockopt(way.fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) < 0 ||
	    bind(way.fd, (struct sockaddr *)&at, sizeof(at)) < 0 || ioctl(way.fd, SIOCGIFHWADDR, &ifr) < 0) {
		perror(argv[1]);
		exit(EX_OSERR);
	}
	memcpy(way.mac, ifr.ifr_hwaddr.sa_data, ETH_ALEN);
}

static enum odd find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(cases[i].name, name))
			return cases[i].odd;
	fprintf(stderr, "frames: '%s': no such case\n", name);
	exit(EX_USAGE);
}

int main(int argc, char **argv)
{
	const char *seed = getenv("BFTMUTEX_SEED"), *port = getenv("BFTMUTEX_PORT");
	struct peer p;
	int i;

	if (argc < 7 || !port) {
		fputs("usage: frames DEVICE MAC REMOTE LOCAL CREDENTIALS CASE...\n", stderr);
		return EX_USAGE;
	}
	srand(seed ? (unsigned int)strtoul(seed, NULL, 10) : 1);
	way.port = (u16)atoi(port);
	open_way(argv);
	/* Its socket is only there so that answers are not refused by ICMP. */
	open_peer(&p, 1, argv[3], argv[5]);
	if (!strcmp(argv[6], "load"))
		load(&p);
	if (!strcmp(argv[6], "spoilt") && argc == 8)
		spoil(&p, strtoul(argv[7], NULL, 10));
	else
		for (i = 6; i < argc; i++)
			printf("%s %s\n", argv[i], answered(&p, find(argv[i])) ? "yes" : "no");
	return failures != 0;
}
