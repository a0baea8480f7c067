// SPDX-License-Identifier: GPL-2.0
/* Servers in a configuration, and how long its words may be. */
#include "files.h"

#include <errno.h>
#include <limits.h>

#include "config/conf.h"

#define WITH(more) "cluster x { id = 1 b = 0 server 1 { address = 10.0.0.1\n" more " } }"
#define X50 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define ADDRESS_RULE "must be the numeric IPv4 or IPv6 address of one host; a port is a key of its own, 'port'\n"
#define LINK_LOCAL_RULE "a link-local address needs the interface of this host behind it, as in " \
	"fe80::1%eth0\n"
#define DEVICE_RULE "the name of a device is 1 to 15 characters\n"
#define ZONE_RULE "the name of an interface is 1 to 15 characters\n"
#define CLIENT_RULE "must be any, a number 1 to 4294967294, or two such as 7-9\n"

/* A configuration, and what is said about it when it stands in file f. */
static const struct {
	const char *text, *words;
} bad[] = {
	{ WITH("durability = maybe"),
	  "f:2: key 'durability' = 'maybe': must be none, async or sync\n" },
	{ WITH("journal = ''"), "f:2: key 'journal': a path is 1 to 511 characters\n" },
	{ WITH("max-holders = 4097"), "f:2: key 'max-holders' = '4097': must be 1 to 4096\n" },
	{ WITH("max-objects = 0"), "f:2: key 'max-objects' = '0': must be 1 to 65536\n" },
	{ WITH("max-state = 1023"), "f:2: key 'max-state' = '1023': must be 1024 to 1048576\n" },
	{ WITH("object-memory = 1"),
	  "f:2: key 'object-memory' = '1': must be 16777216 to 1099511627776\n" },
	{ WITH("ingress = ''"), "f:2: key 'ingress' = '': " DEVICE_RULE },
	{ WITH("ingress = sixteen-letters-"), "f:2: key 'ingress' = 'sixteen-letters-': " DEVICE_RULE },
	{ "cluster x { id = 1 b = 0 server 1 { address = 255.255.255.255 } }",
	  "f:1: key 'address' = '255.255.255.255': " ADDRESS_RULE },
	{ "cluster x { id = 1 b = 0 server 1 { address = '::' } }",
	  "f:1: key 'address' = '::': " ADDRESS_RULE },
	/* There is a host of that address on each interface. */
	{ "cluster x { id = 1 b = 0 server 1 { address = fe80::1 } }",
	  "f:1: key 'address' = 'fe80::1': " LINK_LOCAL_RULE },
	{ "cluster x { id = 1 b = 0 server 1 { address = febf:ffff::1 } }",
	  "f:1: key 'address' = 'febf:ffff::1': " LINK_LOCAL_RULE },
	{ "cluster x { id = 1 b = 0 server 1 { address = fe80::1% } }",
	  "f:1: key 'address' = 'fe80::1%': " ZONE_RULE },
	{ "cluster x { id = 1 b = 0 server 1 { address = fe80::1%sixteen-letters- } }",
	  "f:1: key 'address' = 'fe80::1%sixteen-letters-': " ZONE_RULE },
	{ "cluster x { id = 1 b = 0 server 1 { address = fd00::1%eth0 } }",
	  "f:1: key 'address' = 'fd00::1%eth0': only a link-local address has an interface behind it\n" },
	{ "cluster x { id = 1 b = 0 server 1 { address = 10.0.0.1%eth0 } }",
	  "f:1: key 'address' = '10.0.0.1%eth0': only a link-local address has an interface behind it\n" },

	/* No better key is named for one that no key can be, nor looked for. */
	{ WITH(X50 X50 " = 1"), "f:2: unknown key '" X50 X50 "'\n" },
	{ "cluster x { access { client = " X50 " } id = 1 b = 0 server 1 { address = 10.0.0.1 } }",
	  "f:1: key 'client' = '" X50 "': " CLIENT_RULE },
	{ "cluster x { access { client = 0000000000000000000000007-9 }"
	  " id = 1 b = 0 server 1 { address = 10.0.0.1 } }",
	  "f:1: key 'client' = '0000000000000000000000007-9': " CLIENT_RULE },
	{ "cluster x { access { deny = yes lease-max = 1s }"
	  " id = 1 b = 0 server 1 { address = 10.0.0.1 } }",
	  "f:1: key 'deny' = 'yes': such a rule has none of 'lease-max', 'waiters', 'leaseless'\n" },

	/* Both kinds of quotes, and what stands for one in them. */
	{ "cluster 'x {\n", "f:1: ' is never closed\n" },
	{ "cluster \"x\\", "f:1: \" is never closed\n" },
	{ "cluster \"x\\\n\"", "f:2: premature end of file\n" },
	{ "cluster \"x\\\" {\n", "f:1: \" is never closed\n" },
};

static int load(const char *text, struct bftm_conf **ret)
{
	return unit_read(bftm_conf_load(unit_given(text, 0644), ret));
}

static void every_mistake_is_named(void **state)
{
	struct bftm_conf *conf = NULL;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		if (load(bad[i].text, &conf) != -EINVAL || conf)
			fail_msg("taken for good: %s", bad[i].text);
		unit_says(bad[i].text, bad[i].words);
	}
}

static void a_server_with_all_keys(void **state)
{
	static const char text[] = WITH("port = 9 durability = sync journal = /j max-objects = 7\n"
					"max-holders = 8 max-state = 4096 object-memory = 33554432 ingress = eth0");
	const struct bftm_conf_server *s;
	struct bftm_conf *conf = NULL;

	(void)state;
	assert_int_equal(load(text, &conf), 0);
	assert_string_equal(unit_words, "");
	s = &conf->cluster->server[0];
	assert_string_equal(s->text, "10.0.0.1:9");
	assert_int_equal(s->durability, 2);
	assert_string_equal(s->journal, "/j");
	assert_int_equal(s->max_objects, 7);
	assert_int_equal(s->max_holders, 8);
	assert_int_equal(s->max_state, 4096);
	assert_true(s->object_memory == 33554432);
	assert_string_equal(s->ingress, "eth0");
	bftm_conf_free(conf);
}

/* Where there is no such interface, as on a server's own host, the configuration is good too. */
static void an_address_of_a_link(void **state)
{
	static const struct {
		const char *text, *shown;
		u32 index;
	} good[] = {
		{ "fe80::1%lo", "[fe80::1%lo]:7373", 1 },
		{ "fe80::1%7", "[fe80::1%7]:7373", 7 },
		{ "fe80::1%bftm-no-such", "[fe80::1%bftm-no-such]:7373", 0 },
	};
	struct bftm_conf *conf = NULL;
	char text[128];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		snprintf(text, sizeof(text), "cluster x { id = 1 b = 0 server 1 { address = %s } }",
			 good[i].text);
		assert_int_equal(load(text, &conf), 0);
		assert_string_equal(unit_words, "");
		assert_string_equal(conf->cluster->server[0].text, good[i].shown);
		assert_int_equal(conf->cluster->server[0].addr.sin6_scope_id, good[i].index);
		bftm_conf_free(conf);
	}
}

/* Before the first line an editor may have put it, and nowhere else. */
static void a_byte_order_mark(void **state)
{
	struct bftm_conf *conf = NULL;

	(void)state;
	assert_int_equal(load("\xef\xbb\xbf" WITH("port = 9"), &conf), 0);
	assert_string_equal(unit_words, "");
	assert_string_equal(conf->cluster->server[0].text, "10.0.0.1:9");
	bftm_conf_free(conf);
	conf = NULL;
	assert_int_equal(load("\xef\xbb\xbf", &conf), -EINVAL);
	assert_string_equal(unit_words, "f:1: no cluster is described here\n");
	assert_int_equal(load("\xef\xbb\xbf\xef\xbb\xbf" WITH("port = 9"), &conf), -EINVAL);
	assert_null(conf);
}

/* One character more than a path can have. */
static void paths_are_not_cut(void **state)
{
	static const struct {
		const char *key, *words;
		size_t most;
	} paths[] = {
		{ "} credentials = ", "f:2: key 'credentials': a path is 1 to 4095 characters\n",
		  PATH_MAX - 1 },
		{ "journal = ", "f:2: key 'journal': a path is 1 to 511 characters\n", 511 },
	};
	char path[PATH_MAX + 1], text[2 * PATH_MAX];
	struct bftm_conf *conf = NULL;
	size_t i;

	(void)state;
	memset(path, 'p', sizeof(path));
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		snprintf(text, sizeof(text),
			 "cluster x { id = 1 b = 0 server 1 { address = 10.0.0.1\n%s%.*s }%s",
			 paths[i].key, (int)paths[i].most + 1, path, i ? " }" : "");
		assert_int_equal(load(text, &conf), -EINVAL);
		assert_string_equal(unit_words, paths[i].words);
		snprintf(text, sizeof(text),
			 "cluster x { id = 1 b = 0 server 1 { address = 10.0.0.1\n%s%.*s }%s",
			 paths[i].key, (int)paths[i].most, path, i ? " }" : "");
		assert_int_equal(load(text, &conf), 0);
		assert_int_equal(strlen(i ? conf->cluster->server[0].journal :
					    conf->cluster->credentials), paths[i].most);
		bftm_conf_free(conf);
		conf = NULL;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_mistake_is_named),
		cmocka_unit_test(a_server_with_all_keys),
		cmocka_unit_test(a_byte_order_mark),
		cmocka_unit_test(an_address_of_a_link),
		cmocka_unit_test(paths_are_not_cut),
	};

	return cmocka_run_group_tests_name("conf_server", tests, unit_make_dir, unit_remove_dir);
}
