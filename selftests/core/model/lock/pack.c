// SPDX-License-Identifier: GPL-2.0
/*
 * One spelling for all worlds that differ in names only. Correct servers are
 * interchangeable: each becomes one number that holds its whole state, with
 * its clock and what each client knows of it, and the numbers are sorted. So
 * are clients, with their clocks and leases: every order of them is tried, and
 * the least spelling taken. Liars have no state but what clients know of them,
 * and are sorted likewise.
 *
 * Times take few values; each gets a small number when it is first seen.
 */
#include <err.h>

#include "world.h"

#define TIME_BITS	6
#define KNOWN_BITS	7
#define SERVER_BITS	(1 + 2 + 2 + 2 * TIME_BITS)
#define SHARE_BITS	(KNOWN_BITS + plan.sends + 2)	/* of each client */
#define QUEUE_BITS	2				/* likewise */
#define HELD_BITS	3				/* of the owner's send */
#define PHASE_BITS	3
#define CLIENT_BITS	(PHASE_BITS + 2 + 3 + 1)

/** struct names - a dictionary */
struct names {
	u32 count, room;
	int64_t value[1 << KNOWN_BITS];
};

static struct names times = { .room = 1 << TIME_BITS };
static struct names knowledge = { .room = 1 << KNOWN_BITS };

static u64 name(struct names *names, int64_t value)
{
	u32 i;

	for (i = 0; i < names->count; i++)
		if (names->value[i] == value)
			return i;
	if (i == names->room)
		errx(2, "more than %u different times: widen the fields in pack.c", i);
	names->value[names->count++] = value;
	return i;
}

static u64 name_known(const struct m_known *known)
{
	return name(&knowledge, (int64_t)known->age << 16 | known->type << 8 |
				known->k);
}

static void known_name(u64 i, struct m_known *known)
{
	int64_t value = knowledge.value[i];

	known->age = (s32)(value >> 16);
	known->type = (u8)(value >> 8);
	known->k = (u8)value;
}

/* A value that does not fit would make two worlds look the same. */
static void append(u64 *key, u32 bits, u64 value)
{
	if (value >> bits || *key >> (64 - bits))
		errx(2, "%llu does not fit: widen its field in pack.c, or ask for less",
		     (unsigned long long)value);
	*key = *key << bits | value;
}

static const u8 orders[][CLIENTS_MAX] = {
	{ 0, 1, 2 }, { 1, 0, 2 }, { 0, 2, 1 },
	{ 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
};

static u32 order_count(void)
{
	return plan.clients == 1 ? 1 : plan.clients == 2 ? 2 : 6;
}

/* Clients may not change places with one that wants another lease, or goes first. */
static bool allowed(const u8 *order)
{
	return (!plan.first_m || !order[0]) &&
	       (!plan.uneven || order[plan.clients - 1] == plan.clients - 1) &&
	       (!plan.queue || !order[0]);
}

static u64 spell_server(const struct world *w, u32 u, const u8 *order)
{
	const struct m_server *s = &w->server[u];
	u64 key = s->fast;
	u32 i, c;

	/* Owners by their place in the order. */
	for (i = 0; i < plan.clients && order[i] + 1 != s->owner; i++)
		;
	append(&key, 2, s->owner ? i + 1 : 0);
	append(&key, 2, s->attempt);
	if (plan.held)
		append(&key, HELD_BITS, s->k);
	append(&key, TIME_BITS, name(&times, s->left));
	append(&key, TIME_BITS, name(&times, s->quarantine));
	for (i = 0; i < plan.clients; i++) {
		c = order[i];
		append(&key, KNOWN_BITS, name_known(&w->client[c].known[u]));
		append(&key, plan.sends, s->flight[c]);
		append(&key, 2, s->tomb[c]);
		if (!plan.queue)
			continue;
		/* Of liars, which have no queue, what clients know. */
		append(&key, 2, is_liar(u) ? w->client[c].known[u].yielded : s->yielded[c]);
	}
	return key;
}

static u64 take(u64 *key, u32 bits)
{
	u64 value = *key & ((1ull << bits) - 1);

	*key >>= bits;
	return value;
}

static void read_server(u64 key, struct world *w, u32 u)
{
	struct m_server *s = &w->server[u];
	u8 yielded[CLIENTS_MAX];
	u32 c;

	for (c = plan.clients; c--; ) {
		yielded[c] = plan.queue ? (u8)take(&key, 2) : 0;
		s->tomb[c] = (u8)take(&key, 2);
		s->flight[c] = (u8)take(&key, plan.sends);
		known_name(take(&key, KNOWN_BITS), &w->client[c].known[u]);
		if (plan.queue && is_liar(u))
			w->client[c].known[u].yielded = yielded[c];
		else if (plan.queue)
			s->yielded[c] = yielded[c];
	}
	s->quarantine = (s32)times.value[take(&key, TIME_BITS)];
	s->left = (s32)times.value[take(&key, TIME_BITS)];
	s->k = plan.held ? (u8)take(&key, HELD_BITS) : 0;
	s->attempt = (u8)take(&key, 2);
	s->owner = (u8)take(&key, 2);
	s->fast = (u8)key;
}

static u64 spell_client(const struct m_client *m)
{
	u64 key = m->phase;
	u32 k;

	append(&key, 2, m->attempt);
	append(&key, 3, m->sends);
	append(&key, 1, m->fast);
	for (k = 0; k < plan.sends; k++)
		append(&key, TIME_BITS, name(&times, m->age[k]));
	return key;
}

static void read_client(u64 key, struct m_client *m)
{
	u32 k;

	for (k = plan.sends; k--; )
		m->age[k] = (s32)times.value[take(&key, TIME_BITS)];
	m->fast = (u8)take(&key, 1);
	m->sends = (u8)take(&key, 3);
	m->attempt = (u8)take(&key, 2);
	m->phase = (u8)key;
}

static size_t server_bytes(void)
{
	return (SERVER_BITS + (plan.held ? HELD_BITS : 0) +
		plan.clients * (SHARE_BITS + (plan.queue ? QUEUE_BITS : 0)) + 7) / 8;
}

static size_t client_bytes(void)
{
	return (CLIENT_BITS + plan.sends * TIME_BITS + 7) / 8;
}

size_t world_pack_length(void)
{
	return plan.n * server_bytes() + plan.clients * client_bytes() + 1;
}

static u8 *put(u8 *at, u64 key, size_t bytes)
{
	while (bytes--) {
		*at++ = (u8)key;
		key >>= 8;
	}
	if (key)
		errx(2, "a key is longer than its bytes: see the widths in pack.c");
	return at;
}

static const u8 *get(const u8 *at, u64 *key, size_t bytes)
{
	size_t i;

	*key = 0;
	for (i = 0; i < bytes; i++)
		*key |= (u64)*at++ << 8 * i;
	return at;
}

static void sort(u64 *key, u32 count)
{
	u32 i, j;

	for (i = 1; i < count; i++) {
		u64 x = key[i];

		for (j = i; j && key[j - 1] > x; j--)
			key[j] = key[j - 1];
		key[j] = x;
	}
}

static void spell(const struct world *w, const u8 *order, u8 *at)
{
	u64 key[SERVERS_MAX];
	u32 u, i, correct = correct_servers();

	for (u = 0; u < plan.n; u++)
		key[u] = spell_server(w, u, order);
	sort(key, correct);
	sort(key + correct, plan.liars);
	for (u = 0; u < plan.n; u++)
		at = put(at, key[u], server_bytes());
	for (i = 0; i < plan.clients; i++)
		at = put(at, spell_client(&w->client[order[i]]), client_bytes());
	*at = (u8)(w->instant << 4 | w->restarts << 2 | w->fault);
}

void world_pack(const void *world, u8 *packed)
{
	u8 other[PACKED_MAX];
	u32 i;

	spell(world, orders[0], packed);
	for (i = 1; i < order_count(); i++) {
		if (!allowed(orders[i]))
			continue;
		spell(world, orders[i], other);
		if (memcmp(other, packed, world_pack_length()) < 0)
			memcpy(packed, other, world_pack_length());
	}
}

void world_unpack(const u8 *packed, void *world)
{
	struct world *w = world;
	u64 key;
	u32 u, c;

	memset(w, 0, sizeof(*w));
	for (u = 0; u < plan.n; u++) {
		packed = get(packed, &key, server_bytes());
		read_server(key, w, u);
	}
	for (c = 0; c < plan.clients; c++) {
		packed = get(packed, &key, client_bytes());
		read_client(key, &w->client[c]);
	}
	w->instant = *packed >> 4;
	w->restarts = *packed >> 2 & 3;
	w->fault = *packed & 3;
}
