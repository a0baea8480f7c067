// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl object list, delete. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/conf.h"
#include "ctl/object.h"
#include "text/json.h"

static bool is_meant(const struct object *o, struct json_object *cluster)
{
	struct json_object *name;
	bool meant;

	if (!o->options.cluster)
		return json_object_get_boolean(json_object_object_get(cluster, "default"));
	name = bftm_json_bytes(o->options.cluster, strlen(o->options.cluster));
	meant = json_object_equal(json_object_object_get(cluster, "name"), name);
	json_object_put(name);
	return meant;
}

static int local_names(const struct object *o, struct json_object **ret)
{
	struct json_object *answer, *clusters, *cluster;
	size_t i;
	int r;

	*ret = NULL;
	r = ctl_ask_helper("objects", &answer);
	if (r < 0)
		return ctl_helper_failed(r);
	clusters = json_object_object_get(answer, "clusters");
	for (i = 0; i < json_object_array_length(clusters) && !*ret; i++) {
		cluster = json_object_array_get_idx(clusters, i);
		if (is_meant(o, cluster))
			*ret = json_object_get(json_object_object_get(cluster, "objects"));
	}
	json_object_put(answer);
	return *ret ? 0 : ctl_fail(EX_CONFIG, "bftmutexd has no cluster '%s'",
				   o->options.cluster ?: "");
}

/* Why the daemon has no list. */
static int no_list(const struct object *o, struct json_object *answer)
{
	struct json_object *text = ctl_member(answer, "error"), *error = ctl_member(answer, "errno");

	switch (json_object_get_int(error)) {
	case 0:
		return ctl_fail(EX_CONFIG, "bftmutexd has no cluster '%s'",
				o->options.cluster ?: "");
	case EPROTONOSUPPORT:
		return ctl_fail(EX_UNAVAILABLE, "the objects of the cluster: %s",
				bftmutex_strerror(-EPROTONOSUPPORT));
	}
	return ctl_fail(EX_TEMPFAIL, "the objects of the cluster cannot be listed: %s%s%s",
			json_object_get_string(text), *ctl_check_words(o->options.cluster) ? "; " : "",
			ctl_check_words(o->options.cluster));
}

static int cluster_names(const struct object *o, struct json_object **ret)
{
	/* The daemon gives up first. */
	u64 patience_ns = o->options.timeout_ns + 5 * BFTM_NS_PER_SEC;
	struct json_object *answer;
	char question[128];
	int r, code = 0;

	/* A daemon that hangs is known at once, by what it would answer at once. */
	r = ctl_ask_helper("stats", &answer);
	if (r < 0)
		return ctl_helper_failed(r);
	json_object_put(answer);
	snprintf(question, sizeof(question), "list %s %" PRIu64, o->options.cluster ?: "-",
		 (u64)(o->options.timeout_ns / BFTM_NS_PER_MS));
	r = ctl_ask_helper_for(question, patience_ns, &answer);
	if (r < 0)
		return ctl_helper_failed(r);
	*ret = json_object_get(ctl_member(answer, "objects"));
	if (!*ret)
		code = no_list(o, answer);
	else if (!json_object_get_boolean(ctl_member(answer, "complete")))
		ctl_fail(0, "only %s of %s servers have told which objects there are, and some of these "
			 "were restarted without their memory: an object that only the others know is missing",
			 json_object_get_string(ctl_member(answer, "told")),
			 json_object_get_string(ctl_member(answer, "servers")));
	json_object_put(answer);
	return code;
}

int object_names(const struct object *o, struct json_object **ret)
{
	return o->local ? local_names(o, ret) : cluster_names(o, ret);
}

bool object_name(struct object *o, struct json_object *name)
{
	size_t len;
	char *bytes = bftm_json_read_bytes(name, &len);
	bool fits = bytes && len && len < sizeof(o->named);

	if (fits) {
		memcpy(o->named, bytes, len + 1);
		o->name = o->named;
		o->name_len = len;
	}
	free(bytes);
	return fits;
}

/* One line, of an object that exists. */
static int list_describe(struct object *o, struct json_object **ret)
{
	struct bftmutex_response r = {};
	int code = object_ask(o, "type", 4, &r);

	*ret = NULL;
	if (!code && r.status != ENOENT) {
		*ret = json_object_new_object();
		bftm_json_add_bytes(*ret, "name", o->name, o->name_len);
		json_object_object_add(*ret, "type",
				       r.status ? NULL : bftm_json_bytes(r.data, r.len));
		object_add_number(*ret, r.number);
	}
	free(r.data);
	return code;
}

/* One line for an object that @named names: as servers have told, or else as a request finds. */
static int list_one(struct object *o, struct json_object *named, struct json_object **ret)
{
	struct json_object *type = ctl_member(named, "type");

	*ret = NULL;
	if (type) {
		*ret = json_object_new_object();
		json_object_object_add(*ret, "name", json_object_get(ctl_member(named, "name")));
		json_object_object_add(*ret, "type", json_object_get(type));
		json_object_object_add(*ret, "version",
				       json_object_get(ctl_member(named, "version")));
		json_object_object_add(*ret, "number", NULL);
		return 0;
	}
	return object_name(o, ctl_member(named, "name")) ? list_describe(o, ret) : 0;
}

int ctl_object_list(int argc, char **argv)
{
	static const struct ctl_column columns[] = {
		{ "type", "TYPE", -12 },
		{ "version", "VERSION", 10 },
		{ "name", "NAME", 0 },
		{}
	};
	static const struct argp_option options[] = {
		{ "local", 'l', NULL, 0, "Only objects that this host has used", 0 },
		{}
	};
	static const struct argp argp = {
		.options = options,
		.parser = object_option,
		.children = object_children,
		.doc = "List the objects of the cluster that this client may use, with their types, as "
		       "the servers tell them. An object that changes at that moment gets a request, "
		       "which makes a new version. With --local, list only the objects that this host "
		       "has used since its bftmutexd started, by a request to each.",
	};
	struct object o = { .names_max = 0 };
	struct json_object *names = NULL, *row, *all = json_object_new_array();
	struct ctl_list table = { .column = columns };
	size_t i;
	int code;

	object_parse(&argp, argc, argv, &o);
	code = object_open(&o) ?: object_names(&o, &names);
	for (i = 0; !code && i < json_object_array_length(names); i++) {
		code = list_one(&o, json_object_array_get_idx(names, i), &row);
		if (row && ctl_json)
			json_object_array_add(all, row);
		else if (row)
			ctl_list_row(&table, row);
	}
	if (!code && ctl_json)
		ctl_print_json(all);
	else if (!code)
		ctl_list_end(&table, o.local ? "This host has used no objects." :
			     "The cluster has no objects that this client may use.");
	json_object_put(names);
	json_object_put(all);
	return code;
}

int ctl_object_delete(int argc, char **argv)
{
	static const struct argp argp = {
		.children = object_children,
		.args_doc = "NAME",
		.doc = "Delete an object for all clients: its content is gone, and it can be created "
		       "again, of any type. Its version continues, and its name stays in the tables of "
		       "the servers. Options come before NAME.",
	};
	struct object o = { .names_max = 1 };
	static const char request[] = "delete-object";

	object_parse(&argp, argc, argv, &o);
	return object_submit(&o, request, strlen(request));
}
