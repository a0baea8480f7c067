// SPDX-License-Identifier: GPL-2.0
/* The netlink commands of the helper, which is the test, and the calls of the device. */
#include <sys/mman.h>

#include "fail_nth.h"

static uint64_t id;		/* of the request that was pulled */
static uint64_t deadline;	/* of what is held; asking for the time may fail as well */

void nth_be_helper(void)
{
	if (nth_nl.sock)
		bftm_nl_close(&nth_nl);
	if (bftm_nl_open(&nth_nl) || command(&nth_nl, BFTMUTEX_CMD_HELPER_REGISTER, 0))
		abort();
}

static void no_helper(void)
{
	bftm_nl_close(&nth_nl);
	if (bftm_nl_open(&nth_nl))
		abort();
}

static int do_register(void)
{
	return command(&nth_nl, BFTMUTEX_CMD_HELPER_REGISTER, 0);
}

/* A handle that nothing is under way on, and nothing waits to be pulled. */
static void fresh_handle(void)
{
	struct seen s;

	if (nth_fd >= 0)
		close(nth_fd);
	nth_be_helper();
	while (!pull(&nth_nl, &s))
		;
	nth_fd = open_here(O_NONBLOCK);
	if (nth_fd < 0)
		abort();
}

static void with_request(void)
{
	fresh_handle();
	if (acquire(nth_fd, "lock", 0, 0, NULL) != -EINPROGRESS)
		abort();
}

static int do_pull(void)
{
	struct seen s;
	int err = pull(&nth_nl, &s);

	id = err ? 0 : s.id;
	return err;
}

/* The next helper gets a request that this one did not get. */
static void check_pull(int err)
{
	struct seen s;

	if (!err)
		return;
	nth_be_helper();
	if (pull(&nth_nl, &s) || s.count != 1) {
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
	return done(&nth_nl, id, 0, 6, deadline);
}

static void with_held(void)
{
	with_pulled();
	if (do_done())
		abort();
}

static int do_renewed(void)
{
	return renewed(&nth_nl, id, deadline + 600 * SEC, 2);
}

static int do_handle_get(void)
{
	int count = 0;

	return nth_dump(&nth_nl, BFTMUTEX_CMD_HANDLE_GET, &count);
}

static int do_local_get(void)
{
	struct wanted w = { .attr = BFTMUTEX_A_LOCAL_ACQUIRES };

	return bftm_nl_call(&nth_nl, bftm_nl_msg(&nth_nl, BFTMUTEX_CMD_LOCAL_GET, 0), take_number,
			    BFTMUTEX_A_LOCAL_MAX, &w);
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
	struct nl_msg *msg = bftm_nl_msg(&nth_nl, BFTMUTEX_CMD_HELPER_SUSPECT, 0);

	nla_put_string(msg, BFTMUTEX_A_SUSPECT_CLUSTER, "main");
	nla_put_u16(msg, BFTMUTEX_A_SUSPECT_SERVER_ID, 3);
	nla_put_string(msg, BFTMUTEX_A_SUSPECT_EVIDENCE, "it lies");
	nla_put_u64(msg, BFTMUTEX_A_SUSPECT_COUNT, 4);
	return send_msg(&nth_nl, msg);
}

static int do_lend(void)
{
	static struct bftm_counters *counters;
	static int sock = -1;
	struct nl_msg *msg = bftm_nl_msg_room(&nth_nl, BFTMUTEX_CMD_HELPER_LEND, 0, 8192);
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
	return send_msg(&nth_nl, msg);
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
	return acquire(nth_fd, "lock", 0, 0, NULL);
}

static int do_status(void)
{
	struct bftm_status status = { .size = sizeof(status) };

	return call(nth_fd, BFTM_IOC_STATUS, &status);
}

static int do_signal(void)
{
	return set_signal(nth_fd, SIGUSR1, MS);
}

static int do_renew(void)
{
	return renew(nth_fd, 0, NULL);
}

static int do_release(void)
{
	return release(nth_fd);
}

static int do_poll(void)
{
	struct pollfd p = { .fd = nth_fd, .events = POLLIN };
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

void nth_stop_answering(void)
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
	bftm_nl_close(&nth_nl);
	if (bftm_nl_open(&nth_nl) || bftm_nl_open(&answering) ||
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
	return submit(nth_fd, &arg);
}

/* The response does not fit, is kept, and fetched. */
static int do_fetch(void)
{
	struct bftm_submit arg = text_on("object", "get");
	int err = submit(nth_fd, &arg);

	return err == -EOVERFLOW ? fetch(nth_fd, arg.id, room, sizeof(room), NULL) : err;
}

/* Somebody who submits, and whose operation was pulled. */
static struct program submitter;

static void with_submit(void)
{
	static bool begun;

	fresh_handle();
	/* The one before heard that its helper is gone, or its response. */
	if (begun)
		end_program(&submitter);
	begun = true;
	start_program(&submitter, nth_fd, text_on("object", "add 1"), sizeof(submitter.response));
	id = next_submit(&nth_nl);
	if (!id)
		abort();
}

static int do_submitted(void)
{
	int err = answer(&nth_nl, id, 0, 1, "a response");

	/* Not joined, which allocates. */
	while (!err && __atomic_load_n(&submitter.err, __ATOMIC_ACQUIRE) == 1)
		sched_yield();
	return err ?: submitter.err;
}

const struct operation nth_client_operations[] = {
	{ "helper-register", no_helper, do_register, 0, NULL, 0 },
	{ "open, close", fresh_handle, do_open, 0, NULL, 0 },
	{ "ACQUIRE", fresh_handle, do_acquire, -EINPROGRESS, NULL, 0 },
	{ "helper-pull", with_request, do_pull, 0, check_pull, 0 },
	{ "helper-done", with_pulled, do_done, 0, NULL, 0 },
	{ "helper-renewed", with_held, do_renewed, 0, NULL, 0 },
	{ "handle-get", with_held, do_handle_get, 0, NULL, 0 },
	{ "local-get", with_held, do_local_get, 0, NULL, 0 },
	{ "STATUS", with_held, do_status, 0, NULL, 0 },
	{ "SET_SIGNAL", with_held, do_signal, 0, NULL, 0 },
	{ "poll", with_held, do_poll, 0, NULL, 0 },
	{ "RENEW", with_held, do_renew, -EINPROGRESS, NULL, 0 },
	{ "RELEASE", with_held, do_release, 0, NULL, 0 },
	{ "helper-suspect", with_listener, do_suspect, 0, NULL, 0 },
	{ "helper-lend", fresh_handle, do_lend, 0, NULL, 0 },
	{ "ACQUIRE, fast path", with_session, do_acquire, -EINPROGRESS, NULL, 0 },
	{ "helper-submitted", with_submit, do_submitted, 0, NULL, 0 },
	{ "SUBMIT", with_answers, do_submit, 0, NULL, 0 },
	{ "SUBMIT, fetch", with_answers, do_fetch, 0, NULL, 0 },
	{}
};
