// SPDX-License-Identifier: GPL-2.0
/*
 * Every ioctl and every netlink command, with its first allocation failing, its
 * second, and so on until none is left to fail: the error is one that says so, and
 * what can be seen is as before or as after a success. Copies of user memory count
 * as well. For a kernel with fault injection; the test is the helper.
 *
 *	fail_nth [OPERATION]
 */
#include <poll.h>
#include <sys/mman.h>

#include "fail_nth.h"
#include "submit.h"

#define MOST	400	/* failures in one operation; more is a loop */

static struct bftm_nl nl;	/* calls that fail, and the helper's */
static struct bftm_nl calm;	/* those that look */
static int fd;			/* a handle */
static uint64_t id;		/* of the request that was pulled */
static uint64_t deadline;	/* of what is held; asking for the time may fail as well */
static int injector;

/** struct view - what can be seen of this namespace */
struct view {
	int server, state, rules, objects, journal, handles, held;
};

static int count_one(struct nlattr **attr, void *arg)
{
	(void)attr;
	++*(int *)arg;
	return 0;
}

static int dump_count(uint8_t cmd)
{
	int count = 0;

	bftm_nl_call(&calm, bftm_nl_msg(&calm, cmd, NLM_F_DUMP), count_one,
		     BFTMUTEX_A_HANDLE_MAX, &count);
	return count;
}

static struct view look(void)
{
	struct bftm_status status = { .size = sizeof(status) };
	struct view v = {};

	v.server = server_value(&calm, BFTMUTEX_A_SERVER_ID) == SERVER_ID;
	v.rules = v.server ? (int)server_value(&calm, BFTMUTEX_A_SERVER_RULES) : 0;
	v.objects = v.server ? dump_count(BFTMUTEX_CMD_OBJECT_GET) : 0;
	v.journal = v.server ? (int)server_value(&calm, BFTMUTEX_A_SERVER_JOURNAL_STATE) : 0;
	v.handles = dump_count(BFTMUTEX_CMD_HANDLE_GET);
	if (fd >= 0 && !call(fd, BFTM_IOC_STATUS, &status)) {
		v.state = (int)status.state;
		v.held = status.deadline_ns != 0;
	}
	return v;
}

/* The server, and its journal. */

static int do_server_start(void)
{
	struct nl_msg *msg = start_msg(&nl);
	struct nlattr *rule;

	nla_put_u32(msg, BFTMUTEX_A_SERVER_MAX_LOCKS, 64);
	nla_put_u32(msg, BFTMUTEX_A_SERVER_DURABILITY, BFTMUTEX_DURABILITY_SYNC);
	nla_put_u64(msg, BFTMUTEX_A_SERVER_JOURNAL_ID, 77);
	rule = nla_nest_start(msg, BFTMUTEX_A_SERVER_RULE | NLA_F_NESTED);
	nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_FIRST, 1);
	nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_LAST, 9);
	nla_nest_end(msg, rule);
	return send_msg(&nl, msg);
}

static void with_server(void)
{
	if (server_value(&calm, BFTMUTEX_A_SERVER_ID) != SERVER_ID && do_server_start())
		abort();
}

/* A dump that was not read to its end is in the way of the next on its socket. */
static void with_socket(void)
{
	with_server();
	bftm_nl_close(&nl);
	if (bftm_nl_open(&nl))
		abort();
}

static void without_server(void)
{
	stop_server(&calm);
}

static int do_server_stop(void)
{
	return stop_server(&nl);
}

static int do_server_get(void)
{
	struct wanted w = { .attr = BFTMUTEX_A_SERVER_ID };

	return bftm_nl_call(&nl, bftm_nl_msg(&nl, BFTMUTEX_CMD_SERVER_GET, 0), take_number,
			    BFTMUTEX_A_SERVER_MAX, &w);
}

static int set_rules(struct bftm_nl *by, uint32_t count)
{
	struct nl_msg *msg = bftm_nl_msg(by, BFTMUTEX_CMD_ACCESS_SET, 0);
	uint32_t i;

	for (i = 1; i <= count; i++) {
		struct nlattr *rule = nla_nest_start(msg, BFTMUTEX_A_SERVER_RULE | NLA_F_NESTED);

		nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_FIRST, i);
		nla_put_u32(msg, BFTMUTEX_A_RULE_CLIENT_LAST, i);
		nla_nest_end(msg, rule);
	}
	return send_msg(by, msg);
}

static int do_access_set(void)
{
	return set_rules(&nl, 3);
}

static void reset_rules(void)
{
	with_socket();
	if (set_rules(&calm, 1))
		abort();
}

static int list(uint8_t cmd)
{
	int count = 0;

	return bftm_nl_call(&nl, bftm_nl_msg(&nl, cmd, NLM_F_DUMP), count_one,
			    BFTMUTEX_A_HANDLE_MAX, &count);
}

static int do_access_get(void)
{
	return list(BFTMUTEX_CMD_ACCESS_GET);
}

static int do_lock_get(void)
{
	return list(BFTMUTEX_CMD_LOCK_GET);
}

static int do_object_get(void)
{
	return list(BFTMUTEX_CMD_OBJECT_GET);
}

static int do_client_get(void)
{
	return list(BFTMUTEX_CMD_CLIENT_GET);
}

static int do_handle_get(void)
{
	return list(BFTMUTEX_CMD_HANDLE_GET);
}

static struct bftm_nl journal;	/* whose it is: it ends when this is closed */

static int do_journal_open(void)
{
	struct nl_msg *msg = bftm_nl_msg(&journal, BFTMUTEX_CMD_JOURNAL_OPEN, 0);

	nla_put_u64(msg, BFTMUTEX_A_JOURNAL_ID, 77);
	return send_msg(&journal, msg);
}

/* A server anew that waits for its journal, which is somebody else. */
static void new_journal(void)
{
	without_server();
	with_server();
	if (journal.sock)
		bftm_nl_close(&journal);
	if (bftm_nl_open(&journal))
		abort();
}

static void with_journal(void)
{
	new_journal();
	if (do_journal_open())
		abort();
}

static void put_rank(struct nl_msg *msg, int attr)
{
	struct nlattr *nest = nla_nest_start(msg, attr | NLA_F_NESTED);

	nla_put_u64(msg, BFTMUTEX_A_RANK_COUNT, 1);
	nla_put_u32(msg, BFTMUTEX_A_RANK_CLIENT, 1);
	nla_put_u32(msg, BFTMUTEX_A_RANK_INCARNATION, 1);
	nla_nest_end(msg, nest);
}

static void put_state(struct nl_msg *msg, int attr, uint64_t version, uint32_t len)
{
	uint8_t digest[BFTMUTEX_DIGEST_LEN] = { (uint8_t)version };
	struct nlattr *nest = nla_nest_start(msg, attr | NLA_F_NESTED);

	nla_put_u64(msg, BFTMUTEX_A_STATE_VERSION, version);
	nla_put_u32(msg, BFTMUTEX_A_STATE_LENGTH, len);
	nla_put(msg, BFTMUTEX_A_STATE_DIGEST, sizeof(digest), digest);
	nla_nest_end(msg, nest);
}

/* An object whose state is still to come: of @len bytes, none for 0. */
static int load(uint32_t len)
{
	struct nl_msg *msg = bftm_nl_msg(&journal, BFTMUTEX_CMD_JOURNAL_LOAD, 0);
	uint8_t signature[BFTMUTEX_SIGNATURE_LEN] = {};

	nla_put(msg, BFTMUTEX_A_JOURNAL_NAME, 6, "object");
	put_rank(msg, BFTMUTEX_A_JOURNAL_RANK);
	put_rank(msg, BFTMUTEX_A_JOURNAL_PROPOSER);
	nla_put(msg, BFTMUTEX_A_JOURNAL_SIGNATURE, sizeof(signature), signature);
	put_state(msg, BFTMUTEX_A_JOURNAL_COMMITTED, len ? 1 : 0, len);
	put_state(msg, BFTMUTEX_A_JOURNAL_PROPOSED, len ? 1 : 0, len);
	return send_msg(&journal, msg);
}

static int do_journal_load(void)
{
	return load(0);
}

/* Its state has room, and no pieces yet: the object is not there before they are. */
static int do_journal_load_state(void)
{
	return load(4096);
}

static int do_journal_loaded(void)
{
	struct nl_msg *msg = bftm_nl_msg(&journal, BFTMUTEX_CMD_JOURNAL_LOADED, 0);

	nla_put_flag(msg, BFTMUTEX_A_JOURNAL_COMPLETE);
	return send_msg(&journal, msg);
}

static void with_object(void)
{
	with_journal();
	with_socket();
	if (load(0))
		abort();
}

static int do_journal_pull(void)
{
	return command(&journal, BFTMUTEX_CMD_JOURNAL_PULL, 0);
}

static void with_loaded(void)
{
	with_object();
	if (do_journal_loaded())
		abort();
}

static int do_journal_done(void)
{
	struct nl_msg *msg = bftm_nl_msg(&journal, BFTMUTEX_CMD_JOURNAL_DONE, 0);

	nla_put(msg, BFTMUTEX_A_JOURNAL_NAME, 6, "object");
	nla_put_u64(msg, BFTMUTEX_A_JOURNAL_CHANGE, 1);
	return send_msg(&journal, msg);
}

/* The helper. */

static void be_helper(void)
{
	if (nl.sock)
		bftm_nl_close(&nl);
	if (bftm_nl_open(&nl) || command(&nl, BFTMUTEX_CMD_HELPER_REGISTER, 0))
		abort();
}

static void no_helper(void)
{
	bftm_nl_close(&nl);
	if (bftm_nl_open(&nl))
		abort();
}

static int do_register(void)
{
	return command(&nl, BFTMUTEX_CMD_HELPER_REGISTER, 0);
}

/* A handle that nothing is under way on, and nothing waits to be pulled. */
static void fresh_handle(void)
{
	struct seen s;

	if (fd >= 0)
		close(fd);
	be_helper();
	while (!pull(&nl, &s))
		;
	fd = open_here(O_NONBLOCK);
	if (fd < 0)
		abort();
}

static void with_request(void)
{
	fresh_handle();
	if (acquire(fd, "lock", 0, 0, NULL) != -EINPROGRESS)
		abort();
}

static int do_pull(void)
{
	struct seen s;
	int err = pull(&nl, &s);

	id = err ? 0 : s.id;
	return err;
}

/* What a helper did not get is there for the next one. */
static void check_pull(int err)
{
	struct seen s;

	if (!err)
		return;
	be_helper();
	if (pull(&nl, &s) || s.count != 1) {
		printf("# the request is lost\n");
		exit(1);
	}
}

static void with_pulled(void)
{
	with_request();
	deadline = now_ns() + 600 * SEC;
	if (do_pull())
		abort();
}

static int do_done(void)
{
	return done(&nl, id, 0, 6, deadline);
}

static void with_held(void)
{
	with_pulled();
	if (do_done())
		abort();
}

static int do_renewed(void)
{
	return renewed(&nl, id, deadline + 600 * SEC, 2);
}

static struct nl_sock *events;

static void with_listener(void)
{
	fresh_handle();
	if (!events)
		events = open_events("events");
}

static int do_suspect(void)
{
	struct nl_msg *msg = bftm_nl_msg(&nl, BFTMUTEX_CMD_HELPER_SUSPECT, 0);

	nla_put_string(msg, BFTMUTEX_A_SUSPECT_CLUSTER, "main");
	nla_put_u16(msg, BFTMUTEX_A_SUSPECT_SERVER_ID, 3);
	nla_put_string(msg, BFTMUTEX_A_SUSPECT_EVIDENCE, "it lies");
	nla_put_u64(msg, BFTMUTEX_A_SUSPECT_COUNT, 4);
	return send_msg(&nl, msg);
}

static int do_lend(void)
{
	static struct bftm_counters *counters;
	static int sock = -1;
	struct nl_msg *msg = bftm_nl_msg_room(&nl, BFTMUTEX_CMD_HELPER_LEND, 0, 8192);
	struct sockaddr_in6 any = { .sin6_family = AF_INET6 };
	uint8_t key[16] = "a key", address[16] = { [15] = 1 };
	struct nlattr *nest;
	uint16_t i;

	if (sock < 0) {
		counters = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				-1, 0);
		sock = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (counters == MAP_FAILED || bind(sock, (struct sockaddr *)&any, sizeof(any)))
			abort();
		counters->seq = 5ull << 32;
		counters->attempt = (5ull << 32) + 10;
	}
	nla_put_string(msg, BFTMUTEX_A_SESSION_CLUSTER, "main");
	nla_put_u32(msg, BFTMUTEX_A_SESSION_CLUSTER_ID, 9);
	nla_put_u32(msg, BFTMUTEX_A_SESSION_CLIENT_ID, 7);
	nla_put_u32(msg, BFTMUTEX_A_SESSION_RHO_PPM, 2000);
	nla_put_u64(msg, BFTMUTEX_A_SESSION_DELTA_NS, 100 * MS);
	nla_put_u64(msg, BFTMUTEX_A_SESSION_LEASE_NS, SEC);
	nla_put_u32(msg, BFTMUTEX_A_SESSION_LIARS, 1);
	nla_put_u64(msg, BFTMUTEX_A_SESSION_LEASE_MAX_NS, 20 * SEC);
	nla_put_u64(msg, BFTMUTEX_A_SESSION_COUNTERS, (uintptr_t)counters);
	nla_put_u32(msg, BFTMUTEX_A_SESSION_SOCKET, (uint32_t)sock);
	for (i = 0; i < 4; i++) {
		nest = nla_nest_start(msg, BFTMUTEX_A_SESSION_PEER);
		nla_put_u16(msg, BFTMUTEX_A_PEER_SERVER_ID, i + 1);
		nla_put_u64(msg, BFTMUTEX_A_PEER_EPOCH, 100);
		nla_put(msg, BFTMUTEX_A_PEER_ADDRESS, sizeof(address), address);
		nla_put_u16(msg, BFTMUTEX_A_PEER_PORT, 7373);
		nla_put(msg, BFTMUTEX_A_PEER_REQUEST_KEY, sizeof(key), key);
		nla_put(msg, BFTMUTEX_A_PEER_REPLY_KEY, sizeof(key), key);
		nla_nest_end(msg, nest);
	}
	return send_msg(&nl, msg);
}

/* Taken by the kernel itself, as far as it comes: nobody answers it. */
static void with_session(void)
{
	fresh_handle();
	if (do_lend())
		abort();
}

/* The device. */

static int do_open(void)
{
	int other = open_here(O_NONBLOCK);

	if (other < 0)
		return other;
	return close(other) ? -errno : 0;
}

static int do_acquire(void)
{
	return acquire(fd, "lock", 0, 0, NULL);
}

static int do_status(void)
{
	struct bftm_status status = { .size = sizeof(status) };

	return call(fd, BFTM_IOC_STATUS, &status);
}

static int do_signal(void)
{
	return set_signal(fd, SIGUSR1, MS);
}

static int do_renew(void)
{
	return renew(fd, 0, NULL);
}

static int do_release(void)
{
	return release(fd);
}

static int do_poll(void)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int r = poll(&p, 1, 0);

	return r < 0 ? -errno : 0;
}

/* A submit needs somebody who answers while it waits; that thread never fails. */
static struct bftm_nl answering;
static char room[64];
static bool submitting;

static void *answer_all(void *arg)
{
	static struct asked a;

	(void)arg;
	while (__atomic_load_n(&submitting, __ATOMIC_ACQUIRE)) {
		answering.notified = false;
		if (!pull_asked(&answering, &a)) {
			if (a.head.kind == BFTMUTEX_REQUEST_KIND_SUBMIT)
				answer(&answering, a.head.id, 0, 1, "a response");
			continue;
		}
		/* A hint may be what failed. */
		poll_for(nl_socket_get_fd(answering.sock), POLLIN, 20);
	}
	return NULL;
}

static pthread_t answerer;

static void stop_answering(void)
{
	if (!answering.sock)
		return;
	__atomic_store_n(&submitting, false, __ATOMIC_RELEASE);
	pthread_join(answerer, NULL);
	bftm_nl_close(&answering);
}

static void with_answers(void)
{
	if (answering.sock)
		return;
	fresh_handle();
	bftm_nl_close(&nl);
	if (bftm_nl_open(&nl) || bftm_nl_open(&answering) ||
	    command(&answering, BFTMUTEX_CMD_HELPER_REGISTER, 0))
		abort();
	submitting = true;
	if (pthread_create(&answerer, NULL, answer_all, NULL))
		abort();
}

static int do_submit(void)
{
	struct bftm_submit arg = text_on("object", "add 1");

	make_room(&arg, room, sizeof(room));
	return submit(fd, &arg);
}

/* The response does not fit, is kept, and fetched. */
static int do_fetch(void)
{
	struct bftm_submit arg = text_on("object", "get");
	int err = submit(fd, &arg);

	return err == -EOVERFLOW ? fetch(fd, arg.id, room, sizeof(room), NULL) : err;
}


/**
 * struct operation - what is tried
 * @setup: makes the state before it, from any
 * @run:   the call; @want is what it returns when nothing fails
 * @check: more than what can be seen; may be NULL
 * @also:  another error that stands for want of memory
 */
static const struct operation {
	const char *name;
	void (*setup)(void);
	int (*run)(void);
	int want;
	void (*check)(int err);
	int also;
} operations[] = {
	/* ENFILE is what the kernel says when there is no memory for a socket. */
	{ "server-start", without_server, do_server_start, 0, NULL, -ENFILE },
	{ "server-stop", with_server, do_server_stop, 0, NULL, 0 },
	{ "server-get", with_socket, do_server_get, 0, NULL, 0 },
	{ "access-set", reset_rules, do_access_set, 0, NULL, 0 },
	{ "access-get", reset_rules, do_access_get, 0, NULL, 0 },
	{ "lock-get", with_socket, do_lock_get, 0, NULL, 0 },
	{ "client-get", with_socket, do_client_get, 0, NULL, 0 },
	{ "journal-open", new_journal, do_journal_open, 0, NULL, 0 },
	{ "journal-load", with_journal, do_journal_load, 0, NULL, -ENOSPC },
	{ "journal-load, state", with_journal, do_journal_load_state, 0, NULL, 0 },
	{ "object-get", with_object, do_object_get, 0, NULL, 0 },
	{ "journal-loaded", with_object, do_journal_loaded, 0, NULL, 0 },
	{ "journal-pull", with_loaded, do_journal_pull, -ENODATA, NULL, 0 },
	{ "journal-done", with_loaded, do_journal_done, -ESTALE, NULL, 0 },
	{ "helper-register", no_helper, do_register, 0, NULL, 0 },
	{ "open, close", fresh_handle, do_open, 0, NULL, 0 },
	{ "ACQUIRE", fresh_handle, do_acquire, -EINPROGRESS, NULL, 0 },
	{ "helper-pull", with_request, do_pull, 0, check_pull, 0 },
	{ "helper-done", with_pulled, do_done, 0, NULL, 0 },
	{ "helper-renewed", with_held, do_renewed, 0, NULL, 0 },
	{ "handle-get", with_held, do_handle_get, 0, NULL, 0 },
	{ "STATUS", with_held, do_status, 0, NULL, 0 },
	{ "SET_SIGNAL", with_held, do_signal, 0, NULL, 0 },
	{ "poll", with_held, do_poll, 0, NULL, 0 },
	{ "RENEW", with_held, do_renew, -EINPROGRESS, NULL, 0 },
	{ "RELEASE", with_held, do_release, 0, NULL, 0 },
	{ "helper-suspect", with_listener, do_suspect, 0, NULL, 0 },
	{ "helper-lend", fresh_handle, do_lend, 0, NULL, 0 },
	{ "ACQUIRE, fast path", with_session, do_acquire, -EINPROGRESS, NULL, 0 },
	{ "SUBMIT", with_answers, do_submit, 0, NULL, 0 },
	{ "SUBMIT, fetch", with_answers, do_fetch, 0, NULL, 0 },
};

/* EIO is how bftm_nl_errno() has it when sending or receiving fails with EFAULT. */
static bool is_clean(int err)
{
	return err == -ENOMEM || err == -ENOBUFS || err == -EFAULT || err == -EIO;
}

static void print_view(const char *when, const struct view *v)
{
	printf("# %s: server %d, rules %d, objects %d, journal %d, handles %d, state %d, held %d\n",
	       when, v->server, v->rules, v->objects, v->journal, v->handles, v->state, v->held);
}

/* Return: how many failures there were, or -1 after saying what is wrong. */
static int try(const struct operation *o)
{
	struct view before, after, now;
	int n, err, hit;

	o->setup();
	before = look();
	err = o->run();
	after = look();
	if (err != o->want) {
		printf("# untouched: %d, not %d\n", err, o->want);
		return -1;
	}
	for (n = 1; n <= MOST; n++) {
		o->setup();
		now = look();
		if (memcmp(&now, &before, sizeof(now))) {
			print_view("before", &before);
			print_view("set up", &now);
			return -1;
		}
		fail_nth_arm(injector, n);
		err = o->run();
		hit = fail_nth_disarm(injector);
		now = look();
		if (err != o->want && !(hit && (is_clean(err) || err == o->also))) {
			printf("# failure %d: error %d\n", n, err);
			return -1;
		}
		if (memcmp(&now, &after, sizeof(now)) &&
		    (err == o->want || memcmp(&now, &before, sizeof(now)))) {
			printf("# failure %d, error %d\n", n, err);
			print_view("before", &before);
			print_view("after", &after);
			print_view("now", &now);
			return -1;
		}
		if (o->check)
			o->check(err);
		if (!hit)
			return n - 1;
	}
	printf("# more than %d failures\n", MOST);
	return -1;
}

int main(int argc, char **argv)
{
	const size_t count = sizeof(operations) / sizeof(operations[0]);
	bool all_good = true;
	size_t i, tried = 0;
	int failures;

	setvbuf(stdout, NULL, _IOLBF, 0);
	injector = fail_nth_open();
	if (injector < 0) {
		printf("1..0 # SKIP the kernel has no fault injection\n");
		return 0;
	}
	fd = -1;
	signal(SIGUSR1, SIG_IGN);
	if (fresh_netns() || bftm_nl_open(&calm) || mlockall(MCL_CURRENT | MCL_FUTURE)) {
		printf("not ok 1 - no namespace of our own\n1..1\n");
		return 1;
	}
	be_helper();
	for (i = 0; i < count; i++) {
		if (argc > 1 && strcmp(argv[1], operations[i].name))
			continue;
		failures = try(&operations[i]);
		all_good &= failures >= 0;
		printf("%sok %zu - %s: %d failures\n", failures < 0 ? "not " : "", ++tried,
		       operations[i].name, failures < 0 ? 0 : failures);
	}
	stop_answering();
	printf("1..%zu\n", tried);
	return all_good ? 0 : 1;
}
