// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl top: looks at daemon and module, and rates computed from two looks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/conf.h"
#include "ctl/top.h"

/* A list of the module as an array, or its only element. */
struct list {
	enum ctl_set set;
	struct json_object *rows;
};

static int top_take(struct nlattr **attr, void *arg)
{
	struct list *list = arg;

	json_object_array_add(list->rows, ctl_object(list->set, attr));
	return 0;
}

static int top_ask(struct bftm_nl *nl, u8 cmd, enum ctl_set set, int flags,
		   struct json_object *rows)
{
	struct list list = { .set = set, .rows = rows };

	return bftm_nl_call(nl, bftm_nl_msg(nl, cmd, flags), top_take, ctl_set_max(set), &list);
}

static int look_at_local(struct bftm_nl *nl, struct top_look *look)
{
	struct json_object *rows = json_object_new_array();
	int r = top_ask(nl, BFTMUTEX_CMD_LOCAL_GET, CTL_LOCAL, 0, rows);

	if (r == 0 && ctl_length(rows))
		look->local = json_object_get(json_object_array_get_idx(rows, 0));
	json_object_put(rows);
	/* An older module does not have this command; then the counters are unknown. */
	return r == -EOPNOTSUPP ? 0 : r;
}

static int look_at_module(struct bftm_nl *nl, struct top_look *look)
{
	int r = ctl_server_get(nl, &look->server);

	if (r == 0)
		r = top_ask(nl, BFTMUTEX_CMD_LOCK_GET, CTL_LOCK, NLM_F_DUMP, look->locks);
	/* The server may have ended between the two. */
	if (r == 0 || r == -ENOENT)
		r = top_ask(nl, BFTMUTEX_CMD_HANDLE_GET, CTL_HANDLE, NLM_F_DUMP, look->handles);
	return r == 0 ? look_at_local(nl, look) : r;
}

int top_look(struct top_look *ret)
{
	struct timespec now;
	struct bftm_nl nl;
	int r;

	clock_gettime(CLOCK_MONOTONIC, &now);
	*ret = (struct top_look){
		.at_ns = (u64)now.tv_sec * BFTM_NS_PER_SEC + (u64)now.tv_nsec,
		.handles = json_object_new_array(),
		.locks = json_object_new_array(),
	};
	ret->error = ctl_ask_helper("servers", &ret->servers);
	/* The module may have been reloaded since the last look, with another family number. */
	r = bftm_nl_open(&nl);
	if (r < 0)
		return r;
	r = look_at_module(&nl, ret);
	bftm_nl_close(&nl);
	return r;
}

void top_forget(struct top_look *look)
{
	json_object_put(look->servers);
	json_object_put(look->local);
	json_object_put(look->server);
	json_object_put(look->handles);
	json_object_put(look->locks);
	memset(look, 0, sizeof(*look));
}

const char *top_key(unsigned int by)
{
	static const char *const keys[] = { "name", "remaining_ns", "state", "waiters", "pid" };

	return by < sizeof(keys) / sizeof(keys[0]) ? keys[by] : NULL;
}

static int compare_values(struct json_object *a, struct json_object *b)
{
	int64_t x = json_object_get_int64(a), y = json_object_get_int64(b);

	if (json_object_is_type(a, json_type_int) && json_object_is_type(b, json_type_int))
		return (x > y) - (x < y);
	return strcmp(json_object_get_string(a), json_object_get_string(b));
}

/* top_compare() is called by qsort(), which has no argument for it. */
static const struct top_order *sorting;

static int top_compare(const void *a, const void *b)
{
	struct json_object *one = *(struct json_object *const *)a;
	struct json_object *other = *(struct json_object *const *)b;
	const char *key = top_key(sorting->by);
	struct json_object *x = ctl_member(one, key), *y = ctl_member(other, key);
	int r;

	if (!x || !y)
		r = !x - !y;
	else
		r = sorting->reverse ? compare_values(y, x) : compare_values(x, y);
	x = ctl_member(one, "name");
	y = ctl_member(other, "name");
	return r || !x || !y ? r : compare_values(x, y);
}

void top_sort(struct json_object *rows, const struct top_order *order)
{
	sorting = order;
	json_object_array_sort(rows, top_compare);
}

double top_rate(struct json_object *now, struct json_object *before, const char *key,
		u64 elapsed_ns)
{
	struct json_object *x = ctl_member(now, key), *y = ctl_member(before, key);
	u64 to = json_object_get_uint64(x), from = json_object_get_uint64(y);

	if (!x || !y || to < from || !elapsed_ns)
		return -1;
	return (double)(to - from) * BFTM_NS_PER_SEC / (double)elapsed_ns;
}

struct json_object *top_same(struct json_object *array, struct json_object *element,
			     const char *key)
{
	struct json_object *value = ctl_member(element, key), *other;
	size_t i;

	for (i = 0; i < ctl_length(array); i++) {
		other = json_object_array_get_idx(array, i);
		if (value && json_object_equal(ctl_member(other, key), value))
			return other;
	}
	return NULL;
}
