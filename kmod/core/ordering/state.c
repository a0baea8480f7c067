// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "core/ordering/state.h"

static void read_head(const u8 *body, struct bftm_state_head *ret)
{
	memcpy(ret, body, sizeof(*ret));
}

static u32 clients_of(const u8 *body)
{
	struct bftm_state_head head;

	if (!body)
		return 0;
	read_head(body, &head);
	return le32_to_cpu(head.clients);
}

u32 bftm_state_clients(const u8 *body)
{
	return clients_of(body);
}

static void read_entry(const u8 *body, u32 i, struct bftm_state_client *ret)
{
	memcpy(ret, body + sizeof(struct bftm_state_head) + i * sizeof(*ret), sizeof(*ret));
}

static void read_client(const u8 *body, u32 i, struct bftm_applied *ret)
{
	struct bftm_state_client c;

	read_entry(body, i, &c);
	ret->op = le64_to_cpu(c.op);
	ret->client = le32_to_cpu(c.client);
	ret->gone = le32_to_cpu(c.response_len) == BFTM_RESPONSE_GONE;
	ret->len = ret->gone ? 0 : le32_to_cpu(c.response_len);
	ret->response = ret->gone ? NULL : body + le32_to_cpu(c.response_at);
}

bool bftm_state_ok(const u8 *body, u32 len, u64 version)
{
	u64 begin, end, at, last = 0;
	struct bftm_state_head head;
	u32 i;

	if (len < sizeof(head) || len > BFTM_STATE_MAX)
		return false;
	read_head(body, &head);
	begin = sizeof(head) + (u64)le32_to_cpu(head.clients) * sizeof(struct bftm_state_client);
	if (le64_to_cpu(head.version) != version || !version ||
	    begin + le32_to_cpu(head.app_len) > len)
		return false;
	end = len - le32_to_cpu(head.app_len);
	for (i = 0; i < le32_to_cpu(head.clients); i++) {
		struct bftm_state_client c;

		read_entry(body, i, &c);
		if (i && le32_to_cpu(c.client) <= last)
			return false;
		last = le32_to_cpu(c.client);
		at = le32_to_cpu(c.response_at);	/* no pointer yet: it may wrap */
		if (le32_to_cpu(c.response_len) == BFTM_RESPONSE_GONE ? at != 0 :
		    at < begin || at + le32_to_cpu(c.response_len) > end)
			return false;
	}
	return true;
}

bool bftm_state_find(const u8 *body, u32 client, struct bftm_applied *ret)
{
	u32 low = 0, high = clients_of(body), middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		read_client(body, middle, ret);
		if (ret->client == client)
			return true;
		if (ret->client < client)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

const u8 *bftm_state_app(const u8 *body, u32 len, u32 *app_len)
{
	struct bftm_state_head head;

	*app_len = 0;
	if (!body)
		return NULL;
	read_head(body, &head);
	*app_len = le32_to_cpu(head.app_len);
	return body + len - *app_len;
}

u8 bftm_state_type(const u8 *body, u32 len, const u8 **ret)
{
	u32 app_len, i;

	*ret = bftm_state_app(body, len, &app_len);
	for (i = 0; i < app_len && i < BFTM_TYPE_NAME_MAX && (*ret)[i]; i++)
		;
	return (u8)i;
}

/* Both are ascending: one after the other, and a newer one stands for an older one. */
struct merge {
	const u8 *old;
	const struct bftm_applied *applied;
	u32 olds;
	u32 count;
	u32 i;		/* next one of @old */
	u32 k;		/* and of @applied */
};

/* Return: false at the end. @is_old: it comes from the state before. */
static bool state_next(struct merge *m, struct bftm_applied *ret, bool *is_old)
{
	if (m->i == m->olds && m->k == m->count)
		return false;
	if (m->i < m->olds)
		read_client(m->old, m->i, ret);
	*is_old = m->i < m->olds &&
		  (m->k == m->count || m->applied[m->k].client > ret->client);
	if (*is_old) {
		m->i++;
		return true;
	}
	if (m->i < m->olds && m->applied[m->k].client == ret->client)
		m->i++;
	*ret = m->applied[m->k++];
	return true;
}

/* Bytes of responses when old ones of so many bytes and more give way. */
static u64 kept(struct merge m, u32 limit, u32 *clients)
{
	struct bftm_applied a;
	u64 bytes = 0;
	bool is_old;

	for (*clients = 0; state_next(&m, &a, &is_old); ++*clients)
		if (!is_old || a.len < limit)
			bytes += a.len;
	return bytes;
}

/* The greatest such limit that leaves no more than @room; 0 when there is none. */
static u32 find_limit(struct merge m, u64 room)
{
	u32 low = 0, high = BFTM_STATE_MAX + 1, middle = high, clients;

	while (low < high) {	/* mostly all fits, at once */
		if (kept(m, middle, &clients) <= room)
			low = middle;
		else
			high = middle - 1;
		middle = low + (high - low + 1) / 2;
	}
	return low;
}

static u32 write_client(u8 *body, u32 i, u32 at, const struct bftm_applied *a)
{
	struct bftm_state_client c = {
		.client = cpu_to_le32(a->client),
		.response_len = cpu_to_le32(a->gone ? BFTM_RESPONSE_GONE : a->len),
		.op = cpu_to_le64(a->op),
		.response_at = cpu_to_le32(a->gone ? 0 : at),
	};

	memcpy(body + sizeof(struct bftm_state_head) + i * sizeof(c), &c, sizeof(c));
	if (a->len)
		memcpy(body + at, a->response, a->len);
	return at + a->len;
}

/* @spare: bytes for some of those that are just as long as @limit. */
static u32 write_clients(struct merge m, u32 limit, u64 spare, u8 *body, u32 at)
{
	struct bftm_applied a;
	bool is_old;
	u32 i;

	for (i = 0; state_next(&m, &a, &is_old); i++) {
		if (is_old && a.len == limit && spare >= limit) {
			spare -= limit;
		} else if (is_old && a.len >= limit) {
			a.len = 0;
			a.gone = true;
		}
		at = write_client(body, i, at, &a);
	}
	return at;
}

u32 bftm_state_make(const u8 *old, u64 version, const struct bftm_applied *applied,
		    u32 count, const u8 *app, u32 app_len, u8 *ret, u32 room)
{
	struct merge m = {
		.old = old, .applied = applied, .olds = clients_of(old), .count = count,
	};
	u32 clients, limit, at;
	u64 begin, left;
	struct bftm_state_head head = {
		.version = cpu_to_le64(version),
		.app_len = cpu_to_le32(app_len),
	};

	kept(m, 0, &clients);
	begin = sizeof(head) + (u64)clients * sizeof(struct bftm_state_client);
	if (begin + app_len > room)
		return 0;
	left = room - begin - app_len;
	limit = find_limit(m, left);
	if (!limit)
		return 0;
	left -= kept(m, limit, &clients);
	at = write_clients(m, limit, left, ret, (u32)begin);
	head.clients = cpu_to_le32(clients);
	memcpy(ret, &head, sizeof(head));
	if (app_len)
		memcpy(ret + at, app, app_len);
	return at + app_len;
}
