// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl object list, delete. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/conf.h"
#include "ctl/object.h"
#include "text/json.h"

static const struct argp_child children[] = { { .argp = &object_args }, {} };

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

int object_names(const struct object *o, struct json_object **ret)
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

int ctl_object_list(int argc, char **argv)
{
	static const struct ctl_column columns[] = {
		{ "type", "TYPE", -12 },
		{ "version", "VERSION", 10 },
		{ "name", "NAME", 0 },
		{}
	};
	static const struct argp argp = {
		.children = children,
		.args_doc = "",
		.doc = "List the objects that this host has used since its bftmutexd started, with "
		       "their types. This takes a request to each, which makes a new version. "
	       "'bftmutexctl objects' on a server lists all names that any client asked for.",
	};
	struct object o = { .names_max = 0, .options.timeout_ns = 30 * BFTM_NS_PER_SEC };
	struct json_object *names, *row, *all = json_object_new_array();
	struct ctl_list table = { .column = columns };
	size_t i;
	int code;

	ctl_parse(&argp, argc, argv, ARGP_IN_ORDER, &o);
	code = object_names(&o, &names) ?: object_open(&o);
	for (i = 0; !code && i < json_object_array_length(names); i++) {
		if (!object_name(&o, json_object_object_get(json_object_array_get_idx(names, i),
							    "name")))
			continue;
		code = list_describe(&o, &row);
		if (row && ctl_json)
			json_object_array_add(all, row);
		else if (row)
			ctl_list_row(&table, row);
	}
	if (!code && ctl_json)
		ctl_print_json(all);
	else if (!code)
		ctl_list_end(&table, "This host has used no objects.");
	json_object_put(names);
	json_object_put(all);
	return code;
}

int ctl_object_delete(int argc, char **argv)
{
	static const struct argp argp = {
		.children = children,
		.args_doc = "NAME",
		.doc = "Delete an object: its content is gone, for all clients and in the order of "
	       "all requests, and it can be created again, of any type. Its version continues. "
		       "Its name stays in the tables of the servers. Options come before NAME.",
	};
	struct object o = { .names_max = 1, .options.timeout_ns = 30 * BFTM_NS_PER_SEC };
	static const char request[] = "delete-object";

	ctl_parse(&argp, argc, argv, ARGP_IN_ORDER, &o);
	return object_submit(&o, request, strlen(request));
}
