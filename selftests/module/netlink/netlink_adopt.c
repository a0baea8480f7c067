// SPDX-License-Identifier: GPL-2.0
/*
 * Locks that outlive a helper and are adopted by the next one; margins and reasons of loss of
 * renewed locks; races; suspicion of servers.
 */
#include <pthread.h>

#include "selftests/module/device/fake_helper.h"
#include "selftests/module/device/harness.h"

FIXTURE(adopt)
{
	struct bftm_nl nl;
	int fd;
	const char *name;
	uint64_t end;
};

FIXTURE_SETUP(adopt)
{
	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	self->fd = open_here(O_NONBLOCK);
	ASSERT_GE(self->fd, 0);
	self->name = new_name();
	self->end = now_ns() + 50 * SEC;
}

FIXTURE_TEARDOWN(adopt)
{
	close(self->fd);
	if (self->nl.sock)
		bftm_nl_close(&self->nl);
}

TEST_F(adopt, all_that_is_held)
{
	/* Held to be renewed, held, renewal asked for and pulled, or not; pending. */
	static const uint32_t flags[] = { BFTM_RENEW, 0, 0, BFTM_RENEW, BFTM_RENEW };
	/* Locks that have to be renewed come first. */
	static const int first[] = { 0, 2, 3, 1, 4 }, then[] = { 0, 3, 1, 2, 4 };
	int fd[5], i, k;
	uint64_t id[5];
	char name[16];
	struct seen s;

	for (i = 0; i < 5; i++) {
		fd[i] = open_here(O_NONBLOCK);
		snprintf(name, sizeof(name), "lock %d", i);
		id[i] = i < 4 ? held(&self->nl, fd[i], name, flags[i], self->end) :
				pulled(&self->nl, fd[i], name);
	}
	ASSERT_EQ(0, renewed(&self->nl, id[0], self->end + 1, 4));
	ASSERT_EQ(-EINPROGRESS, renew(fd[2], 0, NULL));
	ASSERT_EQ(0, pull(&self->nl, &s));
	ASSERT_EQ(-EINPROGRESS, renew(fd[3], 0, NULL));
	take_over(&self->nl);
	for (k = 0; k < 5; k++) {
		i = first[k];
		ASSERT_EQ(0, pull(&self->nl, &s));
		EXPECT_EQ(i == 1 ? BFTMUTEX_REQUEST_KIND_HELD :
			  i < 4 ? BFTMUTEX_REQUEST_KIND_RENEW : BFTMUTEX_REQUEST_KIND_ACQUIRE,
			  s.kind);
		EXPECT_EQ(id[i], s.id);
		EXPECT_EQ(i < 4 ? 5 : 0, s.attempt);
		EXPECT_EQ(i < 4 ? self->end + !i : 0, s.deadline_ns);
		EXPECT_EQ(i ? i < 4 : 4, s.sends);
		snprintf(name, sizeof(name), "lock %d", i);
		EXPECT_STREQ(name, s.name);
	}
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, renewed(&self->nl, id[i], self->end + SEC, 7));
	/* A renewal that has come is not asked for again. */
	take_over(&self->nl);
	for (k = 0; k < 5; k++) {
		i = then[k];
		ASSERT_EQ(0, pull(&self->nl, &s));
		EXPECT_EQ(id[i], s.id);
		EXPECT_EQ(i == 1 || i == 2, s.kind == BFTMUTEX_REQUEST_KIND_HELD);
	}
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	for (i = 0; i < 5; i++)
		close(fd[i]);
}

#define CONFIGURATION 0xfedcba9876543210ull

static int won_by_default(struct bftm_nl *nl, uint64_t end, uint64_t id, uint64_t lease_ns,
			  const char *cluster)
{
	struct nl_msg *msg = bftm_nl_msg(nl, BFTMUTEX_CMD_HELPER_DONE, 0);

	nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, id);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_ATTEMPT, 5);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_DEADLINE_NS, end);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_LEASE_NS, lease_ns);
	nla_put_string(msg, BFTMUTEX_A_HANDLE_CLUSTER, cluster);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_CONFIGURATION, CONFIGURATION);
	return send_msg(nl, msg);
}

/* The defaults, and the default cluster, may have changed by then. */
TEST_F(adopt, with_what_defaults_stood_for)
{
	struct bftm_acquire arg = want(self->name, 0, 0, BFTM_RENEW);
	struct bftm_renew again = { .size = sizeof(again) };
	struct seen s;

	ASSERT_EQ(-EINPROGRESS, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(0, s.lease_ns);
	EXPECT_STREQ("", s.cluster);
	EXPECT_EQ(-ERANGE, won_by_default(&self->nl, self->end, s.id, MS - 1, "west"));
	EXPECT_EQ(-ERANGE, won_by_default(&self->nl, self->end, s.id, 3600 * SEC + 1, "west"));
	/* One byte more than the name of a cluster may have. */
	EXPECT_GT(0, won_by_default(&self->nl, self->end, s.id, 7 * SEC,
				    "123456789012345678901234567890123"));
	ASSERT_EQ(0, won_by_default(&self->nl, self->end, s.id, 7 * SEC, "west"));
	take_over(&self->nl);
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(7 * SEC, s.lease_ns);
	EXPECT_STREQ("west", s.cluster);
	EXPECT_EQ(CONFIGURATION, s.configuration);
	/* The true one is a good lease for a renewal too. */
	again.lease_ns = 7 * SEC;
	EXPECT_EQ(-EINPROGRESS, call(self->fd, BFTM_IOC_RENEW, &again));
	again.lease_ns = 8 * SEC;
	EXPECT_EQ(-EINVAL, call(self->fd, BFTM_IOC_RENEW, &again));
}

/* The next helper must renew the lock in the mode in which it is held. */
TEST_F(adopt, in_the_mode_that_was_asked_for)
{
	static const struct { uint32_t flags, kind; } how[] = {
		{ 0, BFTMUTEX_REQUEST_KIND_HELD }, { BFTM_RENEW, BFTMUTEX_REQUEST_KIND_RENEW },
	};
	struct bftm_acquire arg;
	struct seen s;
	uint32_t mode;
	int i;

	for (mode = BFTM_LOCK_EX; mode < BFTM_LOCK_NL; mode++) {
		for (i = 0; i < 2; i++) {
			arg = want(self->name, LEASE_MAX, 0, how[i].flags);
			arg.mode = mode;
			ASSERT_EQ(-EINPROGRESS, call(self->fd, BFTM_IOC_ACQUIRE, &arg));
			EXPECT_EQ(BFTM_LOCK_EX, status_of(self->fd).mode);
			ASSERT_EQ(0, pull(&self->nl, &s));
			EXPECT_EQ(mode, s.mode);
			ASSERT_EQ(0, done(&self->nl, s.id, 0, 5, self->end));
			EXPECT_EQ(mode, status_of(self->fd).mode);
			take_over(&self->nl);
			ASSERT_EQ(0, pull(&self->nl, &s));
			EXPECT_EQ(how[i].kind, s.kind);
			EXPECT_EQ(mode, s.mode);
			ASSERT_EQ(0, release(self->fd));
			ASSERT_EQ(0, pull(&self->nl, &s));
			EXPECT_EQ(BFTMUTEX_REQUEST_KIND_RELEASE, s.kind);
			EXPECT_EQ(mode, s.mode);
			EXPECT_EQ(BFTM_LOCK_EX, status_of(self->fd).mode);
		}
	}
}

/* Longer than the kernel waits for the next helper. */
TEST_F(adopt, after_a_long_time_without_a_helper)
{
	uint64_t id = held(&self->nl, self->fd, self->name, BFTM_RENEW, self->end), gone;
	int fd = open_here(O_NONBLOCK);
	struct seen s;

	gone = held(&self->nl, fd, "gone", BFTM_RENEW, self->end);
	ASSERT_EQ(-EINPROGRESS, renew(self->fd, 0, NULL));
	ASSERT_EQ(-EINPROGRESS, renew(fd, 0, NULL));
	bftm_nl_close(&self->nl);
	/* Until the grace is over. */
	while (renew(self->fd, 0, NULL) == -EINPROGRESS)
		sleep_ns(50 * MS);
	EXPECT_EQ(-ENOTCONN, renew(self->fd, 0, NULL));
	EXPECT_EQ(BFTM_STATE_HELD, state_of(self->fd));
	close(fd);
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	EXPECT_EQ(-EPERM, renewed(&self->nl, id, self->end + 1, 2));
	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	ASSERT_EQ(0, pull(&self->nl, &s));
	EXPECT_EQ(BFTMUTEX_REQUEST_KIND_RENEW, s.kind);
	EXPECT_EQ(id, s.id);
	EXPECT_EQ(-ENODATA, pull(&self->nl, &s));
	EXPECT_EQ(0, renewed(&self->nl, id, self->end + 1, 2));
	EXPECT_EQ(-ESTALE, renewed(&self->nl, gone, self->end + 1, 2));
}

TEST_F(adopt, reason_of_the_loss)
{
	static const int reasons[] = { BFTM_LOST_EXPIRED, BFTM_LOST_NOT_RENEWED,
				       BFTM_LOST_NOT_RENEWED, BFTM_LOST_EXPIRED,
				       BFTM_LOST_NO_HELPER };
	struct seen s;
	uint64_t id;
	int i;

	for (i = 0; i < 5; i++) {
		self->end = now_ns() + 100 * MS;
		id = held(&self->nl, self->fd, self->name, i == 1 || i == 4 ? BFTM_RENEW : 0,
			  self->end);
		if (i == 2 || i == 3)
			EXPECT_EQ(-EINPROGRESS, renew(self->fd, 0, NULL));
		if (i == 3)
			EXPECT_EQ(0, renewed(&self->nl, id, self->end + 1, 2));
		if (i == 4)
			bftm_nl_close(&self->nl);
		ASSERT_EQ(POLLHUP, poll_for(self->fd, 0, LONG_MS));
		EXPECT_EQ(reasons[i], (int)status_of(self->fd).reason) {
			TH_LOG("row %d", i);
		}
		if (i == 4)
			break;
		take_over(&self->nl);
		while (!pull(&self->nl, &s))
			;	/* ends of this one */
	}
}

static int signals_seen(int signo)
{
	struct timespec none = {};
	sigset_t set;
	int n = 0;

	sigemptyset(&set);
	sigaddset(&set, signo);
	while (sigtimedwait(&set, NULL, &none) == signo)
		n++;
	return n;
}

static void block(int signo)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signo);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

TEST_F(adopt, margin_comes_again_after_a_renewal)
{
	int signo = SIGRTMIN + 3;
	uint64_t id, margin = 300 * MS;

	block(signo);
	ASSERT_EQ(0, set_signal(self->fd, (uint32_t)signo, margin));
	self->end = now_ns() + 500 * MS;
	id = held(&self->nl, self->fd, self->name, BFTM_RENEW, self->end);
	ASSERT_EQ(POLLPRI, poll_for(self->fd, POLLPRI, LONG_MS));
	EXPECT_EQ(1, signals_seen(signo));
	if (renewed(&self->nl, id, self->end + 2 * SEC, 2))
		SKIP(return, "the machine slept for a lease");
	self->end += 2 * SEC;
	EXPECT_EQ(POLLIN, poll_now(self->fd));
	ASSERT_EQ(POLLPRI, poll_for(self->fd, POLLPRI, LONG_MS));
	EXPECT_GE(now_ns(), self->end - margin);
	EXPECT_EQ(1, signals_seen(signo));
	ASSERT_EQ(POLLHUP, poll_for(self->fd, 0, LONG_MS));
	EXPECT_EQ(1, signals_seen(signo));
}

TEST_F(adopt, margin_that_is_longer_than_leases_comes_once)
{
	int signo = SIGRTMIN + 3, i;
	uint64_t id;

	block(signo);
	ASSERT_EQ(0, set_signal(self->fd, (uint32_t)signo, 3600 * SEC));
	id = held(&self->nl, self->fd, self->name, BFTM_RENEW, self->end);
	ASSERT_EQ(POLLPRI, poll_for(self->fd, POLLPRI, LONG_MS));
	for (i = 1; i < 10; i++) {
		EXPECT_EQ(0, renewed(&self->nl, id, self->end + (uint64_t)i, 2));
		sleep_ns(10 * MS);
	}
	EXPECT_EQ(1, signals_seen(signo));
	EXPECT_EQ(POLLIN | POLLPRI, poll_now(self->fd));
}

TEST_F(adopt, renewals_are_events_of_their_own)
{
	struct nl_sock *events = open_events(BFTMUTEX_MCGRP_EVENTS);
	struct nl_sock *renewals = open_events(BFTMUTEX_MCGRP_RENEWALS);
	uint64_t id = held(&self->nl, self->fd, self->name, BFTM_RENEW, self->end);
	struct seen s;

	ASSERT_EQ(0, renewed(&self->nl, id, self->end + 1, 2));
	EXPECT_EQ(BFTM_STATE_HELD, next_event(renewals, &s, LONG_MS));
	EXPECT_EQ(self->end + 1, s.deadline_ns);
	EXPECT_STREQ(self->name, s.name);
	EXPECT_EQ(-1, next_event(renewals, &s, 0));
	EXPECT_EQ(BFTM_STATE_HELD, next_event(events, &s, LONG_MS));
	EXPECT_EQ(-1, next_event(events, &s, 0));
	nl_socket_free(events);
	nl_socket_free(renewals);
}

/* Renewal against release, close and the end of the lease. */

#define ROUNDS	3000
#define ENOUGH	(10 * SEC)	/* a busy machine may do fewer */

static void *serve(void *arg)
{
	struct bftm_nl *nl = arg;
	uint64_t id = 0, n = 0;
	struct seen s;

	while (id != NONE) {
		if (!pull(nl, &s)) {
			if (!strcmp(s.name, "stop"))
				break;
			if (s.kind == BFTMUTEX_REQUEST_KIND_ACQUIRE) {
				id = s.id;
				done(nl, id, 0, 5, now_ns() + (++n % 4 ? SEC : 1 * MS));
			}
		}
		renewed(nl, id, now_ns() + 2 * SEC + n++, 2);
	}
	return NULL;
}

static void *renew_all_the_time(void *arg)
{
	while (*(volatile int *)arg >= 0)
		renew(*(volatile int *)arg, MS, NULL);
	return NULL;
}

TEST_F(adopt, renewal_races_with_release_close_and_loss)
{
	pthread_t helper, program;
	uint64_t begin = now_ns();
	int fd = self->fd, i;

	pthread_create(&helper, NULL, serve, &self->nl);
	pthread_create(&program, NULL, renew_all_the_time, &fd);
	for (i = 0; i < (short_run() ? ROUNDS / 10 : ROUNDS) && now_ns() < begin + ENOUGH; i++) {
		int now = fd;

		fcntl(now, F_SETFL, 0);
		acquire(now, self->name, 0, 50 * MS, NULL);
		if (i % 3 == 0) {
			fd = open_here(0);
			close(now);
		} else if (i % 3 == 1) {
			release(now);
		} else {
			renew(now, MS, NULL);
			release(now);
		}
	}
	i = fd;
	fd = -1;
	pthread_join(program, NULL);
	close(i);
	fd = open_here(O_NONBLOCK);
	EXPECT_EQ(-EINPROGRESS, acquire(fd, "stop", 0, 0, NULL));
	pthread_join(helper, NULL);
	close(fd);
	self->fd = -1;
}

/* Suspicion of servers */

struct suspected {
	int count;
	char cluster[BFTM_CLUSTER_MAX + 1], evidence[BFTMUTEX_EVIDENCE_MAX + 1];
	uint16_t server;
	uint64_t times;
};

static int on_suspect(struct nl_msg *msg, void *arg)
{
	struct nlattr *attr[BFTMUTEX_A_SUSPECT_MAX + 1];
	struct suspected *s = arg;

	if (genlmsg_hdr(nlmsg_hdr(msg))->cmd != BFTMUTEX_CMD_SUSPECT_EVENT ||
	    genlmsg_parse(nlmsg_hdr(msg), 0, attr, BFTMUTEX_A_SUSPECT_MAX, NULL))
		return NL_SKIP;
	s->count++;
	nla_strlcpy(s->cluster, attr[BFTMUTEX_A_SUSPECT_CLUSTER], sizeof(s->cluster));
	nla_strlcpy(s->evidence, attr[BFTMUTEX_A_SUSPECT_EVIDENCE], sizeof(s->evidence));
	s->server = nla_get_u16(attr[BFTMUTEX_A_SUSPECT_SERVER_ID]);
	s->times = nla_get_u64(attr[BFTMUTEX_A_SUSPECT_COUNT]);
	return NL_OK;
}

static int suspect(struct bftm_nl *nl, const char *cluster, uint16_t server, const char *evidence)
{
	struct nl_msg *msg = bftm_nl_msg(nl, BFTMUTEX_CMD_HELPER_SUSPECT, 0);

	if (cluster)
		nla_put_string(msg, BFTMUTEX_A_SUSPECT_CLUSTER, cluster);
	nla_put_u16(msg, BFTMUTEX_A_SUSPECT_SERVER_ID, server);
	if (evidence)
		nla_put_string(msg, BFTMUTEX_A_SUSPECT_EVIDENCE, evidence);
	nla_put_u64(msg, BFTMUTEX_A_SUSPECT_COUNT, 1ull << 40);
	return send_msg(nl, msg);
}

TEST_F(adopt, suspicion_is_an_event)
{
	struct nl_sock *events = open_events(BFTMUTEX_MCGRP_EVENTS);
	struct suspected s = {};
	struct bftm_nl other;
	char text[66] = {};

	nl_socket_modify_cb(events, NL_CB_VALID, NL_CB_CUSTOM, on_suspect, &s);
	memset(text, 'e', 64);
	ASSERT_EQ(0, suspect(&self->nl, "demo", 3, text));
	ASSERT_EQ(POLLIN, poll_for(nl_socket_get_fd(events), POLLIN, LONG_MS));
	ASSERT_EQ(0, nl_recvmsgs_default(events));
	EXPECT_EQ(1, s.count);
	EXPECT_STREQ("demo", s.cluster);
	EXPECT_STREQ(text, s.evidence);
	EXPECT_EQ(3, s.server);
	EXPECT_EQ(1ull << 40, s.times);
	text[64] = 'e';
	EXPECT_EQ(-EINVAL, suspect(&self->nl, "demo", 3, text));
	EXPECT_EQ(-EINVAL, suspect(&self->nl, text + 32, 3, "late"));
	EXPECT_EQ(-ERANGE, suspect(&self->nl, "demo", 0, "late"));
	EXPECT_EQ(-EINVAL, suspect(&self->nl, NULL, 3, "late"));
	EXPECT_EQ(-EINVAL, suspect(&self->nl, "demo", 3, NULL));
	ASSERT_EQ(0, bftm_nl_open(&other));
	EXPECT_EQ(-EPERM, suspect(&other, "demo", 3, "late"));
	bftm_nl_close(&other);
	EXPECT_EQ(0, poll_for(nl_socket_get_fd(events), POLLIN, 0));
	nl_socket_free(events);
}

TEST_HARNESS_MAIN
