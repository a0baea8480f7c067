// SPDX-License-Identifier: GPL-2.0
/* The lines of a recording, and their order. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ctl/ctl.h"
#include "ctl/record.h"
#include "loop/clock.h"
#include "text/json.h"
#include "text/mode.h"
#include "uapi/linux/bftmutex.h"

/* The clock of leases when it was @at by the time of day: not long ago. */
static u64 lease_clock(u64 at)
{
	struct timespec now;
	u64 day;

	clock_gettime(CLOCK_REALTIME, &now);
	day = (u64)now.tv_sec * BFTM_NS_PER_SEC + (u64)now.tv_nsec;
	return bftm_clock_ns() - (day > at ? day - at : 0);
}

static void *more(void *array, u32 count, u32 *room, size_t size)
{
	if (count < *room)
		return array;
	*room = *room ? 2 * *room : 256;
	array = realloc(array, *room * size);
	if (!array)
		exit(ctl_fail(EX_OSERR, "no memory"));
	return array;
}

static struct record_entry *entry_add(struct record *r, const char *what, u64 at, u64 t)
{
	struct record_entry *e;

	r->entry = more(r->entry, r->entries, &r->room, sizeof(*r->entry));
	e = &r->entry[r->entries++];
	*e = (struct record_entry){
		.at = at, .order = r->order++, .line = json_object_new_object(),
	};
	bftm_json_add_text(e->line, "host", r->host);
	bftm_json_add_number(e->line, "t", t);
	bftm_json_add_text(e->line, "e", what);
	return e;
}

/* The core counts modes the other way round than the interface. */
static const char *mode_text(u32 mode)
{
	return bftm_mode_name(BFTM_LOCK_NL - mode);
}

void record_clusters(const struct record *r, const struct bftm_conf *conf)
{
	const struct bftm_conf_cluster *c;
	struct json_object *line;

	for (c = conf->cluster; c < conf->cluster + conf->count; c++) {
		line = json_object_new_object();
		bftm_json_add_text(line, "host", r->host);
		bftm_json_add_text(line, "e", "cluster");
		bftm_json_add_number(line, "cluster", c->id);
		bftm_json_add_number(line, "servers", c->n);
		bftm_json_add_number(line, "b", c->b);
		bftm_json_add_text(line, "protocol", c->m ? "sigma" : "backoff");
		if (c->m)
			bftm_json_add_number(line, "m", c->m);
		else
			bftm_json_add_text(line, "m", NULL);
		bftm_json_add_number(line, "lease_ns", c->lease_ns);
		bftm_json_add_number(line, "lease_max_ns", c->lease_max_ns);
		bftm_json_add_number(line, "rho_ppm", c->rho_ppm);
		ctl_print_json_line(line);
		json_object_put(line);
	}
	fflush(stdout);
}

static struct record_asker *asker_of(struct record *r, u64 attempt)
{
	return &r->asker[(attempt ^ attempt >> 32) & (RECORD_ASKERS - 1)];
}

void record_datagram(struct record *r, bool sends, const struct bftm_msg *msg, u64 at)
{
	struct record_entry *e = entry_add(r, sends ? "send" : "recv", at, lease_clock(at));
	bool try = msg->type == BFTM_MSG_TRY;

	e->attempt = msg->attempt;
	e->release = sends && msg->type == BFTM_MSG_RELEASE;
	if (sends && try)
		*asker_of(r, msg->attempt) = (struct record_asker){ msg->attempt, msg->client };
	bftm_json_add_text(e->line, "type", bftm_msg_name(msg->type));
	bftm_json_add_number(e->line, "cluster", msg->cluster);
	bftm_json_add_number(e->line, "client", msg->client);
	bftm_json_add_number(e->line, "server", msg->server);
	bftm_json_add_number(e->line, "seq", msg->seq);
	bftm_json_add_number(e->line, "attempt", msg->attempt);
	bftm_json_add_number(e->line, "k", msg->k);
	bftm_json_add_number(e->line, "gno", msg->gno);
	bftm_json_add_number(e->line, "epoch", msg->server_epoch);
	bftm_json_add_text(e->line, "mode", mode_text(msg->mode));
	bftm_json_add_text(e->line, "kept", mode_text(try || msg->type == BFTM_MSG_YIELD ? msg->arg :
						      BFTM_MODE_NL));
	bftm_json_add_number(e->line, "position", msg->position);
	if (try && msg->lease_ns != BFTM_LEASE_NONE)
		bftm_json_add_number(e->line, "lease_ns", msg->lease_ns);
	if (msg->name_len)
		bftm_json_add_bytes(e->line, "name", msg->name, msg->name_len);
}

static struct record_held *held_of(struct record *r, u64 id)
{
	u32 i;

	for (i = 0; i < r->helds; i++)
		if (r->held[i].id == id)
			return &r->held[i];
	return NULL;
}

/* An end was before the first RELEASE of its attempt left, however late the event was read. */
static u64 before_release(const struct record *r, u64 attempt, u64 at)
{
	u32 i;

	for (i = 0; i < r->entries; i++)
		if (r->entry[i].release && r->entry[i].attempt == attempt && r->entry[i].at <= at)
			at = r->entry[i].at - 1;
	return at;
}

static void event_add(struct record *r, const char *what, const struct record_lock *lock,
		      const struct record_held *held, u64 at, u64 t)
{
	struct record_entry *e = entry_add(r, what, at, t);

	bftm_json_add_number(e->line, "client", held->client);
	bftm_json_add_number(e->line, "attempt", held->attempt);
	bftm_json_add_text(e->line, "mode", bftm_mode_name(lock->mode));
	bftm_json_add_bytes(e->line, "name", lock->name, lock->name_len);
}

/* A lock is held: for the first time, or still, or in another mode. */
static void held_event(struct record *r, const struct record_lock *lock, u64 at)
{
	struct record_held *held = held_of(r, lock->id);

	if (!held) {
		r->held = more(r->held, r->helds, &r->helds_room, sizeof(*r->held));
		held = &r->held[r->helds++];
	}
	*held = (struct record_held){
		.id = lock->id, .attempt = lock->attempt,
		.client = asker_of(r, lock->attempt)->attempt == lock->attempt ?
			  asker_of(r, lock->attempt)->client : 0,
	};
	event_add(r, lock->renewed ? "renewed" : "won", lock, held, at, lease_clock(at));
}

void record_event(struct record *r, const struct record_lock *lock, u64 at)
{
	struct record_held *held = held_of(r, lock->id);
	u64 t, deadline;

	if (lock->state == BFTM_STATE_HELD && lock->attempt) {
		held_event(r, lock, at);
		return;
	}
	if (!held || lock->state == BFTM_STATE_HELD)
		return;
	at = before_release(r, held->attempt, at);
	t = lease_clock(at);
	/* The module ends a lock by itself at the deadline, and tells so a little later. */
	deadline = lock->deadline_ns && lock->deadline_ns != BFTM_LEASE_NONE ?
		   bftm_clock_from_boottime(lock->deadline_ns) : BFTM_LEASE_NONE;
	event_add(r, lock->state == BFTM_STATE_IDLE ? "released" : "lost", lock, held, at,
		  t < deadline ? t : deadline);
	*held = r->held[--r->helds];
}

static int by_time(const void *a, const void *b)
{
	const struct record_entry *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* No key is ever missing. */
static void line_fill(struct json_object *line)
{
	static const char *const keys[] = {
		"type", "cluster", "client", "server", "seq", "attempt", "k", "gno", "epoch", "mode",
		"kept", "position", "lease_ns", "name",
	};
	u32 i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!json_object_object_get_ex(line, keys[i], NULL))
			bftm_json_add_text(line, keys[i], NULL);
}

void record_flush(struct record *r, u64 until)
{
	u32 i, j;

	if (r->entries)
		qsort(r->entry, r->entries, sizeof(*r->entry), by_time);
	for (i = 0; i < r->entries && r->entry[i].at <= until; i++) {
		bftm_json_add_number(r->entry[i].line, "n", ++r->n);
		bftm_json_add_number(r->entry[i].line, "wall_ns", r->entry[i].at);
		line_fill(r->entry[i].line);
		ctl_print_json_line(r->entry[i].line);
		json_object_put(r->entry[i].line);
	}
	for (j = i; j < r->entries; j++)
		r->entry[j - i] = r->entry[j];
	r->entries -= i;
	if (i)
		fflush(stdout);
}
