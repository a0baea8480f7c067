// SPDX-License-Identifier: GPL-2.0
/*
 * Worlds with modes that need not be told apart. All that concerns a server is one column, and each
 * column that was ever seen has a number. A world is the numbers of its columns, sorted, and those
 * of its clients: servers are interchangeable, and clients, whose priorities differ, are not.
 */
#include "modes.h"
#include "selftests/core/model/store.h"

#define NUMBERED_BYTES	(1ull << 32)	/* of address space, for all columns */

static struct store columns, askers;

/* Is a send told apart from the next, by its time or as the last before a mode was given up? */
static bool differs(const struct m_asker *m, u32 k)
{
	return k == m->sends || m->age[k - 1] != m->age[k] || k + 1 == m->cut_k;
}

/* FREE for a send counts as one for the last that is not told apart from it. */
static void rename_sends(const struct m_asker *m, struct m_share *s)
{
	u32 g, k;

	for (k = 1; k < m->sends; k++) {
		for (g = 0; g < GRANTS && !differs(m, k); g++) {
			s->flight[g][k] |= s->flight[g][k - 1];
			s->flight[g][k - 1] = 0;
		}
		if (s->known_k == k && m->age[k - 1] == m->age[k])
			s->known_k++;
	}
}

/* Modes that one of these covers, but for themselves. */
static u8 lesser(u8 modes, bool all)
{
	u8 set = 0;
	u32 m, o;

	for (m = BFTM_MODE_CR; m < BFTM_MODES; m++)
		for (o = BFTM_MODE_CR; o < BFTM_MODES && modes >> m & 1; o++)
			if (bftm_mode_covers(m, o) && (all || m != o))
				set |= (u8)(1u << o);
	return set;
}

/* FREE for a later grant, a later send and a stronger mode tells more. */
static void drop_lesser(struct m_share *s)
{
	u32 g, k, i, j;

	for (g = 0; g < GRANTS; g++)
		for (k = 0; k < MODES_SENDS; k++)
			for (i = g; i < GRANTS && s->flight[g][k]; i++)
				for (j = k; j < MODES_SENDS; j++)
					s->flight[g][k] &= (u8)~lesser(s->flight[i][j],
								       i != g || j != k);
}

/* Numbers follow each other, and those of which no message can speak any more are left out. */
static void renumber(struct m_share *s)
{
	const struct m_share old = *s;
	u8 name[GRANTS + 1] = { 0 }, next = 0;
	u32 g;

	memset(s->flight, 0, sizeof(s->flight));
	for (g = 1; g <= GRANTS; g++) {
		u8 in_flight = 0;
		u32 k;

		for (k = 0; k < MODES_SENDS; k++)
			in_flight |= old.flight[g - 1][k];
		name[g] = next;
		if (!in_flight && (g != old.grant || !old.mode))
			continue;
		name[g] = ++next;
		memcpy(s->flight[next - 1], old.flight[g - 1], sizeof(old.flight[g - 1]));
	}
	s->granted = name[old.granted];
	s->yielded = name[old.yielded];
	s->grant = old.mode ? name[old.grant] : next;
}

/* R3: FREE for a grant that was yielded does not count, as worlds without modes show. */
static void drop_yielded(struct m_share *s)
{
	u32 g;

	for (g = 0; g < s->yielded && uses(3); g++)
		memset(s->flight[g], 0, sizeof(s->flight[g]));
}

void modes_settle(struct modes_world *w)
{
	const s32 over = -(s32)BFTM_TICK_NS;	/* by an old reading too */
	u32 u, c, k;

	for (c = 0; c < plan.clients; c++) {
		struct m_asker *m = &w->client[c];

		for (k = 0; k < m->sends; k++)
			if (!node_useful(c, m->age[k]))
				m->age[k] = 2 * (s32)node_lease(c);
		for (u = 0; u < correct_servers(); u++) {
			struct m_share *s = &w->share[u][c];

			if (s->mode && s->left < over)
				s->left = 2 * over;
			rename_sends(m, s);
			drop_yielded(s);
			drop_lesser(s);
			renumber(s);
		}
	}
}

void modes_setup(void)
{
	store_init(&columns, plan.clients * sizeof(struct m_share), NUMBERED_BYTES);
	store_init(&askers, sizeof(struct m_asker), NUMBERED_BYTES);
}

size_t modes_pack_length(void)
{
	return (plan.n + plan.clients) * sizeof(u32) + 2;
}

static void sort_numbers(u32 *number, u32 count)
{
	u32 i, j, x;

	for (i = 1; i < count; i++) {
		x = number[i];
		for (j = i; j && number[j - 1] > x; j--)
			number[j] = number[j - 1];
		number[j] = x;
	}
}

void modes_pack(const void *world, u8 *packed)
{
	const struct modes_world *w = world;
	u32 number[SERVERS_MAX + CLIENTS_MAX], u, c;

	for (u = 0; u < plan.n; u++)
		number[u] = store_number(&columns, (const u8 *)w->share[u]);
	sort_numbers(number, correct_servers());
	sort_numbers(number + correct_servers(), plan.liars);
	for (c = 0; c < plan.clients; c++)
		number[plan.n + c] = store_number(&askers, (const u8 *)&w->client[c]);
	memcpy(packed, number, (plan.n + plan.clients) * sizeof(u32));
	packed[modes_pack_length() - 2] = w->instant;
	packed[modes_pack_length() - 1] = w->fault;
}

void modes_unpack(const u8 *packed, void *world)
{
	struct modes_world *w = world;
	u32 number[SERVERS_MAX + CLIENTS_MAX], u, c;

	memset(w, 0, sizeof(*w));
	memcpy(number, packed, (plan.n + plan.clients) * sizeof(u32));
	for (u = 0; u < plan.n; u++)
		memcpy(w->share[u], store_get(&columns, number[u]), columns.length);
	for (c = 0; c < plan.clients; c++)
		memcpy(&w->client[c], store_get(&askers, number[plan.n + c]), askers.length);
	w->instant = packed[modes_pack_length() - 2];
	w->fault = packed[modes_pack_length() - 1];
}
