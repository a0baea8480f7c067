// SPDX-License-Identifier: GPL-2.0
/*
 * Submits requests to an object from many threads on many hosts, and records the result of each: a
 * history for bftmutex-lin. One process plays several hosts.
 *
 *	order_load [OPTION]...
 *	--object NAME	its name (load)
 *	--type TYPE	counter, register, map, queue or log: random requests
 *	--request TEXT	this request each time, instead
 *	--create	create it first; that it is there already is fine
 *	--clients A-B	hosts (1-1), named as by "bftmutexctl dev"; 0-0: this one
 *	--threads N	on each (1)
 *	--count N	requests of each thread (100)
 *	--pause US	between two of a thread, at most (0)
 *	--timeout S	of a request (0: none)
 *	--seed N	of what is random
 *	--die N		within 20 ms after N requests were begun
 *	--print		one request only: prints "STATUS RESPONSE", or the error
 *	--history FILE	lines of JSON are appended to it: one with "return_ns" null when
 *			a request begins, a second one when it is answered
 *
 * Prints key=value, times in ns. "added" is the sum of the successful "add" requests, "unknown" the
 * requests that may have been applied or not.
 */
#include <argp.h>
#include <err.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sysexits.h>

#include "lib/libbftmutex.h"
#include "selftests/module/device/handle.h"

#define REQUEST_MAX	(BFTM_SUBMIT_MAX + 2)
#define LAST_WORDS_US	20000
#define LINE_MAX_LEN	(6 * (REQUEST_MAX + BFTM_SUBMIT_MAX) + 512)

static struct {
	const char *object, *type, *request, *history;
	bool create;
	bool print;
	int first, last, threads, count;
	uint64_t pause_us, timeout_ns, seed, die;
	int fd;
} args = { .object = "load", .type = "counter", .first = 1, .last = 1, .threads = 1, .count = 100,
	   .fd = -1 };

struct worker {
	pthread_t thread;
	int client;
	int fd;
	uint64_t process;
	uint64_t random;
	uint64_t answered;
	uint64_t refused;	/* by the object */
	uint64_t unknown;
	uint64_t failed;	/* certainly not applied */
	uint64_t added;
	uint64_t version;
	uint64_t *ns;
	char *line;
};

/* splitmix64 */
static uint64_t draw(struct worker *w, uint64_t limit)
{
	uint64_t z = w->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (z ^ z >> 31) % limit;
}

static unsigned int below(struct worker *w, unsigned int limit)
{
	return (unsigned int)draw(w, limit);
}

static void make_counter(struct worker *w, char *text)
{
	if (below(w, 10) < 7)
		sprintf(text, "add %u", 1 + below(w, 5));
	else
		sprintf(text, "get");
}

static void make_register(struct worker *w, char *text)
{
	unsigned int way = below(w, 12);

	if (way < 4)
		sprintf(text, "read");
	else if (way < 8)
		sprintf(text, "write %u", below(w, 8));
	else if (way == 8)
		sprintf(text, "write ");
	else if (way == 9)
		sprintf(text, "decide %u", below(w, 8));
	else
		sprintf(text, "cas %u %u", below(w, 8), below(w, 8));
}

static void make_map(struct worker *w, char *text)
{
	unsigned int way = below(w, 10), key = below(w, 4);

	if (way < 4)
		sprintf(text, "set k%u %u", key, below(w, 8));
	else if (way < 7)
		sprintf(text, "get k%u", key);
	else if (way < 8)
		sprintf(text, "delete k%u", key);
	else if (way < 9)
		sprintf(text, "cas k%u %u %u", key, below(w, 8), below(w, 8));
	else
		sprintf(text, "list");
}

/*
 * About as many values are removed as added, so that the object stays small. Unique values tell
 * bftmutex-lin the outcome of requests without an answer.
 */
static void make_queue(struct worker *w, char *text)
{
	unsigned int way = below(w, 20);

	if (way < 8)
		sprintf(text, "push %u", below(w, 1u << 31));
	else if (way < 17)
		sprintf(text, "pop");
	else
		sprintf(text, way < 19 ? "peek" : "len");
}

static void make_log(struct worker *w, char *text)
{
	unsigned int way = below(w, 10);

	if (way < 4)
		sprintf(text, "append %u", below(w, 1u << 31));
	else if (way < 7)
		sprintf(text, "len");
	else
		sprintf(text, "read %" PRIu64 " 2", draw(w, w->version + 1));
}

static const struct {
	const char *name;
	void (*make)(struct worker *w, char *text);
} types[] = {
	{ "counter", make_counter },
	{ "register", make_register },
	{ "map", make_map },
	{ "queue", make_queue },
	{ "log", make_log },
};

static void make_request(struct worker *w, char text[REQUEST_MAX])
{
	size_t i;

	if (args.request) {
		snprintf(text, REQUEST_MAX, "%s", args.request);
		return;
	}
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].name, args.type))
			types[i].make(w, text);
}

static char *quote(char *to, const char *text, size_t len)
{
	size_t i;

	*to++ = '"';
	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < ' ' || c == '"' || c == '\\' || c > '~')
			to += sprintf(to, "\\u%04x", c);
		else
			*to++ = (char)c;
	}
	*to++ = '"';
	return to;
}

/* One write each, so that lines of several processes do not mix. */
static void note(struct worker *w, const char *request, uint64_t invoked, uint64_t returned,
		 const struct bftmutex_response *r)
{
	char *to = w->line;

	if (args.fd < 0)
		return;
	to += sprintf(to, "{\"client\":%d,\"process\":%" PRIu64 ",\"object\":", w->client,
		      w->process);
	to = quote(to, args.object, strlen(args.object));
	to += sprintf(to, ",\"request\":");
	to = quote(to, request, strlen(request));
	to += sprintf(to, ",\"invoke_ns\":%" PRIu64, invoked);
	if (r) {
		to += sprintf(to, ",\"return_ns\":%" PRIu64 ",\"status\":%u,\"response\":",
			      returned, r->status);
		to = quote(to, r->data, r->len);
		to += sprintf(to, ",\"version\":%" PRIu64 ",\"number\":%" PRIu64 "}\n",
			      (uint64_t)(r->number / BFTM_NUMBERS), (uint64_t)r->number);
	} else {
		to += sprintf(to, ",\"return_ns\":null,\"status\":null,\"response\":null,\"version\":null}\n");
	}
	if (write(args.fd, w->line, (size_t)(to - w->line)) != to - w->line)
		err(EX_IOERR, "%s", args.history);
}

/* Dies by an unhandled signal, at any point of its threads. */
static void age(struct worker *w)
{
	static atomic_uint_least64_t begun;

	if (atomic_fetch_add(&begun, 1) + 1 == args.die)
		ualarm(1 + below(w, LAST_WORDS_US), 0);
}

static bool is_certain(int error)
{
	return error == -EACCES || error == -ENOSPC || error == -EPROTONOSUPPORT ||
	       error == -ENOTCONN || error == -ENOKEY || error == -ENOBUFS;
}

static int submit(struct worker *w, const char *request, int i)
{
	static __thread char data[BFTM_SUBMIT_MAX];
	struct bftmutex_response response = { .data = data, .room = sizeof(data) };
	const struct bftmutex_options options = { .timeout_ns = args.timeout_ns };
	uint64_t invoked = now_ns(), returned;
	int error;

	note(w, request, invoked, 0, NULL);
	age(w);
	error = bftmutex_submit(w->fd, args.object, strlen(args.object), request,
				strlen(request), &options, &response);
	returned = now_ns();
	if (args.print && error)
		printf("%s\n", strerrorname_np(-error));
	else if (args.print && i >= 0)
		printf("%u %.*s\n", response.status, (int)response.len, data);
	if (error) {
		w->unknown += !is_certain(error);
		w->failed += is_certain(error);
		/* The request may still be under way: the next one counts as another process's. */
		w->process += 1u << 8;
		return error;
	}
	note(w, request, invoked, returned, &response);
	if (i >= 0)
		w->ns[w->answered++] = returned - invoked;
	w->refused += response.status != 0;
	w->version = response.number / BFTM_NUMBERS;
	if (!response.status && !strncmp(request, "add ", 4))
		w->added += strtoull(request + 4, NULL, 10);
	return response.status ? (int)response.status : 0;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	char request[REQUEST_MAX];
	int i, last = 0, error;

	for (i = 0; i < args.count; i++) {
		make_request(w, request);
		error = submit(w, request, i);
		if (error < 0 && error != last && !args.print)
			warnx("client %d: %s: %s", w->client, request, strerror(-error));
		last = error;
		if (args.pause_us)
			sleep_ns(draw(w, args.pause_us * 1000));
	}
	return NULL;
}

static void create(struct worker *w)
{
	char request[64];
	int status;

	snprintf(request, sizeof(request), "create %s", args.type);
	status = submit(w, request, -1);
	if (status && status != EEXIST)
		errx(EX_UNAVAILABLE, "%s: %s", request, strerror(abs(status)));
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void print(struct worker *w, int n, uint64_t ns)
{
	uint64_t *all = calloc((size_t)n * (size_t)args.count + 1, sizeof(*all)), answered = 0;
	uint64_t refused = 0, unknown = 0, failed = 0, added = 0;
	int i;

	if (!all)
		err(EX_OSERR, "memory");
	for (i = 0; i < n; i++) {
		memcpy(all + answered, w[i].ns, w[i].answered * sizeof(*all));
		answered += w[i].answered;
		refused += w[i].refused;
		unknown += w[i].unknown;
		failed += w[i].failed;
		added += w[i].added;
	}
	qsort(all, answered, sizeof(*all), compare);
	printf("requests=%d\nanswered=%" PRIu64 "\nrefused=%" PRIu64 "\nunknown=%" PRIu64
	       "\nfailed=%" PRIu64 "\nadded=%" PRIu64 "\nns=%" PRIu64 "\n", n * args.count,
	       answered, refused, unknown, failed, added, ns);
	if (answered)
		printf("p50=%" PRIu64 "\np99=%" PRIu64 "\nmax=%" PRIu64 "\n", all[answered / 2],
		       all[answered * 99 / 100], all[answered - 1]);
	free(all);
}

static const struct argp_option options[] = {
	{ "object", 'o', "NAME", 0, "", 0 },
	{ "type", 't', "TYPE", 0, "", 0 },
	{ "request", 'r', "TEXT", 0, "", 0 },
	{ "create", 'c', NULL, 0, "", 0 },
	{ "clients", 'C', "A-B", 0, "", 0 },
	{ "threads", 'n', "N", 0, "", 0 },
	{ "count", 'k', "N", 0, "", 0 },
	{ "pause", 'p', "US", 0, "", 0 },
	{ "timeout", 'w', "S", 0, "", 0 },
	{ "seed", 's', "N", 0, "", 0 },
	{ "die", 'd', "N", 0, "", 0 },
	{ "print", 'P', NULL, 0, "", 0 },
	{ "history", 'h', "FILE", 0, "", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'o':
		args.object = arg;
		break;
	case 't':
		args.type = arg;
		break;
	case 'r':
		args.request = arg;
		break;
	case 'c':
		args.create = true;
		break;
	case 'C':
		if (sscanf(arg, "%d-%d", &args.first, &args.last) != 2)
			argp_error(state, "--clients %s: A-B is expected", arg);
		break;
	case 'n':
		args.threads = atoi(arg);
		break;
	case 'k':
		args.count = atoi(arg);
		break;
	case 'p':
		args.pause_us = strtoull(arg, NULL, 10);
		break;
	case 'w':
		args.timeout_ns = strtoull(arg, NULL, 10) * SEC;
		break;
	case 's':
		args.seed = strtoull(arg, NULL, 10);
		break;
	case 'd':
		args.die = strtoull(arg, NULL, 10);
		break;
	case 'P':
		args.print = true;
		args.count = 1;
		break;
	case 'h':
		args.history = arg;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = { .options = options, .parser = parse };

static void start(struct worker *w, int i)
{
	w->client = args.first + i / args.threads;
	w->fd = w->client ? open_client(w->client, 0) : open_here(0);
	if (w->fd < 0)
		errx(EX_UNAVAILABLE, "client %d: %s", w->client, strerror(-w->fd));
	w->process = (uint64_t)getpid() << 32 | (uint64_t)i;
	w->random = args.seed * 1000003 + (uint64_t)i;
	w->ns = calloc((size_t)args.count + 1, sizeof(*w->ns));
	w->line = malloc(LINE_MAX_LEN);
	if (!w->ns || !w->line)
		err(EX_OSERR, "memory");
}

int main(int argc, char **argv)
{
	struct worker *w;
	uint64_t begun;
	int i, n;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	n = (args.last - args.first + 1) * args.threads;
	w = calloc((size_t)n, sizeof(*w));
	if (!w)
		err(EX_OSERR, "memory");
	if (args.history)
		args.fd = open(args.history, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (args.history && args.fd < 0)
		err(EX_CANTCREAT, "%s", args.history);
	for (i = 0; i < n; i++)
		start(&w[i], i);
	if (args.create)
		create(&w[0]);
	begun = now_ns();
	for (i = 0; i < n; i++)
		if (pthread_create(&w[i].thread, NULL, work, &w[i]))
			errx(EX_OSERR, "thread");
	for (i = 0; i < n; i++)
		pthread_join(w[i].thread, NULL);
	if (!args.print)
		print(w, n, now_ns() - begun);
	return 0;
}
