// SPDX-License-Identifier: GPL-2.0
/* The objects of a cluster: what its servers list, page by page, merged and judged by name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/ordering/listing.h"
#include "core/quorum.h"
#include "core/servers.h"
#include "cluster/cluster.h"
#include "order/ordering.h"
#include "text/json.h"

/* At a time; each takes a few megabytes at most, and more where servers lie. */
#define LISTINGS_MAX	8u

/**
 * struct listing - one that somebody waits for
 * @others:    among all that are under way
 * @cluster:   it counts this among its acquires
 * @core:      which servers have told, and what is asked next
 * @first_seq: what was asked for it has higher sequence numbers
 * @limit_ns:  when it is given up
 * @timer:     when the core is due
 * @list:      the data of each server's pages, one after the other
 * @tell:      called with the result
 * @arg:       for @tell
 */
struct listing {
	TAILQ_ENTRY(listing) others;
	struct bftm_cluster *cluster;
	struct bftm_listing core;
	u64 first_seq;
	u64 limit_ns;
	struct bftm_timer timer;
	struct bftm_bytes list[BFTM_SERVERS_MAX];
	bftm_listed_fn *tell;
	int arg;
};

static TAILQ_HEAD(, listing) listings = TAILQ_HEAD_INITIALIZER(listings);
static u32 listings_count;

/** struct line - what server @u tells of a name */
struct line {
	struct bftm_listed listed;
	u32 u;
};

static void ask_servers(struct listing *l, u32 to)
{
	struct bftm_order_msg msg = { .type = BFTM_ORDER_LIST, .room = BFTM_ORDER_ROOM_MAX };
	u32 u;

	for (u = 0; u < l->cluster->conf.n; u++) {
		if (!(to >> u & 1))
			continue;
		msg.cursor = l->core.server[u].cursor;
		bftm_cluster_send_order(l->cluster, 1u << u, &msg);
	}
}

static void listing_free(struct listing *l)
{
	u32 u;

	TAILQ_REMOVE(&listings, l, others);
	listings_count--;
	l->cluster->acquires.count--;
	bftm_timer_stop(&l->timer);
	for (u = 0; u < BFTM_SERVERS_MAX; u++)
		bftm_bytes_free(&l->list[u]);
	free(l);
}

static int compare_names(const struct bftm_listed *a, const struct bftm_listed *b)
{
	u8 len = a->name_len < b->name_len ? a->name_len : b->name_len;
	int r = memcmp(a->name, b->name, len);

	return r ? r : a->name_len - b->name_len;
}

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int r = compare_names(&x->listed, &y->listed);

	return r ? r : (int)x->u - (int)y->u;
}

/* All lines of the servers whose lists count, by name. Return: NULL without memory. */
static struct line *lines_of(const struct listing *l, u32 *ret_count)
{
	struct line *line;
	u32 u, at, count = 0;

	for (u = 0; u < l->cluster->conf.n; u++)
		count += l->core.server[u].objects;
	line = calloc(count + 1, sizeof(*line));
	if (!line)
		return NULL;
	for (*ret_count = 0, u = 0; u < l->cluster->conf.n; u++)
		for (at = 0; l->core.told >> u & 1 && at < l->list[u].len; ++*ret_count) {
			line[*ret_count].u = u;
			at += bftm_listed_get(l->list[u].data + at, l->list[u].len - at,
					      &line[*ret_count].listed);
		}
	qsort(line, *ret_count, sizeof(*line), compare_lines);
	return line;
}

/* The lines of one name, which each server has once: a second one is a liar's. */
static u32 same_name(const struct line *line, u32 left, struct bftm_listed ret[BFTM_SERVERS_MAX],
		     u32 *ret_count)
{
	u32 i;

	for (*ret_count = 0, i = 0; i < left; i++) {
		if (compare_names(&line[i].listed, &line[0].listed))
			break;
		if (!i || line[i].u != line[i - 1].u)
			ret[(*ret_count)++] = line[i].listed;
	}
	return i;
}

static struct json_object *describe_line(const struct bftm_listed *said, u32 count, u32 b)
{
	struct json_object *j;
	enum bftm_existence exists;
	u64 version = 0;
	u32 i = 0;

	exists = bftm_listing_judge(said, count, b, &version, &i);
	if (exists == BFTM_EXISTS_NOT)
		return NULL;
	j = json_object_new_object();
	/* NOLINTNEXTLINE: same_name() has found one at least */
	bftm_json_add_bytes(j, "name", said->name, said->name_len);
	json_object_object_add(j, "type", exists == BFTM_EXISTS_UNSURE ? NULL :
			       bftm_json_bytes(said[i].type, said[i].type_len));
	bftm_json_add_number(j, "version", version);
	return j;
}

static struct json_object *describe_listing(const struct listing *l)
{
	struct json_object *answer = json_object_new_object(), *objects, *object;
	struct bftm_listed said[BFTM_SERVERS_MAX];
	u32 count, at, same, servers;
	struct line *line = lines_of(l, &count);

	if (!line) {
		bftm_json_add_text(answer, "error", "no memory");
		bftm_json_add_number(answer, "errno", ENOMEM);
		return answer;
	}
	objects = json_object_new_array();
	for (at = 0; at < count; at += same) {
		same = same_name(line + at, count - at, said, &servers);
		object = describe_line(said, servers, l->cluster->conf.b);
		if (object)
			json_object_array_add(objects, object);
	}
	free(line);
	json_object_object_add(answer, "objects", objects);
	bftm_json_add_number(answer, "servers", l->cluster->conf.n);
	bftm_json_add_number(answer, "told", bftm_count(l->core.told));
	bftm_json_add_bool(answer, "complete", bftm_listing_complete(&l->core, &l->cluster->order_cfg));
	return answer;
}

static struct json_object *describe_error(const char *text, int error)
{
	struct json_object *answer = json_object_new_object();

	bftm_json_add_text(answer, "error", text);
	bftm_json_add_number(answer, "errno", (u64)error);
	return answer;
}

static void listing_end(struct listing *l, struct json_object *answer)
{
	l->tell(l->arg, answer);
	listing_free(l);
}

/* Ends it if it is over, or waits for what comes next. */
static void listing_look(struct listing *l)
{
	const struct bftm_order_cfg *cfg = &l->cluster->order_cfg;
	u64 now = bftm_now(), due;

	switch (bftm_listing_verdict(&l->core, cfg, now)) {
	case BFTM_LISTING_DONE:
		bftm_order_totals.listed++;
		listing_end(l, describe_listing(l));
		return;
	case BFTM_LISTING_FEW:
		listing_end(l, describe_error("too few servers answer", ENETUNREACH));
		return;
	case BFTM_LISTING_ON:
		break;
	}
	if (now >= l->limit_ns) {
		listing_end(l, describe_error("the time is over", ETIMEDOUT));
		return;
	}
	due = bftm_listing_due(&l->core, cfg);
	bftm_timer_arm(&l->timer, due < l->limit_ns ? due : l->limit_ns);
}

static void listing_wake(struct bftm_timer *timer)
{
	struct listing *l = container_of(timer, struct listing, timer);

	ask_servers(l, bftm_listing_wake(&l->core, &l->cluster->order_cfg, bftm_now()));
	listing_look(l);
}

int bftm_listing_start(struct bftm_cluster *cl, u64 limit_ns, bftm_listed_fn *tell, int arg)
{
	struct listing *l;

	if (!bftm_cluster_orders(cl))
		return -EPROTONOSUPPORT;
	l = listings_count < LISTINGS_MAX ? calloc(1, sizeof(*l)) : NULL;
	if (!l)
		return -EAGAIN;
	listings_count++;
	TAILQ_INSERT_TAIL(&listings, l, others);
	l->cluster = cl;
	cl->acquires.count++;
	l->limit_ns = bftm_now() + limit_ns;
	l->first_seq = bftm_identity_seq(cl->identity);
	l->timer.fire = listing_wake;
	l->tell = tell;
	l->arg = arg;
	bftm_listing_begin(&l->core, &cl->order_cfg, bftm_now());
	ask_servers(l, bftm_cluster_everyone(cl));
	listing_look(l);
	return 0;
}

/* @page: what becomes of @msg of server @u, NULL: it said nothing. False: the listing is over. */
static bool obey(struct listing *l, u32 u, enum bftm_listing_page page,
		 const struct bftm_order_msg *msg)
{
	if (page == BFTM_PAGE_ANEW)
		l->list[u].len = 0;
	if (page == BFTM_PAGE_KEPT && msg && msg->data_len &&
	    !bftm_bytes_add(&l->list[u], msg->data, msg->data_len)) {
		listing_end(l, describe_error("no memory", ENOMEM));
		return false;
	}
	if (page != BFTM_PAGE_IGNORED)
		ask_servers(l, 1u << u & ~(l->core.told | l->core.silent));
	return true;
}

static void take_page(struct listing *l, u32 u, const struct bftm_order_msg *msg)
{
	if (msg->seq > l->first_seq &&
	    obey(l, u, bftm_listing_page(&l->core, &l->cluster->order_cfg, u, msg, bftm_now()), msg))
		listing_look(l);
}

void bftm_listings_answer(struct bftm_cluster *cl, u32 u, const struct bftm_order_msg *msg)
{
	struct listing *l, *next;

	for (l = TAILQ_FIRST(&listings); l; l = next) {
		next = TAILQ_NEXT(l, others);
		if (l->cluster == cl)
			take_page(l, u, msg);
	}
}

void bftm_listings_epoch(struct bftm_cluster *cl, u32 u)
{
	struct listing *l;

	/* The timer ends a listing that has nothing left to wait for. */
	TAILQ_FOREACH(l, &listings, others)
		if (l->cluster == cl)
			obey(l, u, bftm_listing_anew(&l->core, &cl->order_cfg, u, bftm_now()), NULL);
}

void bftm_listings_stop(struct bftm_cluster *cl)
{
	struct listing *l, *next;

	for (l = TAILQ_FIRST(&listings); l; l = next) {
		next = TAILQ_NEXT(l, others);
		if (l->cluster == cl)
			listing_end(l, describe_error("bftmutexd ends", ECANCELED));
	}
}
