// SPDX-License-Identifier: GPL-2.0
/*
 * Every ioctl and every netlink command, a load of the module and a namespace that begins,
 * with its first allocation failing, its second, and so on until none is left to fail: the
 * error is one that says so, and what can be seen is as before or as after a success. Copies
 * of user memory count as well. For a kernel with fault injection; the test is the helper.
 *
 *	fail_nth [OPERATION]
 */
#include <sys/mman.h>

#include "fail_nth.h"

#define MOST	2000	/* failures in one operation; more is a loop */

struct bftm_nl nth_nl, nth_calm;
int nth_fd = -1;
static int injector;

/* Of this thread; -1: the kernel has no fault injection. */
static int open_injector(void)
{
	return open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
}

/* The N-th from here on fails; 0: none. Asking may fail as well. */
static void arm(int fd, int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	while (pwrite(fd, text, (size_t)len, 0) != len)
		;
}

/* Return: 1 when something has failed, 0 when there are fewer than N. */
static int disarm(int fd)
{
	char text[16] = "";
	/* When asking failed, that was the N-th, and nothing before it. */
	int left = pread(fd, text, sizeof(text) - 1, 0) > 0 ? atoi(text) : 1;

	arm(fd, 0);
	return left == 0;
}

/** struct view - what can be seen of this namespace */
struct view {
	int server, state, rules, objects, journal, handles, held;
};

static int count_one(struct nlattr **attr, void *arg)
{
	(void)attr;
	++*(int *)arg;
	return 0;
}

int nth_dump(struct bftm_nl *by, uint8_t cmd, int *count)
{
	return bftm_nl_call(by, bftm_nl_msg(by, cmd, NLM_F_DUMP), count_one,
			    BFTMUTEX_A_HANDLE_MAX, count);
}

static int dump_count(uint8_t cmd)
{
	int count = 0;

	nth_dump(&nth_calm, cmd, &count);
	return count;
}

static struct view look(void)
{
	struct bftm_status status = { .size = sizeof(status) };
	struct view v = {};

	if (!nth_calm.sock)
		return v;
	v.server = server_value(&nth_calm, BFTMUTEX_A_SERVER_ID) == SERVER_ID;
	v.rules = v.server ? (int)server_value(&nth_calm, BFTMUTEX_A_SERVER_RULES) : 0;
	v.objects = v.server ? dump_count(BFTMUTEX_CMD_OBJECT_GET) : 0;
	v.journal = v.server ? (int)server_value(&nth_calm, BFTMUTEX_A_SERVER_JOURNAL_STATE) : 0;
	v.handles = dump_count(BFTMUTEX_CMD_HANDLE_GET);
	if (nth_fd >= 0 && !call(nth_fd, BFTM_IOC_STATUS, &status)) {
		v.state = (int)status.state;
		v.held = status.deadline_ns != 0;
	}
	return v;
}

/* EIO is how bftm_nl_errno() has it when sending or receiving fails with EFAULT. */
static bool is_clean(int err)
{
	return err == -ENOMEM || err == -ENOBUFS || err == -EFAULT || err == -EIO;
}

static bool is_allowed(const struct operation *o, int err)
{
	return is_clean(err) || err == o->also || (err < 0 && o->also == ANY_ERROR);
}

static void print_view(const char *when, const struct view *v)
{
	printf("# %s: server %d, rules %d, objects %d, journal %d, handles %d, state %d, held %d\n",
	       when, v->server, v->rules, v->objects, v->journal, v->handles, v->state, v->held);
}

/* Return: how many failures there were, or -1 after saying what is wrong. */
static int try(const struct operation *o)
{
	struct view before, after, now;
	int n, err, hit;

	o->setup();
	before = look();
	err = o->run();
	after = look();
	if (err != o->want) {
		printf("# untouched: %d, not %d\n", err, o->want);
		return -1;
	}
	for (n = 1; n <= MOST; n++) {
		o->setup();
		now = look();
		if (memcmp(&now, &before, sizeof(now))) {
			print_view("before", &before);
			print_view("set up", &now);
			return -1;
		}
		arm(injector, n);
		err = o->run();
		hit = disarm(injector);
		now = look();
		if (err != o->want && !(hit && is_allowed(o, err))) {
			printf("# failure %d: error %d\n", n, err);
			return -1;
		}
		if (memcmp(&now, &after, sizeof(now)) &&
		    (err == o->want || memcmp(&now, &before, sizeof(now)))) {
			printf("# failure %d, error %d\n", n, err);
			print_view("before", &before);
			print_view("after", &after);
			print_view("now", &now);
			return -1;
		}
		if (o->check)
			o->check(err);
		if (!hit)
			return n - 1;
	}
	printf("# more than %d failures\n", MOST);
	return -1;
}

static bool all_good = true;
static size_t tried;

/* All of a list, or the one of it that has this name. */
static void try_all(const struct operation *o, const char *name)
{
	int failures;

	for (; o->name; o++) {
		if (name && strcmp(name, o->name))
			continue;
		failures = try(o);
		all_good &= failures >= 0;
		printf("%sok %zu - %s: %d failures\n", failures < 0 ? "not " : "", ++tried,
		       o->name, failures < 0 ? 0 : failures);
	}
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	setvbuf(stdout, NULL, _IOLBF, 0);
	injector = open_injector();
	if (injector < 0) {
		printf("1..0 # SKIP the kernel has no fault injection\n");
		return 0;
	}
	signal(SIGUSR1, SIG_IGN);
	try_all(nth_module_operations, name);
	nth_module();
	if (fresh_netns() || bftm_nl_open(&nth_calm) || mlockall(MCL_CURRENT | MCL_FUTURE)) {
		printf("not ok 1 - no namespace of our own\n1..1\n");
		return 1;
	}
	nth_be_helper();
	try_all(nth_server_operations, name);
	try_all(nth_client_operations, name);
	nth_stop_answering();
	printf("1..%zu\n", tried);
	if (!tried)
		printf("Bail out! '%s': no such operation\n", name);
	return all_good && tried ? 0 : 1;
}
