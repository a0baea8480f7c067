// SPDX-License-Identifier: GPL-2.0
/*
 * The daemon's socket and a server that was restarted: STALE says where to send, and what the
 * new start grants, stamps or orders counts when CHALLENGE has said what it forgot.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cluster/cluster.h"
#include "cluster/evidence.h"
#include "cluster/health.h"
#include "cluster/lend.h"
#include "cluster/service.h"
#include "crypto/keys.h"
#include "kernel/upcall.h"
#include "files.h"

#define BEFORE	100	/* epochs of the server's starts */
#define AFTER	101

static struct bftm_cluster cl;
static int server;
static u32 answers, free_counted, ordered, again, restarts;

/* The rest of the daemon. */

struct bftm_clusters bftm_clusters = TAILQ_HEAD_INITIALIZER(bftm_clusters);

static void take(struct bftm_cluster *cluster, u32 u, const struct bftm_msg *msg)
{
	(void)cluster;
	(void)u;
	answers++;
	free_counted += msg->type == BFTM_MSG_FREE && msg->k;
}

static void take_object(struct bftm_cluster *cluster, u32 u, const struct bftm_order_msg *msg)
{
	(void)cluster;
	(void)u;
	(void)msg;
	ordered++;
}

static void ask_again(struct bftm_cluster *cluster, u32 u, const struct bftm_msg *msg)
{
	(void)cluster;
	(void)u;
	(void)msg;
	again++;
}

static void note_restart(struct bftm_cluster *cluster, u32 u)
{
	(void)cluster;
	(void)u;
	restarts++;
}

static void client(struct bftm_identity *id) { (void)id; }

static const struct bftm_cluster_service unit_service = {
	.begin = client, .forget = client, .answer = take, .order = take_object,
	.epoch = ask_again, .restarted = note_restart,
};

const struct bftm_cluster_service *const bftm_services[BFTM_SERVICES] = {
	&unit_service, &unit_service,
};

void bftm_upcall_look(void) { }
bool bftm_upcall_is_open(void) { return false; }
void bftm_lend(struct bftm_cluster *cluster) { (void)cluster; }
void bftm_lend_again(struct bftm_cluster *cluster) { (void)cluster; }

void bftm_upcall_suspect(const char *cluster, u16 who, const char *evidence, u64 count)
{
	fail_msg("%s %u %s %llu", cluster, who, evidence, (unsigned long long)count);
}

void bftm_health_report(struct bftm_cluster *cluster) { (void)cluster; }
void bftm_recover_wake(struct bftm_cluster *cluster, u64 now) { (void)cluster; (void)now; }

void bftm_recover_heard(struct bftm_cluster *cluster, u32 u, const struct bftm_msg *msg)
{
	(void)cluster;
	(void)u;
	(void)msg;
}

void bftm_recover_refused(struct bftm_cluster *cluster, u32 u, const struct bftm_msg *msg)
{
	bftm_recover_heard(cluster, u, msg);
}

static int begin(void **state)
{
	static const u8 key[16] = { 7 };
	struct bftm_conf_server conf = { .id = 3 };
	socklen_t len = sizeof(conf.addr);

	(void)state;
	memset(&cl, 0, sizeof(cl));
	answers = free_counted = ordered = again = restarts = 0;
	server = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	conf.addr = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	if (bind(server, (struct sockaddr *)&conf.addr, len) < 0 ||
	    getsockname(server, (struct sockaddr *)&conf.addr, &len) < 0)
		return -1;
	cl.conf.n = 1;
	cl.conf.id = 9;
	cl.conf.proto = BFTM_PROTO_BACKOFF;
	cl.conf.server[0] = conf;
	cl.cred.client = 50;
	cl.cfg.resend_ns = 60 * BFTM_NS_PER_SEC;	/* one HELLO is enough here */
	cl.peer[0] = (struct bftm_peer){
		.conf = &cl.conf.server[0], .known = { .epoch = BEFORE, .sent_epoch = BEFORE },
		.request_mac = bftm_mac_new(key), .reply_mac = bftm_mac_new(key),
	};
	return bftm_identity_get(unit_dir, 9, 50, &cl.identity) ?: bftm_cluster_open(&cl);
}

static int end(void **state)
{
	(void)state;
	bftm_cluster_close(&cl);
	close(server);
	bftm_mac_free(cl.peer[0].request_mac);
	bftm_mac_free(cl.peer[0].reply_mac);
	bftm_identity_put(cl.identity);
	return unlink(unit_path("cluster-9-client-50"));
}

/* The next message of the daemon, of any of these types. */
static struct bftm_msg hears(void)
{
	struct pollfd poll_for = { .fd = server, .events = POLLIN };
	u8 raw[BFTM_DATAGRAM_MAX];
	struct bftm_msg msg;
	ssize_t len;

	assert_int_equal(poll(&poll_for, 1, 10000), 1);
	len = recv(server, raw, sizeof(raw), 0);
	assert_int_equal(bftm_wire_get(raw, (size_t)len, &msg), BFTM_WIRE_OK);
	return msg;
}

static void sends(u8 *raw, size_t len)
{
	struct sockaddr_in6 to;
	socklen_t room = sizeof(to);
	struct pollfd poll_for = { .fd = cl.socket.fd, .events = POLLIN };

	assert_int_equal(getsockname(cl.socket.fd, (struct sockaddr *)&to, &room), 0);
	to.sin6_addr = (struct in6_addr)IN6ADDR_LOOPBACK_INIT;
	assert_int_equal(bftm_mac_sign_bytes(cl.peer[0].reply_mac, raw, len), 0);
	assert_int_equal(sendto(server, raw, len, 0, (struct sockaddr *)&to, room), len);
	assert_int_equal(poll(&poll_for, 1, 10000), 1);
	cl.socket.ready(&cl.socket);
}

/* The server answers @req, which it heard in its start @epoch. */
static void answers_with(struct bftm_msg req, u8 type, u64 epoch)
{
	u8 raw[BFTM_DATAGRAM_MAX];

	req.type = type;
	req.server_epoch = epoch;
	req.flags = 0;
	req.mode = type == BFTM_MSG_FREE ? BFTM_MODE_EX : BFTM_MODE_NL;
	req.arg = type == BFTM_MSG_FREE || type == BFTM_MSG_SACK ? bftm_mode_mask(BFTM_MODE_EX) : 0;
	sends(raw, bftm_wire_write(&req, raw));
}

static struct bftm_msg asks(u8 type)
{
	struct bftm_msg msg = {
		.type = type, .mode = BFTM_MODE_EX, .attempt = 77, .k = 1, .lease_ns = BFTM_NS_PER_SEC,
		.token = 5, .name_len = 1, .name = "x",
	};

	bftm_cluster_send(&cl, 1, &msg);
	return hears();
}

/* Until the daemon knows no more of it than its epoch. */
static void is_stale(void)
{
	struct bftm_msg msg = asks(BFTM_MSG_TRY);

	assert_int_equal(msg.server_epoch, BEFORE);
	answers_with(msg, BFTM_MSG_STALE, AFTER);
	assert_int_equal(again, 1);
	assert_int_equal(cl.peer[0].known.epoch, BEFORE);
	assert_int_equal(cl.peer[0].known.sent_epoch, AFTER);
}

static void challenge(struct bftm_msg hello)
{
	assert_int_equal(hello.type, BFTM_MSG_HELLO);
	answers_with(hello, BFTM_MSG_CHALLENGE, AFTER);
	assert_int_equal(cl.peer[0].known.epoch, AFTER);
	assert_int_equal(restarts, BFTM_SERVICES);
}

static void a_grant_counts_after_challenge(void **state)
{
	struct bftm_msg hello, try;

	(void)state;
	is_stale();
	hello = hears();
	try = asks(BFTM_MSG_TRY);
	assert_int_equal(try.server_epoch, AFTER);
	/* So that one that is over is given back, it is told as one that counts for nothing. */
	answers_with(try, BFTM_MSG_FREE, AFTER);
	assert_int_equal(answers, 1);
	assert_int_equal(free_counted, 0);
	challenge(hello);
	answers_with(asks(BFTM_MSG_TRY), BFTM_MSG_FREE, AFTER);
	assert_int_equal(free_counted, 1);
	/* Nor does a grant of before the restart, which it has forgotten. */
	answers_with(asks(BFTM_MSG_TRY), BFTM_MSG_FREE, BEFORE);
	assert_int_equal(free_counted, 1);
}

static void a_push_counts_after_challenge(void **state)
{
	struct bftm_msg hello, push = asks(BFTM_MSG_TRY);

	(void)state;
	push.seq = 0;
	is_stale();
	hello = hears();
	answers_with(push, BFTM_MSG_FREE, AFTER);
	assert_int_equal(free_counted, 0);
	challenge(hello);
	answers_with(push, BFTM_MSG_FREE, AFTER);
	assert_int_equal(free_counted, 1);
}

static void a_stamp_counts_after_challenge(void **state)
{
	struct bftm_msg hello;

	(void)state;
	is_stale();
	hello = hears();
	answers_with(asks(BFTM_MSG_STAMP), BFTM_MSG_SACK, AFTER);
	assert_int_equal(answers, 0);
	challenge(hello);
	answers_with(asks(BFTM_MSG_STAMP), BFTM_MSG_SACK, AFTER);
	assert_int_equal(answers, 1);
}

/* A refusal may come from any start of a server. */
static void a_refusal_counts_at_once(void **state)
{
	(void)state;
	is_stale();
	hears();
	answers_with(asks(BFTM_MSG_TRY), BFTM_MSG_LOCKED, AFTER);
	answers_with(asks(BFTM_MSG_TRY), BFTM_MSG_WAIT, AFTER);
	answers_with(asks(BFTM_MSG_STAMP), BFTM_MSG_SNACK, AFTER);
	assert_int_equal(answers, 3);
}

static void got_from(u64 epoch)
{
	struct bftm_order_msg msg = {
		.type = BFTM_ORDER_GET, .rank = { 1, 50, 1 }, .name_len = 1, .name = "x",
	};
	u8 raw[BFTM_DATAGRAM_MAX];

	bftm_cluster_send_order(&cl, 1, &msg);
	assert_true(recv(server, raw, sizeof(raw), 0) > 0);
	assert_int_equal(bftm_order_wire_get(raw, bftm_order_len(&msg), &msg), BFTM_WIRE_OK);
	msg.type = BFTM_ORDER_GOT;
	msg.server_epoch = epoch;
	sends(raw, bftm_order_wire_put(&msg, raw));
}

/* How long it was silent after its start, CHALLENGE says: its longest lease. */
static void an_order_counts_after_challenge(void **state)
{
	struct bftm_msg hello;

	(void)state;
	got_from(BEFORE);
	assert_int_equal(ordered, 1);
	is_stale();
	hello = hears();
	got_from(AFTER);
	assert_int_equal(ordered, 1);
	challenge(hello);
	got_from(AFTER);
	assert_int_equal(ordered, 2);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(a_grant_counts_after_challenge),
		TEST(a_push_counts_after_challenge),
		TEST(a_stamp_counts_after_challenge),
		TEST(a_refusal_counts_at_once),
		TEST(an_order_counts_after_challenge),
	};

	if (bftm_loop_init() < 0)
		return 1;
	return cmocka_run_group_tests_name("epochs", tests, unit_make_dir, unit_remove_dir);
}
