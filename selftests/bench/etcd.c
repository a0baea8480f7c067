// SPDX-License-Identifier: GPL-2.0
/*
 * Locks and values by etcd, over one HTTP/2 connection that stays, as its own
 * client has: the calls of etcd 3.4's gRPC, without the library for it.
 *
 *	etcd COUNT ADDRESS
 *
 * Prints etcd_lock (v3lockpb.Lock/Lock; giving back is not timed) and etcd_put.
 */
#include <curl/curl.h>
#include <string.h>

#include "bench.h"

#define PORT	2379
#define LEASE	0x1234567
#define WARM_UP	50

static const char lock_name[] = "lock";
static CURL *curl;
static char url_base[64];
static int grpc_status;

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

static size_t take_header(char *line, size_t size, size_t count, void *arg)
{
	(void)arg;
	if (count > 12 && !strncmp(line, "grpc-status:", 12))
		grpc_status = atoi(line + 12);
	return size * count;
}

static size_t take_body(char *data, size_t size, size_t count, void *arg)
{
	(void)data;
	(void)arg;
	return size * count;
}

static void rpc(const char *method, struct body *b)
{
	uint32_t len = htonl((uint32_t)b->len - 5);
	char url[128];
	CURLcode code;

	memcpy(b->data + 1, &len, sizeof(len));
	snprintf(url, sizeof(url), "%s%s", url_base, method);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, b->data);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)b->len);
	grpc_status = -1;
	code = curl_easy_perform(curl);
	if (code != CURLE_OK)
		errx(EX_UNAVAILABLE, "%s: %s", method, curl_easy_strerror(code));
	if (grpc_status)
		errx(EX_PROTOCOL, "%s: gRPC status %d", method, grpc_status);
}

static void grant_lease(void)
{
	struct body b = begin();

	put_number(&b, 1, 3600);
	put_number(&b, 2, LEASE);
	rpc("/etcdserverpb.Lease/LeaseGrant", &b);
}

static void lock(void)
{
	struct body b = begin();

	put_text(&b, 1, lock_name);
	put_number(&b, 2, LEASE);
	rpc("/v3lockpb.Lock/Lock", &b);
}

static void unlock(void)
{
	struct body b = begin();
	char key[32];

	snprintf(key, sizeof(key), "%s/%x", lock_name, LEASE);
	put_text(&b, 1, key);
	rpc("/v3lockpb.Lock/Unlock", &b);
}

static void put(void)
{
	struct body b = begin();

	put_text(&b, 1, "key");
	put_text(&b, 2, "0123456789abcdef0123456789abcdef01234567");
	rpc("/etcdserverpb.KV/Put", &b);
}

static void measure(const char *name, uint32_t count, void (*call)(void), void (*undo)(void))
{
	struct bench_times times;
	uint64_t before;
	uint32_t i;

	bench_alloc(&times, count);
	for (i = 0; i < WARM_UP + count; i++) {
		before = bench_now();
		call();
		if (i >= WARM_UP)
			bench_add(&times, bench_now() - before);
		if (undo)
			undo();
		bench_settle(2 * BENCH_MS);
	}
	bench_print(name, &times);
}

int main(int argc, char **argv)
{
	struct curl_slist *headers = NULL;

	if (argc != 3)
		errx(EX_USAGE, "etcd COUNT ADDRESS");
	snprintf(url_base, sizeof(url_base), "http://%s:%d", argv[2], PORT);
	curl_global_init(CURL_GLOBAL_DEFAULT);
	curl = curl_easy_init();
	headers = curl_slist_append(headers, "content-type: application/grpc");
	headers = curl_slist_append(headers, "te: trailers");
	headers = curl_slist_append(headers, "expect:");
	if (!curl || !headers)
		errx(EX_OSERR, "libcurl");
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, 30L);
	grant_lease();
	measure("etcd_lock", bench_number("COUNT", argv[1], 1, BENCH_COUNT_MAX), lock, unlock);
	measure("etcd_put", bench_number("COUNT", argv[1], 1, BENCH_COUNT_MAX), put, NULL);
	curl_easy_cleanup(curl);
	curl_slist_free_all(headers);
	return 0;
}
