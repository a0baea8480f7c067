// SPDX-License-Identifier: GPL-2.0
/*
 * bftmutexctl trace record: what this host sends, receives, wins and loses, for bftmutex-trace.
 *
 * Packets carry the kernel's time of day. A lock event carries none, and is read a little later than
 * it happened. So entries wait for a moment and leave in order of time; and a lock that ended has
 * ended before its first RELEASE, which only then may be sent.
 */
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <netlink/genl/ctrl.h>

#include "core/wire.h"
#include "ctl/ctl.h"
#include "ctl/record.h"
#include "loop/clock.h"

#define HELD_BACK_NS	(200 * BFTM_NS_PER_MS)
#define RECEIVE_ROOM	(16 << 20)

static u64 time_of_day(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (u64)now.tv_sec * BFTM_NS_PER_SEC + (u64)now.tv_nsec;
}

/* The datagram of ours in a packet of either family, without options; NULL if it is none. */
static const u8 *payload_of(const u8 *packet, size_t len, u16 port, size_t *ret_len)
{
	const struct ip6_hdr *ip6 = (const void *)packet;
	const struct iphdr *ip = (const void *)packet;
	size_t head = sizeof(*ip);
	const struct udphdr *udp;

	if (len < sizeof(*ip))
		return NULL;
	if (ip->version == 6)
		head = sizeof(*ip6);
	if (len < head + sizeof(*udp) ||
	    (ip->version == 6 ? ip6->ip6_nxt : ip->protocol) != IPPROTO_UDP ||
	    (ip->version == 4 && ip->ihl != 5))
		return NULL;
	udp = (const void *)(packet + head);
	if (be16toh(udp->source) != port && be16toh(udp->dest) != port)
		return NULL;
	*ret_len = be16toh(udp->len) - sizeof(*udp);
	if (be16toh(udp->len) < sizeof(*udp) || *ret_len > len - head - sizeof(*udp))
		return NULL;
	return packet + head + sizeof(*udp);
}

static u64 stamp_of(struct msghdr *msg, u64 otherwise)
{
	struct cmsghdr *c;
	struct timespec at;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS) {
			memcpy(&at, CMSG_DATA(c), sizeof(at));
			return (u64)at.tv_sec * BFTM_NS_PER_SEC + (u64)at.tv_nsec;
		}
	return otherwise;
}

static bool read_packet(struct record *r)
{
	u8 packet[2048], control[256];
	struct sockaddr_ll from;
	struct iovec part = { .iov_base = packet, .iov_len = sizeof(packet) };
	struct msghdr head = {
		.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &part, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	ssize_t len = recvmsg(r->packets, &head, MSG_DONTWAIT);
	struct bftm_msg msg;
	const u8 *payload;
	size_t bytes;

	if (len < 0)
		return false;
	payload = payload_of(packet, (size_t)len, r->port, &bytes);
	if (payload && !bftm_wire_get(payload, bytes, &msg) && msg.proto != BFTM_PROTO_ORDER &&
	    (from.sll_pkttype == PACKET_OUTGOING || from.sll_pkttype == PACKET_HOST))
		record_datagram(r, from.sll_pkttype == PACKET_OUTGOING, &msg,
				stamp_of(&head, time_of_day()));
	return true;
}

static u64 attr_number(struct nlattr *attr)
{
	return attr ? nla_get_u64(attr) : 0;
}

static int on_event(struct nl_msg *msg, void *arg)
{
	struct nlattr *attr[BFTMUTEX_A_HANDLE_MAX + 1];
	struct record *r = arg;
	struct record_lock lock = {};
	struct genlmsghdr *head;

	if (!genlmsg_valid_hdr(nlmsg_hdr(msg), 0) ||
	    genlmsg_parse(nlmsg_hdr(msg), 0, attr, BFTMUTEX_A_HANDLE_MAX, NULL) < 0)
		return NL_SKIP;
	head = genlmsg_hdr(nlmsg_hdr(msg));
	if ((head->cmd != BFTMUTEX_CMD_LOCK_EVENT && head->cmd != BFTMUTEX_CMD_RENEW_EVENT) ||
	    !attr[BFTMUTEX_A_HANDLE_STATE] || !attr[BFTMUTEX_A_HANDLE_NAME])
		return NL_SKIP;
	lock.id = attr_number(attr[BFTMUTEX_A_HANDLE_ID]);
	lock.attempt = attr_number(attr[BFTMUTEX_A_HANDLE_ATTEMPT]);
	lock.deadline_ns = attr_number(attr[BFTMUTEX_A_HANDLE_DEADLINE_NS]);
	lock.state = nla_get_u32(attr[BFTMUTEX_A_HANDLE_STATE]);
	lock.renewed = head->cmd == BFTMUTEX_CMD_RENEW_EVENT;
	lock.mode = attr[BFTMUTEX_A_HANDLE_MODE] ? nla_get_u32(attr[BFTMUTEX_A_HANDLE_MODE]) : 0;
	lock.name = nla_data(attr[BFTMUTEX_A_HANDLE_NAME]);
	lock.name_len = (size_t)nla_len(attr[BFTMUTEX_A_HANDLE_NAME]);
	record_event(r, &lock, time_of_day());
	return NL_OK;
}

/* Opens the sockets. Return: 0 or an exit code. */
static int open_packets(struct record *r)
{
	int on = 1, room = RECEIVE_ROOM;

	r->packets = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htobe16(ETH_P_ALL));
	if (r->packets < 0)
		return ctl_fail(errno == EPERM ? EX_NOPERM : EX_OSERR,
				"packets cannot be recorded: %s%s", strerror(errno),
				errno == EPERM ? "; CAP_NET_RAW is needed" : "");
	if (setsockopt(r->packets, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)))
		return ctl_fail(EX_OSERR, "the kernel gives packets no time: %s", strerror(errno));
	/* Without the right to more room that of the system has to do. */
	if (setsockopt(r->packets, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)))
		setsockopt(r->packets, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	return 0;
}

static int join_events(struct bftm_nl *nl, const char *name)
{
	int group = genl_ctrl_resolve_grp(nl->sock, BFTMUTEX_FAMILY_NAME, name);
	int r = bftm_nl_errno(group < 0 ? group : nl_socket_add_membership(nl->sock, group));

	if (r == -EPERM)
		return ctl_refused(nl, r, CTL_HANDLE);
	return r < 0 ? ctl_fail(EX_OSERR, "netlink: %s", strerror(-r)) : 0;
}

/* Packets that the kernel dropped because nobody read them in time. */
static int dropped(const struct record *r)
{
	struct tpacket_stats stats = {};
	socklen_t len = sizeof(stats);

	if (!getsockopt(r->packets, SOL_PACKET, PACKET_STATISTICS, &stats, &len) && stats.tp_drops)
		return ctl_fail(EX_IOERR, "%u packets are missing: they came faster than they could be read",
				stats.tp_drops);
	return 0;
}

static int loop(struct record *r, struct bftm_nl *nl, int signals)
{
	struct pollfd wait[] = {
		{ .fd = r->packets, .events = POLLIN },
		{ .fd = nl_socket_get_fd(nl->sock), .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
		{ .fd = STDOUT_FILENO },	/* its reader may go */
	};
	int err;

	nl_socket_disable_seq_check(nl->sock);
	nl_socket_set_nonblocking(nl->sock);
	nl_socket_modify_cb(nl->sock, NL_CB_VALID, NL_CB_CUSTOM, on_event, r);
	while (!ferror(stdout)) {
		poll(wait, sizeof(wait) / sizeof(*wait), 100);
		/* An event is judged by the datagrams before it: whose TRY it was, and its RELEASE. */
		while (read_packet(r))
			;
		do {
			err = bftm_nl_errno(nl_recvmsgs_default(nl->sock));
		} while (!err);
		if (err == -ENOBUFS)
			return ctl_fail(EX_IOERR, "lock events are missing: they came faster than they could be read");
		while (read_packet(r))
			;
		if (wait[2].revents) {
			record_flush(r, ~0ull);
			return dropped(r);
		}
		if (wait[3].revents & POLLERR)
			return ctl_fail(EX_IOERR, "the reader of the output has closed it");
		record_flush(r, time_of_day() - HELD_BACK_NS);
	}
	return EX_IOERR;
}

/** struct record_args - the command line */
struct record_args {
	u64 port;
	const char *host, *config;
};

static error_t record_parse(int key, char *arg, struct argp_state *state)
{
	struct record_args *args = state->input;

	switch (key) {
	case 'p':
		args->port = ctl_number(state, "--port", arg, 1, 65535);
		return 0;
	case 'H':
		if (!*arg || strlen(arg) > RECORD_HOST_LEN_MAX)
			argp_error(state, "--host '%s': must be 1 to %u bytes", arg, RECORD_HOST_LEN_MAX);
		args->host = arg;
		return 0;
	case 'c':
		args->config = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/*
 * Says what the clusters are like, so that a verdict needs no options. A host of servers may have no
 * configuration. One that is wrong is no reason to record nothing, unless the user names it.
 */
static int say_clusters(const struct record *r, const char *path)
{
	struct bftm_conf *conf;
	int err;

	if (!path && access(BFTM_CONF_PATH, F_OK) < 0)
		return 0;
	err = path ? bftm_conf_load(path, &conf) : bftm_conf_load_any(BFTM_CONF_PATH, &conf);
	if (err < 0)
		return path ? ctl_conf_failed(err) : 0;
	record_clusters(r, conf);
	bftm_conf_free(conf);
	return 0;
}

int ctl_trace_record(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "port", 'p', "PORT", 0, "UDP port of the servers (7373)", 0 },
		{ "host", 'H', "NAME", 0, "Name of this host in the trace (that of the system)", 0 },
		{ "config", 'c', "FILE", 0, "Configuration that says what the clusters are like ("
		  BFTM_CONF_PATH ", if that is there)", 0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = options,
		.parser = record_parse,
		.children = ctl_common,
		.doc = "Print what this host sends and receives about locks, and which locks it wins, "
		       "renews, releases and loses, as lines of JSON for bftmutex-trace(1), until SIGINT or "
		       "SIGTERM. Keys are not needed, and nothing is added to messages.",
	};
	struct record_args args = { .port = BFTM_PORT_DEFAULT };
	struct record record = {};
	char name[256] = "";
	struct bftm_nl nl;
	sigset_t set;
	int r, signals;

	ctl_parse(&argp, argc, argv, 0, &args);
	gethostname(name, sizeof(name) - 1);
	record.host = args.host ? args.host : name;
	record.port = (u16)args.port;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (signals < 0)
		return ctl_fail(EX_OSERR, "signals: %s", strerror(errno));
	r = open_packets(&record);
	if (!r)
		r = ctl_open(&nl);
	if (r)
		return r;
	r = join_events(&nl, BFTMUTEX_MCGRP_EVENTS);
	if (!r)
		r = join_events(&nl, BFTMUTEX_MCGRP_RENEWALS);
	if (!r)
		r = say_clusters(&record, args.config);
	if (!r)
		fputs("Recording; end with Ctrl-C.\n", stderr);
	if (!r)
		r = loop(&record, &nl, signals);
	bftm_nl_close(&nl);
	return r;
}
