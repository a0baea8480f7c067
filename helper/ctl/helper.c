// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl servers, stats: the observations of the daemon. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/limits.h"
#include "ctl/ctl.h"

#define RUN_DIR		"/run/bftmutex"
/* A list of 65,536 objects with long names that are no UTF-8 is a third of that. */
#define ANSWER_MAX	(32 << 20)
/* The daemon answers most questions at once, or hangs. */
#define AT_ONCE_NS	(5 * BFTM_NS_PER_SEC)

/* Every network namespace has its own helper, named by the namespace's inode. */
static int helper_address(const char *netns, struct sockaddr_un *ret)
{
	const char *dir = getenv("BFTMUTEX_RUN");
	struct stat st;
	int n;

	if (stat(netns, &st) < 0)
		return -errno;
	ret->sun_family = AF_UNIX;
	n = snprintf(ret->sun_path, sizeof(ret->sun_path), "%s/helper-%llu.sock",
		     dir && *dir ? dir : RUN_DIR, (unsigned long long)st.st_ino);
	return n < (int)sizeof(ret->sun_path) ? 0 : -ENAMETOOLONG;
}

int ctl_connect_helper(const char *netns)
{
	const struct timeval patience = { .tv_sec = AT_ONCE_NS / BFTM_NS_PER_SEC };
	struct sockaddr_un address = {};
	int fd, r;

	r = helper_address(netns, &address);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		r = errno == ENOENT ? -ECONNREFUSED : -errno;
		close(fd);
		return r;
	}
	return fd;
}

/* Reads until the other side closes; the text ends with a zero byte. */
static int read_answer(int fd, char **ret)
{
	size_t len = 0, size = 0;
	char *text = NULL, *more;
	ssize_t n;

	do {
		if (size - len < 2) {
			size = size ? 2 * size : 4096;
			more = size <= ANSWER_MAX ? realloc(text, size) : NULL;
			if (!more) {
				free(text);
				return -ENOMEM;
			}
			text = more;
		}
		n = recv(fd, text + len, size - len - 1, 0);
		if (n > 0)
			len += n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n < 0) {
		n = -errno;
		free(text);
		return n;
	}
	text[len] = '\0';
	*ret = text;
	return 0;
}

int ctl_ask_helper_for(const char *question, u64 patience_ns, struct json_object **ret)
{
	const struct timeval patience = {
		.tv_sec = (time_t)(patience_ns / BFTM_NS_PER_SEC),
		.tv_usec = (suseconds_t)(patience_ns % BFTM_NS_PER_SEC / 1000),
	};
	struct json_object *answer;
	char line[512], *text = NULL;
	int fd, r;

	fd = ctl_connect_helper("/proc/self/ns/net");
	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	snprintf(line, sizeof(line), "%s\n", question);
	if (send(fd, line, strlen(line), MSG_NOSIGNAL) < 0)
		r = -errno;
	else
		r = read_answer(fd, &text);
	close(fd);
	if (r < 0)
		return r;
	answer = json_tokener_parse(text);
	free(text);
	if (!json_object_is_type(answer, json_type_object) &&
	    !json_object_is_type(answer, json_type_array)) {
		json_object_put(answer);
		return -EBADMSG;
	}
	*ret = answer;
	return 0;
}

int ctl_ask_helper(const char *question, struct json_object **ret)
{
	return ctl_ask_helper_for(question, AT_ONCE_NS, ret);
}

int ctl_helper_failed(int error)
{
	switch (-error) {
	case ECONNREFUSED:
		return ctl_fail(EX_UNAVAILABLE,
				"bftmutexd is not running in this network namespace: start it by 'bftmutexd' or 'systemctl start bftmutexd'");
	case EACCES:
	case EPERM:
		return ctl_fail(EX_NOPERM, "not permitted: only root may ask bftmutexd");
	case EAGAIN:
		return ctl_fail(EX_UNAVAILABLE, "bftmutexd does not answer");
	case EBADMSG:
		return ctl_fail(EX_SOFTWARE, "the answer of bftmutexd is not JSON: is it of the same version?");
	default:
		return ctl_fail(EX_OSERR, "bftmutexd: %s", strerror(-error));
	}
}

char *ctl_default_cluster(void)
{
	struct json_object *answer, *clusters, *cluster, *name = NULL;
	char *ret;
	size_t i;

	if (ctl_ask_helper("servers", &answer) < 0)
		return NULL;
	clusters = ctl_member(answer, "clusters");
	for (i = 0; i < ctl_length(clusters); i++) {
		cluster = json_object_array_get_idx(clusters, i);
		if (json_object_get_boolean(ctl_member(cluster, "default")))
			name = ctl_member(cluster, "name");
	}
	ret = json_object_is_type(name, json_type_string) ? strdup(json_object_get_string(name)) :
							    NULL;
	json_object_put(answer);
	return ret;
}

static void print_notes(struct json_object *server)
{
	struct json_object *evidence = ctl_member(server, "evidence");
	size_t i;

	if (json_object_get_boolean(ctl_member(server, "recovering")))
		printf("  server %s waits since its start for members to tell what they hold, and until then grants no lock that may be held without a lease\n",
		       json_object_get_string(ctl_member(server, "id")));
	if (json_object_get_boolean(ctl_member(server, "unnoted")))
		printf("  server %s has a roll that does not name this host, and grants it no lock without a lease: does bftmutex-roll@ run there?\n",
		       json_object_get_string(ctl_member(server, "id")));
	if (ctl_member(server, "refusal"))
		printf("  server %s has refused this host a lock in the last minute: %s\n",
		       json_object_get_string(ctl_member(server, "id")),
		       json_object_get_string(ctl_member(server, "refusal")));
	for (i = 0; i < ctl_length(evidence); i++)
		printf("  server %s %s\n", json_object_get_string(ctl_member(server, "id")),
		       json_object_get_string(json_object_array_get_idx(evidence, i)));
}

static void print_cluster(struct json_object *cluster)
{
	static const struct ctl_column columns[] = {
		{ "id", "ID", 5 },
		{ "state", "STATE", -10 },
		{ "suspect", "SUSPECT", -7 },
		{ "rtt_ns", "RTT", 8 },
		{ "sent", "SENT", 8 },
		{ "unanswered", "UNANSWERED", 10 },
		{ "free", "FREE", 8 },
		{ "locked", "LOCKED", 8 },
		{ "disagreed", "DISAGREED", 9 },
		{ "bad", "BAD", 4 },
		{ "address", "ADDRESS", 0 },
		{}
	};
	struct json_object *servers = ctl_member(cluster, "servers");
	struct ctl_list list = { .column = columns };
	size_t i;

	printf("cluster %s: %s servers, %s of them may lie, a lock needs %s FREE answers\n",
	       json_object_get_string(ctl_member(cluster, "name")),
	       json_object_get_string(ctl_member(cluster, "n")),
	       json_object_get_string(ctl_member(cluster, "b")),
	       json_object_get_string(ctl_member(cluster, "free_needed")));
	for (i = 0; i < ctl_length(servers); i++)
		ctl_list_row(&list, json_object_get(json_object_array_get_idx(servers, i)));
	ctl_list_end(&list, "No servers.");
	if (json_object_get_boolean(ctl_member(cluster, "doubled")))
		printf("  another host uses the keys of client %s, and servers drop what this one sends: give each host keys of its own (bftmutexctl keygen), and restart bftmutexd; if there is no other host any more, restart bftmutexd\n",
		       json_object_get_string(ctl_member(cluster, "client")));
	for (i = 0; i < ctl_length(servers); i++)
		print_notes(json_object_array_get_idx(servers, i));
}

int ctl_servers(int argc, char **argv)
{
	struct json_object *answer, *clusters;
	size_t i;
	int r;

	ctl_no_options(argc, argv,
		       "Show the health of the servers as bftmutexd of this network namespace "
		       "sees it, and the evidence that one of them lies.");
	r = ctl_ask_helper("servers", &answer);
	if (r < 0)
		return ctl_helper_failed(r);
	clusters = ctl_member(answer, "clusters");
	if (ctl_json)
		ctl_print_json(answer);
	else
		for (i = 0; i < ctl_length(clusters); i++)
			print_cluster(json_object_array_get_idx(clusters, i));
	json_object_put(answer);
	return 0;
}

static int take_local(struct nlattr **attr, void *arg)
{
	json_object_object_add(arg, "local", ctl_object(CTL_LOCAL, attr));
	return 0;
}

/* Returns 0 also without a server or a module: then the counters are null. */
static int add_kernel_stats(struct json_object *all)
{
	struct json_object *server;
	struct bftm_nl nl;
	int r;

	json_object_object_add(all, "server", NULL);
	json_object_object_add(all, "local", NULL);
	r = bftm_nl_open(&nl);
	if (r < 0)
		return 0;
	r = ctl_server_get(&nl, &server);
	if (r == 0) {
		json_object_object_add(all, "server", json_object_get(ctl_member(server, "stats")));
		json_object_put(server);
	} else if (r == -ENOENT) {
		r = 0;
	}
	/* An older module does not know the question, and an unprivileged user may not ask it. */
	if (r == 0)
		r = bftm_nl_call(&nl, bftm_nl_msg(&nl, BFTMUTEX_CMD_LOCAL_GET, 0), take_local,
				 ctl_set_max(CTL_LOCAL), all);
	if (r == -EOPNOTSUPP || r == -EPERM)
		r = 0;
	if (r < 0)
		r = ctl_refused(&nl, r, CTL_SERVER);
	bftm_nl_close(&nl);
	return r;
}

int ctl_stats(int argc, char **argv)
{
	struct json_object *all, *helper;
	int r;

	ctl_no_options(argc, argv,
		       "Show the counters of this network namespace: of its lock server, of the "
		       "locks that programs here acquired, and of bftmutexd.");
	all = json_object_new_object();
	r = add_kernel_stats(all);
	if (r == 0) {
		r = ctl_ask_helper("stats", &helper);
		json_object_object_add(all, "helper", r == 0 ? helper : NULL);
		if (r == -ECONNREFUSED && ctl_member(all, "server"))
			r = 0;
		else if (r == -ECONNREFUSED)
			r = ctl_fail(EX_UNAVAILABLE,
				     "neither a server nor bftmutexd runs in this network namespace");
		else if (r < 0)
			r = ctl_helper_failed(r);
	}
	if (r == 0)
		ctl_print(all);
	json_object_put(all);
	return r;
}
