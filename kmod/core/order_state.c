// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "order_state.h"

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
	ret->len = le32_to_cpu(c.response_len);
	ret->response = body + le32_to_cpu(c.response_at);
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
		if (at < begin || at + le32_to_cpu(c.response_len) > end)
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

/* Where the next client and the next response of a new body go. */
struct writer {
	u8 *body;
	u64 client_at;
	u64 response_at;
	u64 end;
};

static void write_client(struct writer *w, const struct bftm_applied *a)
{
	struct bftm_state_client c = {
		.client = cpu_to_le32(a->client),
		.response_len = cpu_to_le32(a->len),
		.op = cpu_to_le64(a->op),
		.response_at = cpu_to_le32((u32)w->response_at),
	};

	if (w->response_at + a->len <= w->end) {
		memcpy(w->body + w->client_at, &c, sizeof(c));
		if (a->len)
			memcpy(w->body + w->response_at, a->response, a->len);
	}
	w->client_at += sizeof(c);
	w->response_at += a->len;
}

/* Both are ascending: merge them, and a newer entry stands for an older one. */
static u32 merge(const u8 *old, const struct bftm_applied *applied, u32 count,
		 struct writer *w)
{
	u32 i = 0, k = 0, n = 0, olds = clients_of(old);
	struct bftm_applied a = {};

	while (i < olds || k < count) {
		if (i < olds)
			read_client(old, i, &a);
		if (i == olds || (k < count && applied[k].client <= a.client)) {
			if (i < olds && applied[k].client == a.client)
				i++;
			a = applied[k++];
		} else {
			i++;
		}
		if (w)
			write_client(w, &a);
		n++;
	}
	return n;
}

u32 bftm_state_make(const u8 *old, u64 version, const struct bftm_applied *applied,
		    u32 count, const u8 *app, u32 app_len, u8 *ret, u32 room)
{
	u32 clients = merge(old, applied, count, NULL);
	struct bftm_state_head head = {
		.version = cpu_to_le64(version),
		.clients = cpu_to_le32(clients),
		.app_len = cpu_to_le32(app_len),
	};
	struct writer w = {
		.body = ret,
		.client_at = sizeof(head),
		.response_at = sizeof(head) + (u64)clients * sizeof(struct bftm_state_client),
		.end = room,
	};

	if (w.response_at > room)
		return 0;
	merge(old, applied, count, &w);
	if (w.response_at + app_len > room)
		return 0;
	memcpy(ret, &head, sizeof(head));
	if (app_len)
		memcpy(ret + w.response_at, app, app_len);
	return (u32)(w.response_at + app_len);
}
