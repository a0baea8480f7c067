// SPDX-License-Identifier: GPL-2.0
/*
 * Clients of a server that comes and goes: they try, queue, yield, release, ask for
 * tokens, repeat themselves and send what is wrong, for leases that are over at once.
 * As members, for locks without a lease too: they assert again what they had, and SYNC.
 */
#include "selftests/lib/datagram.h"
#include "races.h"

#define PEERS	2
#define NAMES	400	/* more than a small server has room for: entries come and go */
#define BURST	8

static void say(struct races *r, struct peer *p, struct bftm_msg m)
{
	struct bftm_wire wire;

	/* Of the incarnation that attempts have by now, or evictions would refuse it. */
	p->seq = fresh();
	prepare(p, &m, &wire);
	/* Signed all the same, for another: so the tag is wrong, or the form. */
	if (!races_random(16)) {
		wire.head.client = cpu_to_le32(RACES_STRANGER);
		wire.len -= races_random(2) ? races_random((unsigned int)wire.len) : 0;
	}
	races_add(&r->shared->sent, 1);
	/* Lost while no server is there, and that is no news. */
	if (send(p->fd, wire.data, wire.len, 0) < 0)
		return;
	if (!races_random(16) && send(p->fd, wire.data, wire.len, 0) < 0)
		return;
}

/*
 * Nothing but eviction, SYNC of a later boot, or a RELEASE ends a grant of such a TRY. Its attempt is
 * odd, and that of each other TRY is even.
 */
static void without_lease(struct bftm_msg *m)
{
	m->lease_ns = BFTM_LEASE_NONE;
	m->attempt |= 1;
	if (races_random(2)) {
		m->flags = BFTM_FLAG_REASSERT;
		m->arg = BFTM_MODE_EX;
	}
}

/* This boot began some seconds ago, as the numbers of attempts have it. */
static void say_sync(struct races *r, struct peer *p)
{
	u32 boot = (u32)(fresh() >> 32) - races_random(2);

	say(r, p, (struct bftm_msg){ .type = BFTM_MSG_SYNC, .attempt = boot, .incarnation = boot });
}

static void say_something(struct races *r, struct peer *p)
{
	static const u8 types[] = {
		BFTM_MSG_TRY, BFTM_MSG_TRY, BFTM_MSG_TRY, BFTM_MSG_TRY, BFTM_MSG_RELEASE,
		BFTM_MSG_RELEASE, BFTM_MSG_STAMP, BFTM_MSG_HELLO, BFTM_MSG_SYNC,
	};
	u8 type = types[races_random(sizeof(types))];
	struct bftm_msg m;
	char name[16];

	if (type == BFTM_MSG_HELLO) {
		say(r, p, (struct bftm_msg){ .type = type });
		return;
	}
	if (type == BFTM_MSG_SYNC) {
		say_sync(r, p);
		return;
	}
	/* Half of it about four locks that many wait for. */
	snprintf(name, sizeof(name), "n%u", races_random(races_random(2) ? 4 : NAMES));
	m = request(type, name, fresh());
	if (type == BFTM_MSG_TRY) {
		m.flags = races_random(4) ? 0 : BFTM_FLAG_NOQUEUE;
		m.lease_ns = BFTM_LEASE_MIN_NS;
		m.prio = races_random(4);
		m.attempt &= ~1ull;
		if (!races_random(4))
			without_lease(&m);
	}
	m.token = type == BFTM_MSG_STAMP ? 1 + races_random(1000) : 0;
	say(r, p, m);
}

static void react(struct races *r, struct peer *p, const struct bftm_msg *m)
{
	struct bftm_msg answer = {
		.type = BFTM_MSG_RELEASE, .attempt = m->attempt, .name_len = m->name_len,
	};

	memcpy(answer.name, m->name, sizeof(answer.name));
	p->epoch = m->server_epoch;
	races_add(&r->shared->heard, 1);
	races_add(&r->shared->pushed, !m->seq);
	races_add(&r->shared->granted, m->type == BFTM_MSG_FREE);
	races_add(&r->shared->lasting,
		  m->type == BFTM_MSG_FREE && m->attempt & 1);
	races_add(&r->shared->synced, m->type == BFTM_MSG_SYNCED);
	if (m->type == BFTM_MSG_INQUIRE) {
		answer.type = BFTM_MSG_YIELD;
		answer.gno = m->gno;
		say(r, p, answer);
	} else if (m->type == BFTM_MSG_FREE && races_random(2)) {
		say(r, p, answer);	/* the others are left to the timer */
	}
}

void races_traffic_locks(struct races *r, unsigned int number)
{
	struct peer p[PEERS] = {};
	struct bftm_msg m;
	unsigned int i, burst;
	char path[128];

	for (i = 0; i < PEERS; i++) {
		snprintf(path, sizeof(path), "%s/client-%u.client", r->dir,
			 RACES_CLIENT + number * PEERS + i);
		open_peer(&p[i], RACES_SERVER, r->address, path);
	}
	for (;;) {
		for (burst = 0; burst < BURST; burst++)
			say_something(r, &p[burst % PEERS]);
		for (i = 0; i < PEERS; i++)
			while (hear(&p[i], &m, 0))
				react(r, &p[i], &m);
		races_add(&r->shared->wrong, (unsigned int)failures);
		failures = 0;
		usleep(500 + races_random(2500));
	}
}
