// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl dev: a cluster to try things out, on one machine. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/lease.h"
#include "core/quorum.h"
#include "config/conf.h"
#include "ctl/ctl.h"
#include "ctl/dev.h"
#include "text/json.h"

/* Short, because a new cluster grants nothing for this time. */
#define LEASE_MAX_DEFAULT_NS	(5 * BFTM_NS_PER_SEC)
#define DELAY_MAX_NS		(10 * BFTM_NS_PER_SEC)

/* Makes the folder and those above it, and notes which it made. */
static int make_dir(const struct dev *dev)
{
	size_t made[PATH_MAX / 8], count = 0, len, i;
	char path[PATH_MAX];
	int r;

	for (len = 1; len <= strlen(dev->dir); len++) {
		if (dev->dir[len] && dev->dir[len] != '/')
			continue;
		snprintf(path, sizeof(path), "%.*s", (int)len, dev->dir);
		if (mkdir(path, 0755) == 0 && count < sizeof(made) / sizeof(made[0]))
			made[count++] = len;
		else if (errno != EEXIST)
			return ctl_fail(EX_CANTCREAT, "%s: %s", path, strerror(errno));
	}
	r = dev_check_dir(dev);
	for (i = 0; i < count && r == 0; i++) {
		snprintf(path, sizeof(path), "%.*s", (int)made[i], dev->dir);
		r = dev_made(dev, DEV_DIRECTORY, path);
	}
	return r;
}

static int load_module(const struct dev *dev)
{
	struct bftm_nl nl;
	int r;

	r = bftm_nl_open(&nl);
	if (r == 0) {
		bftm_nl_close(&nl);
		return 0;
	}
	if (r == -EPROTO)
		return ctl_open(&nl);	/* which prints an error */
	r = dev_made(dev, DEV_MODULE, "bftmutex");
	if (r)
		return r;
	if (!dev->module)
		return ctl_run("modprobe", "bftmutex", NULL);
	/* insmod does not load the modules that this one needs. */
	r = ctl_run("modprobe", "-a", "udp_tunnel", "ip6_udp_tunnel", NULL);
	return r ? r : ctl_run("insmod", dev->module, NULL);
}

static int make_keys(const struct dev *dev)
{
	const struct ctl_range clients = { 1, dev->clients };
	struct json_object *made = json_object_new_array();
	char path[PATH_MAX];
	int r;

	dev_path(dev, path, "keys");
	r = dev_made(dev, DEV_TREE, path);
	if (r == 0)
		r = ctl_make_keys(path, DEV_CLUSTER_ID, dev->servers, &clients, 1, made);
	json_object_put(made);
	return r;
}

static int up(const struct dev *dev)
{
	int r;

	r = make_dir(dev);
	if (r == 0)
		r = load_module(dev);
	if (r == 0)
		r = make_keys(dev);
	if (r == 0)
		r = dev_network(dev);
	if (r == 0)
		r = dev_start_servers(dev);
	if (r == 0)
		r = dev_start_helpers(dev);
	if (r && dev_is_up(dev)) {
		ctl_fail(0, "cleaning up: everything that was made is removed again");
		dev_remove(dev);
	}
	return r;
}

static void add_hosts(struct json_object *all, const char *key, const struct dev *dev, char kind,
		      u32 count, u32 first_address)
{
	struct json_object *array = json_object_new_array();
	char text[PATH_MAX];
	u32 i;

	for (i = 1; i <= count; i++) {
		struct json_object *host = json_object_new_object();

		bftm_json_add_number(host, "id", i);
		snprintf(text, sizeof(text), "bftm-%c%u", kind, i);
		bftm_json_add_text(host, "netns", text);
		snprintf(text, sizeof(text), "10.73.0.%u", first_address + i);
		bftm_json_add_text(host, "address", text);
		if (kind == 'c') {
			dev_path(dev, text, "c%u/bftmutex.conf", i);
			bftm_json_add_text(host, "config", text);
		}
		json_object_array_add(array, host);
	}
	json_object_object_add(all, key, array);
}

static void print_json(const struct dev *dev)
{
	struct json_object *all = json_object_new_object();

	bftm_json_add_text(all, "dir", dev->dir);
	bftm_json_add_text(all, "cluster", DEV_CLUSTER);
	bftm_json_add_number(all, "id", DEV_CLUSTER_ID);
	bftm_json_add_number(all, "b", dev->b);
	bftm_json_add_number(all, "delay_ns", dev->delay_ns);
	bftm_json_add_number(all, "lease_max_ns", dev->lease_max_ns);
	add_hosts(all, "servers", dev, 's', dev->servers, 0);
	add_hosts(all, "clients", dev, 'c', dev->clients, 100);
	ctl_print_json(all);
	json_object_put(all);
}

static const char *down_command(const struct dev *dev, char ret[PATH_MAX])
{
	bool standard = !strcmp(dev->dir, DEV_DIR);

	snprintf(ret, PATH_MAX, CTL_NAME " dev down%s%s", standard ? "" : " --dir ",
		 standard ? "" : dev->dir);
	return ret;
}

static void print_usage(const struct dev *dev)
{
	char text[32], command[PATH_MAX];

	printf("Cluster '" DEV_CLUSTER "' is up: %u servers, of which %u may lie, in network "
	       "namespaces\nbftm-s1 to bftm-s%u; %u client%s from bftm-c1 on; files in %s.\n\n",
	       dev->servers, dev->b, dev->servers, dev->clients, dev->clients == 1 ? "" : "s",
	       dev->dir);
	printf("Take a lock:        ip netns exec bftm-c1 bftmutex demo echo hello\n"
	       "See the servers:    ip netns exec bftm-c1 " CTL_NAME " servers\n"
	       "Look into a server: ip netns exec bftm-s1 " CTL_NAME " server show\n"
	       "Remove it all:      %s\n"
	       "Restart a server:   ip netns exec bftm-s1 " CTL_NAME " server stop\n"
	       "                    ip netns exec bftm-s1 " CTL_NAME " server start --lease-max %s \\\n"
	       "                      --key %s/keys/server-1.key --state %s/servers \\\n"
	       "                      --config %s/servers/bftmutex.conf\n\n",
	       down_command(dev, command),
	       bftm_format_duration(dev->lease_max_ns, text, sizeof(text)), dev->dir, dev->dir,
	       dev->dir);
	printf("The first lock is granted %s after the start, when the servers' quarantine is "
	       "over.\n",
	       bftm_format_duration(bftm_lease_at_server(dev->lease_max_ns, BFTM_RHO_DEFAULT_PPM) /
				    BFTM_NS_PER_MS * BFTM_NS_PER_MS, text, sizeof(text)));
}

/* The path is written into quotes and lines of other files, so it must be plain. */
static void set_dir(struct argp_state *state, const char *dir, struct dev *ret)
{
	const char *p;

	for (p = dir; isalnum((unsigned char)*p) || (*p && strchr("/._-+", *p)); p++)
		;
	if (*dir != '/' || *p || strlen(dir) >= sizeof(ret->dir))
		argp_error(state,
			   "--dir '%s': must be an absolute path of letters, digits and /._-+",
			   dir);
	snprintf(ret->dir, sizeof(ret->dir), "%s", dir);
}

static error_t parse_up(int key, char *arg, struct argp_state *state)
{
	struct dev *dev = state->input;

	switch (key) {
	case 's':
		dev->servers = ctl_number(state, "--servers", arg, 1, BFTM_SERVERS_MAX);
		return 0;
	case 'b':
		dev->b = ctl_number(state, "-b", arg, 0, bftm_liars_max(BFTM_SERVERS_MAX));
		return 0;
	case 'c':
		dev->clients = ctl_number(state, "--clients", arg, 1, DEV_CLIENTS_MAX);
		return 0;
	case 'D':
		dev->delay_ns = ctl_duration(state, "--delay", arg, 0, DELAY_MAX_NS);
		return 0;
	case 'l':
		dev->lease_max_ns = ctl_duration(state, "--lease-max", arg, BFTM_LEASE_MIN_NS,
						 BFTM_LEASE_MAX_NS);
		return 0;
	case 'd':
		set_dir(state, arg, dev);
		return 0;
	case 'm':
		dev->module = arg;
		return 0;
	case ARGP_KEY_END:
		if (dev->servers < bftm_servers_needed(dev->b))
			argp_error(state, "%u servers cannot mask b = %u liars: locks need n >= "
				   "3b + 1 = %u", dev->servers, dev->b,
				   bftm_servers_needed(dev->b));
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int ctl_dev_up(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "servers", 's', "N", 0, "Number of servers (7)", 0 },
		{ "liars", 'b', "N", 0, "Number of servers that may lie (1)", 0 },
		{ "clients", 'c', "N", 0, "Number of clients (1)", 0 },
		{ "delay", 'D', "DUR", 0, "Delay of every message, one way (none)", 0 },
		{ "lease-max", 'l', "DUR", 0, "Longest lease, and the quarantine (5s)", 0 },
		{ "dir", 'd', "DIR", 0, "Folder for keys and configurations (" DEV_DIR ")", 0 },
		{ "module", 'm', "FILE", 0, "Module to load if none is loaded (found by modprobe)", 0 },
		{}
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse_up,
		.doc = "Start a whole cluster on this machine, to try it out: servers and clients "
		       "in network namespaces behind a bridge, with keys and configurations. "
		       "Needs root.",
		.children = ctl_common,
	};
	struct dev dev = {
		.servers = 7,
		.b = 1,
		.clients = 1,
		.lease_max_ns = LEASE_MAX_DEFAULT_NS,
		.dir = DEV_DIR,
	};
	char command[PATH_MAX];
	int r;

	ctl_parse(&argp, argc, argv, 0, &dev);
	if (geteuid() != 0)
		return ctl_fail(EX_NOPERM, "not permitted: only root makes network namespaces");
	if (dev_is_up(&dev))
		return ctl_fail(EX_UNAVAILABLE, "a cluster is up in %s; remove it by '%s'",
				dev.dir, down_command(&dev, command));
	r = up(&dev);
	if (r)
		return r;
	if (ctl_json)
		print_json(&dev);
	else
		print_usage(&dev);
	return 0;
}

static error_t parse_down(int key, char *arg, struct argp_state *state)
{
	if (key != 'd')
		return ARGP_ERR_UNKNOWN;
	set_dir(state, arg, state->input);
	return 0;
}

int ctl_dev_down(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "dir", 'd', "DIR", 0, "The folder that was given to dev up (" DEV_DIR ")", 0 },
		{}
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse_down,
		.doc = "Remove everything that dev up made, even if dev up failed halfway.",
		.children = ctl_common,
	};
	struct json_object *done;
	struct dev dev = { .dir = DEV_DIR };
	bool was_up;
	int r = 0;

	ctl_parse(&argp, argc, argv, 0, &dev);
	if (geteuid() != 0)
		return ctl_fail(EX_NOPERM, "not permitted: only root removes network namespaces");
	was_up = dev_is_up(&dev);
	if (was_up)
		r = dev_remove(&dev);
	if (r)
		return r;
	if (ctl_json) {
		done = json_object_new_object();
		bftm_json_add_bool(done, "removed", was_up);
		ctl_print_json(done);
		json_object_put(done);
	} else if (was_up) {
		puts("The cluster is removed.");
	} else {
		printf("Nothing was there: no cluster is up in %s.\n", dev.dir);
	}
	return 0;
}
