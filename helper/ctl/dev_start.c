// SPDX-License-Identifier: GPL-2.0
/* The programs of a development cluster: servers and helpers. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "config/conf.h"
#include "ctl/ctl.h"
#include "ctl/dev.h"

/* For a client, or with 0 for the servers, which need no credentials. */
static int write_conf(const struct dev *dev, u32 client, const char *path)
{
	char lease[32], delay[32];
	FILE *file;
	bool bad;
	u32 i;

	file = fopen(path, "we");
	if (!file)
		return ctl_fail(EX_CANTCREAT, "%s: %s", path, strerror(errno));
	fprintf(file, "# Made by " CTL_NAME " dev up.\n"
		      "cluster " DEV_CLUSTER " {\n"
		      "\tid = %u\n\tb = %u\n\tlease-max = %s\n", DEV_CLUSTER_ID, dev->b,
		bftm_format_duration(dev->lease_max_ns, lease, sizeof(lease)));
	if (dev->delay_ns)
		fprintf(file, "\tdelta = %s\n",
			bftm_format_duration(dev->delay_ns, delay, sizeof(delay)));
	if (client)
		fprintf(file, "\tcredentials = \"%s/keys/client-%u.client\"\n", dev->dir, client);
	for (i = 1; i <= dev->servers; i++)
		fprintf(file, "\tserver %u { address = 10.73.0.%u }\n", i, i);
	fprintf(file, "}\n");
	bad = ferror(file);
	bad |= fclose(file) != 0;
	return bad ? ctl_fail(EX_IOERR, "%s: cannot be written", path) : 0;
}

static int start_server(const struct dev *dev, u32 number)
{
	char netns[16], key[PATH_MAX], state[PATH_MAX], conf[PATH_MAX], lease[32];

	snprintf(netns, sizeof(netns), "bftm-s%u", number);
	dev_path(dev, key, "keys/server-%u.key", number);
	dev_path(dev, state, "servers");
	dev_path(dev, conf, "servers/bftmutex.conf");
	return ctl_run("ip", "netns", "exec", netns, dev_self(), "server", "start", "--key", key,
		       "--lease-max", bftm_format_duration(dev->lease_max_ns, lease, sizeof(lease)),
		       "--state", state, "--config", conf, NULL);
}

int dev_start_servers(const struct dev *dev)
{
	char state[PATH_MAX], conf[PATH_MAX];
	u32 i;
	int r;

	/* New keys make this a new cluster, even if an earlier one had its number. */
	dev_path(dev, state, "servers");
	r = dev_made(dev, DEV_TREE, state);
	if (r)
		return r;
	if (mkdir(state, 0700) < 0)
		return ctl_fail(EX_CANTCREAT, "%s: %s", state, strerror(errno));
	/* The configuration of this host in /etc is not for these servers. */
	r = write_conf(dev, 0, dev_path(dev, conf, "servers/bftmutex.conf"));
	for (i = 1; i <= dev->servers && r == 0; i++) {
		r = start_server(dev, i);
		ctl_progress("started %u of %u servers", i, dev->servers);
	}
	return r;
}

/* Next to this program, as in the folder where both were built; else in PATH. */
static const char *helper_program(char ret[PATH_MAX])
{
	const char *self = dev_self(), *slash = strrchr(self, '/');

	snprintf(ret, PATH_MAX, "%.*sbftmutexd", slash ? (int)(slash + 1 - self) : 0, self);
	return slash && access(ret, X_OK) == 0 ? ret : "bftmutexd";
}

static void print_file(const char *path)
{
	char line[512];
	FILE *file;

	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		fputs(line, stderr);
	if (file)
		fclose(file);
}

static int await_helper(const char *netns, pid_t pid, const char *log)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	char path[64];
	int fd, i;

	snprintf(path, sizeof(path), DEV_NETNS_DIR "/%s", netns);
	for (i = 0; i < 500; i++) {
		fd = ctl_connect_helper(path);
		if (fd >= 0) {
			close(fd);
			return 0;
		}
		if (waitpid(pid, NULL, WNOHANG) == pid) {
			print_file(log);
			return ctl_fail(EX_UNAVAILABLE, "bftmutexd in %s ended before it served; its log is above", netns);
		}
		nanosleep(&pause, NULL);
		ctl_progress("waiting for bftmutexd in %s", netns);
	}
	return ctl_fail(EX_UNAVAILABLE, "bftmutexd in %s has not answered for 10 s; see %s", netns, log);
}

static int start_helper(const struct dev *dev, u32 client)
{
	char netns[16], state[PATH_MAX], conf[PATH_MAX], log[PATH_MAX], program[PATH_MAX];
	char line[32], pid_file[PATH_MAX];
	FILE *file;
	pid_t pid;
	int r;

	snprintf(netns, sizeof(netns), "bftm-c%u", client);
	dev_path(dev, state, "c%u", client);
	dev_path(dev, conf, "c%u/bftmutex.conf", client);
	dev_path(dev, log, "c%u/log", client);
	dev_path(dev, pid_file, "c%u/pid", client);

	r = dev_made(dev, DEV_TREE, state);
	if (r)
		return r;
	if (mkdir(state, 0700) < 0)
		return ctl_fail(EX_CANTCREAT, "%s: %s", state, strerror(errno));
	r = write_conf(dev, client, conf);
	if (r)
		return r;
	r = ctl_spawn(log, &pid, "ip", "netns", "exec", netns, helper_program(program),
		      "--config", conf, "--state", state, "--foreground", NULL);
	if (r)
		return r;
	snprintf(line, sizeof(line), "%d %s", pid, netns);
	r = dev_made(dev, DEV_HELPER, line);
	if (r)
		return r;
	file = fopen(pid_file, "we");
	if (file) {
		fprintf(file, "%d\n", pid);
		fclose(file);
	}
	return await_helper(netns, pid, log);
}

int dev_start_helpers(const struct dev *dev)
{
	u32 i;
	int r = 0;

	for (i = 1; i <= dev->clients && r == 0; i++)
		r = start_helper(dev, i);
	return r;
}
