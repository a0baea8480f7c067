/* SPDX-License-Identifier: GPL-2.0 */
/* Before and after each test of TEST_F(lend, …); lender.h has what the tests call. */
#ifndef BFTM_TEST_LEND_FIXTURE_H
#define BFTM_TEST_LEND_FIXTURE_H

#include "lender.h"
#include "selftests/module/device/harness.h"

FIXTURE(lend);

FIXTURE_SETUP(lend)
{
	int u;

	ASSERT_EQ(0, fresh_netns());
	ASSERT_EQ(0, bftm_nl_open(&self->nl));
	ASSERT_EQ(0, command(&self->nl, BFTMUTEX_CMD_HELPER_REGISTER, 0));
	self->fd = open_here(O_NONBLOCK);
	ASSERT_GE(self->fd, 0);
	self->counters = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			      -1, 0);
	ASSERT_NE(MAP_FAILED, self->counters);
	self->counters->seq = 5ull << 32;
	self->counters->attempt = (5ull << 32) + 10;
	self->request_mac = bftm_mac_new(request_key);
	self->reply_mac = bftm_mac_new(reply_key);
	self->sock = bound(NULL);
	for (u = 0; u < N; u++) {
		self->server[u] = bound(&self->port[u]);
		self->epoch[u] = 100 + (uint32_t)u;
	}
	self->cluster = "main";
	self->peers = N;
	self->liars = 1;
	self->socket_attr = self->sock;
	self->counters_attr = (uintptr_t)self->counters;
}

FIXTURE_TEARDOWN(lend)
{
	int u;

	close(self->fd);
	if (self->nl.sock)
		bftm_nl_close(&self->nl);
	close(self->sock);
	for (u = 0; u < N; u++)
		close(self->server[u]);
	bftm_mac_free(self->request_mac);
	bftm_mac_free(self->reply_mac);
	munmap(self->counters, 4096);
}

#endif /* BFTM_TEST_LEND_FIXTURE_H */
