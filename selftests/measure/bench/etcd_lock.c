// SPDX-License-Identifier: GPL-2.0
/*
 * Locks and values by etcd, over one HTTP/2 connection that stays, as its own
 * client has: the calls of etcd 3.4's gRPC, by nghttp2.
 *
 *	etcd_lock COUNT ADDRESS [AT-ONCE...]
 *
 * Prints etcd_lock (v3lockpb.Lock/Lock; giving back is not timed) and etcd_put; or
 * instead, for each AT-ONCE, etcd_put_AT-ONCE: of so many puts on their way at any
 * time, each one's time and the time for each.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "mark.h"

#define PORT	2379
#define WARM_UP	50
#define AT_ONCE_MAX	64u

static const char lock_name[] = "lock";
static nghttp2_session *session;
static const char *address;
static int fd;
/* Its number is ours to choose, and nobody else's: that of this process. */
static uint32_t lease;

/* Of the call under way. */
static int grpc_status;
static bool closed;

/* When puts of many at once were sent, and those that are answered. */
static uint64_t sent_ns[AT_ONCE_MAX];
static struct bench_times flown;

/** struct body - a gRPC message: a byte 0, its length, and protobuf fields */
struct body {
	uint8_t data[256];
	size_t len;
};

static void put_varint(struct body *b, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		b->data[b->len++] = (uint8_t)(value | 0x80);
	b->data[b->len++] = (uint8_t)value;
}

static void put_number(struct body *b, uint32_t field, uint64_t value)
{
	put_varint(b, field << 3);
	put_varint(b, value);
}

static void put_text(struct body *b, uint32_t field, const char *text)
{
	put_varint(b, field << 3 | 2);
	put_varint(b, strlen(text));
	memcpy(b->data + b->len, text, strlen(text));
	b->len += strlen(text);
}

static struct body begin(void)
{
	return (struct body){ .len = 5 };
}

static int take_header(nghttp2_session *h, const nghttp2_frame *frame, const uint8_t *name,
		       size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
		       void *arg)
{
	(void)h, (void)frame, (void)flags, (void)arg;
	if (name_len == 11 && !memcmp(name, "grpc-status", name_len))
		grpc_status = value_len == 1 ? value[0] - '0' : 99;
	return 0;
}

static int take_end(nghttp2_session *h, int32_t stream, uint32_t error, void *arg)
{
	uint64_t *sent = nghttp2_session_get_stream_user_data(h, stream);

	(void)error;
	(void)arg;
	closed = true;
	if (sent) {
		bench_add(&flown, bench_now() - *sent);
		*sent = 0;
	}
	return 0;
}

static ssize_t give_body(nghttp2_session *h, int32_t stream, uint8_t *buf, size_t room,
			 uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	const struct body *b = source->ptr;

	(void)h, (void)stream, (void)arg;
	if (b->len > room)
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	memcpy(buf, b->data, b->len);
	*flags = NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)b->len;
}

/* Frames may be many; they go out in one piece. */
static void send_all(void)
{
	uint8_t out[16384];
	const uint8_t *data;
	size_t filled = 0;
	ssize_t len;

	while ((len = nghttp2_session_mem_send(session, &data)) > 0) {
		if (filled + (size_t)len > sizeof(out))
			errx(EX_SOFTWARE, "a request of more than %zu bytes", sizeof(out));
		memcpy(out + filled, data, (size_t)len);
		filled += (size_t)len;
	}
	if (len < 0 || (filled && send(fd, out, filled, 0) != (ssize_t)filled))
		err(EX_UNAVAILABLE, "%s", address);
}

#define HEADER(n, v) { .name = (uint8_t *)(n), .namelen = strlen(n), \
		       .value = (uint8_t *)(v), .valuelen = strlen(v) }

/* @sent: when, for one of many; NULL for a call by itself */
static void submit(const char *method, struct body *b, uint64_t *sent)
{
	const nghttp2_nv headers[] = {
		HEADER(":method", "POST"), HEADER(":scheme", "http"), HEADER(":path", method),
		HEADER(":authority", address), HEADER("content-type", "application/grpc"),
		HEADER("te", "trailers"),
	};
	nghttp2_data_provider body = { .source.ptr = b, .read_callback = give_body };
	uint32_t size = htonl((uint32_t)b->len - 5);

	memcpy(b->data + 1, &size, sizeof(size));
	if (sent)
		*sent = bench_now();
	if (nghttp2_submit_request(session, NULL, headers, sizeof(headers) / sizeof(headers[0]),
				   &body, sent) < 0)
		errx(EX_SOFTWARE, "%s: nghttp2", method);
}

/* Until one call is over. */
static void wait_for_one(const char *method)
{
	uint8_t in[4096];
	ssize_t len;

	grpc_status = -1;
	closed = false;
	while (!closed) {
		send_all();
		len = recv(fd, in, sizeof(in), 0);
		if (len <= 0 || nghttp2_session_mem_recv(session, in, (size_t)len) < 0)
			err(EX_UNAVAILABLE, "%s", method);
	}
	if (grpc_status)
		errx(EX_PROTOCOL, "%s: gRPC status %d", method, grpc_status);
}

static void rpc(const char *method, struct body *b)
{
	submit(method, b, NULL);
	wait_for_one(method);
}

static void open_session(void)
{
	nghttp2_session_callbacks *callbacks;
	int on = 1;

	fd = bench_connect(address, PORT, SOCK_STREAM, 0);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (nghttp2_session_callbacks_new(&callbacks))
		errx(EX_OSERR, "memory");
	nghttp2_session_callbacks_set_on_header_callback(callbacks, take_header);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, take_end);
	if (nghttp2_session_client_new(&session, callbacks, NULL) ||
	    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, NULL, 0))
		errx(EX_OSERR, "memory");
	nghttp2_session_callbacks_del(callbacks);
}

static void grant_lease(void)
{
	struct body b = begin();

	put_number(&b, 1, 3600);
	put_number(&b, 2, lease);
	rpc("/etcdserverpb.Lease/LeaseGrant", &b);
}

static void lock(void)
{
	struct body b = begin();

	put_text(&b, 1, lock_name);
	put_number(&b, 2, lease);
	rpc("/v3lockpb.Lock/Lock", &b);
}

static void unlock(void)
{
	struct body b = begin();
	char key[32];

	snprintf(key, sizeof(key), "%s/%x", lock_name, lease);
	put_text(&b, 1, key);
	rpc("/v3lockpb.Lock/Unlock", &b);
}

static const char put_method[] = "/etcdserverpb.KV/Put";

static struct body put_body(void)
{
	struct body b = begin();

	put_text(&b, 1, "key");
	put_text(&b, 2, "0123456789abcdef0123456789abcdef01234567");
	return b;
}

static void put(void)
{
	struct body b = put_body();

	rpc(put_method, &b);
}

static void fly(uint32_t count, uint32_t at_once)
{
	struct body b = put_body();
	uint32_t i;

	while (flown.count < count) {
		for (i = 0; i < at_once; i++)
			if (!sent_ns[i])
				submit(put_method, &b, &sent_ns[i]);
		wait_for_one(put_method);
	}
	/* The others end as well, so that the next ones begin alone. */
	for (i = 0; i < at_once; i++)
		while (sent_ns[i])
			wait_for_one(put_method);
}

static void measure_many(uint32_t count, uint32_t at_once)
{
	uint64_t before;
	char name[32];

	bench_alloc(&flown, count);
	fly(WARM_UP, at_once);
	flown.count = 0;
	before = bench_now();
	fly(count, at_once);
	before = bench_now() - before;
	snprintf(name, sizeof(name), "etcd_put_%u", at_once);
	printf("%s.per_request %" PRIu64 " ns\n", name, before / count);
	bench_print(name, &flown);
	free(flown.ns);
}

static void measure(const char *name, uint32_t count, void (*call)(void), void (*undo)(void))
{
	struct bench_times times;
	uint64_t before, took;
	uint32_t i;

	bench_alloc(&times, count);
	for (i = 0; i < WARM_UP + count; i++) {
		/* Of both that main() measures, only this is traced. */
		if (undo)
			mark("begin");
		before = bench_now();
		call();
		took = bench_now() - before;
		if (undo)
			mark("end");
		if (i >= WARM_UP)
			bench_add(&times, took);
		if (undo)
			undo();
		bench_settle(2 * BENCH_MS);
	}
	bench_print(name, &times);
}

int main(int argc, char **argv)
{
	uint32_t count;
	int i;

	if (argc < 3)
		errx(EX_USAGE, "etcd_lock COUNT ADDRESS [AT-ONCE...]");
	count = bench_number("COUNT", argv[1], 1, BENCH_COUNT_MAX);
	address = argv[2];
	lease = (uint32_t)getpid();
	open_session();
	for (i = 3; i < argc; i++)
		measure_many(count, bench_number("AT-ONCE", argv[i], 1, AT_ONCE_MAX));
	if (argc == 3) {
		grant_lease();
		measure("etcd_lock", count, lock, unlock);
		measure("etcd_put", count, put, NULL);
	}
	nghttp2_session_del(session);
	return 0;
}
