// SPDX-License-Identifier: GPL-2.0
/* The configuration: what it says, and what is said about mistakes in it. */
#include "files.h"

#include <arpa/inet.h>
#include <errno.h>

#include "config/conf.h"

#define SERVER "server 1 { address = 10.0.0.1 }"
#define FOUR \
	"server 1 { address = 10.0.0.1 } server 2 { address = 10.0.0.2 } " \
	"server 3 { address = 10.0.0.3 } server 4 { address = 10.0.0.4 }"
#define FIVE FOUR " server 5 { address = 10.0.0.5 }"
/* Everything that must be there. */
#define WITH(more) "cluster x { id = 1 b = 0 " more " " SERVER " }"
#define X32 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define NAME_RULE "a name is 1 to 32 printable characters without space and '/'\n"
#define M_RULE \
	": fewer grants let two clients in, more cannot be had while b servers are silent\n"
#define ADDRESS_RULE "must be the numeric IPv4 or IPv6 address of one host; a port is a key of its own, 'port'\n"

/* A configuration, and what is said about it when it stands in file f. */
static const struct {
	const char *text, *words;
} bad[] = {
	{ "", "f:1: no cluster is described here\n" },
	{ "\n# nothing\n", "f:1: no cluster is described here\n" },
	{ "cluster x {\n\tid = 1\n", "f:1: { is never closed\n" },
	{ "#{\ncluster \"x {\n", "f:2: \" is never closed\n" },
	{ "}", "f:1: unexpected closing brace\n" },
	{ "cluster {\n}", "f:1: missing title for section 'cluster'\n" },
	{ "cluster x id = 1", "f:1: missing opening brace for section 'cluster'\n" },
	{ "cluster x {\n id 1 }", "f:2: missing equal sign after option 'id'\n" },
	{ "cluster x {\n id = }", "f:2: unexpected token '}'\n" },

	/* Comments do not disturb the lines. */
	{ "# one\n# two {\ncluster x { # three \"\n\tid = 0 # four\n b = 0 " SERVER " }",
	  "f:4: key 'id' = '0': must be 1 to 4294967295\n" },
	{ "cluster x {\n credentials = \"a\n#b\"\n id = 0 b = 0 " SERVER " }",
	  "f:4: key 'id' = '0': must be 1 to 4294967295\n" },

	{ WITH("leese = 1s"), "f:1: unknown key 'leese'; did you mean 'lease'?\n" },
	{ WITH("leasemax = 1s"), "f:1: unknown key 'leasemax'; did you mean 'lease-max'?\n" },
	{ WITH("colour = red"), "f:1: unknown key 'colour'\n" },
	{ "defualt = x\n" WITH(""), "f:1: unknown key 'defualt'; did you mean 'default'?\n" },
	{ "clutser x {\n id = 1 }", "f:1: unknown key 'clutser'; did you mean 'cluster'?\n" },
	{ "cluster x { id = 1 b = 0\n server 1 { adress = 10.0.0.1 } }",
	  "f:2: unknown key 'adress'; did you mean 'address'?\n"
	  "f:2: server '1': key 'address' is missing\n" },
	{ "cluster x { id = 1 b = 0 " SERVER "\n lease = 1s\n lease = 2s }",
	  "f:3: key 'lease' was given before, on line 2\n" },

	{ "cluster x {\n b = 0 " SERVER "\n}", "f:3: cluster 'x': key 'id' is missing\n" },
	{ "cluster x {\n id = 1 " SERVER "\n}", "f:3: cluster 'x': key 'b' is missing\n" },
	{ "cluster x {\n id = 1 b = 0\n}", "f:3: cluster 'x': no servers\n" },

	{ "cluster x { id = 4294967296 b = 0 " SERVER " }",
	  "f:1: key 'id' = '4294967296': must be 1 to 4294967295\n" },
	{ "cluster x { id = -1 b = 0 " SERVER " }",
	  "f:1: key 'id' = '-1': must be 1 to 4294967295\n" },
	{ "cluster x { id = 1 b = 11 " SERVER " }", "f:1: key 'b' = '11': must be 0 to 10\n" },
	{ WITH("lease = 2h"), "f:1: key 'lease' = '2h': must be 1ms to 1h\n" },
	{ WITH("lease = 999us"), "f:1: key 'lease' = '999us': must be 1ms to 1h\n" },
	{ WITH("lease = soon"), "f:1: key 'lease' = 'soon': must be 1ms to 1h\n" },
	{ WITH("lease = \"\""), "f:1: key 'lease' = '': must be 1ms to 1h\n" },
	{ WITH("lease-max = 3600.000000001s"),
	  "f:1: key 'lease-max' = '3600.000000001s': must be 1ms to 1h\n" },
	{ WITH("lease = 31s"), "f:1: key 'lease' = '31s': must be at most lease-max = 30s\n" },
	{ WITH("delta = 0"), "f:1: key 'delta' = '0': must be 1us to 1m\n" },
	{ WITH("rho = 0"), "f:1: key 'rho' = '0': must be 1 to 100000\n" },
	{ WITH("rho = 100001"), "f:1: key 'rho' = '100001': must be 1 to 100000\n" },
	{ WITH("exponent = 9"), "f:1: key 'exponent' = '9': must be 1 to 8\n" },
	{ WITH("retry-max = 0"), "f:1: key 'retry-max' = '0': must be 1ms to 1h\n" },
	{ WITH("protocol = raft"), "f:1: key 'protocol' = 'raft': must be backoff or sigma\n" },
	{ "cluster x { id = 1 protocol = sigma\n m = 32 " FIVE " }",
	  "f:2: key 'm' = '32': must be 1 to 31\n" },
	{ "cluster x { id = 1 protocol = sigma\n m = 2 " FIVE " }",
	  "f:2: cluster 'x': key 'm' = '2': must be 3 to 5 with n = 5 and b = 0" M_RULE },
	{ "cluster x { id = 1 b = 1 protocol = sigma\n m = 5 " FIVE " }",
	  "f:2: cluster 'x': key 'm' = '5': must be 4 to 4 with n = 5 and b = 1" M_RULE },
	{ "cluster x { id = 1 b = 1\n m = 4 " FIVE " }",
	  "f:2: cluster 'x': key 'm' = '4': is for protocol = sigma; without it a lock needs F grants, the least that are safe\n" },
	{ "cluster x { id = 1 protocol = sigma\n contend = literal " FIVE " }",
	  "f:2: cluster 'x': contend = literal is not for protocol = sigma, which counts m grants\n" },
	{ "cluster x { id = 1 protocol = sigma\n b = 2 " FOUR " }",
	  "f:2: cluster 'x': 4 servers cannot mask b = 2 liars: locks need n >= 3b + 1 = 7\n" },
	{ WITH("contend = Quorum"), "f:1: key 'contend' = 'Quorum': must be quorum or literal\n" },
	{ WITH("wait = long"), "f:1: key 'wait' = 'long': must be queue or backoff\n" },
	{ "cluster x { id = 1 b = 0 contend = literal\n wait = queue " SERVER " }",
	  "f:2: cluster 'x': wait = queue is not for contend = literal, which only backs off\n" },
	{ WITH("retry = never"),
	  "f:1: key 'retry' = 'never': must be exponential or polynomial\n" },
	{ WITH("credentials = \"\""), "f:1: key 'credentials': a path is 1 to 4095 characters\n" },

	{ "cluster x { id = 1 b = 0 server 0 { address = 10.0.0.1 } }",
	  "f:1: server '0': its number must be 1 to 65535\n" },
	{ "cluster x { id = 1 b = 0 server a { address = 10.0.0.1 } }",
	  "f:1: server 'a': its number must be 1 to 65535\n" },
	{ "cluster x { id = 1 b = 0 server 65536 { address = 10.0.0.1 } }",
	  "f:1: server '65536': its number must be 1 to 65535\n" },
	{ "cluster x { id = 1 b = 0 server 1 { } }",
	  "f:1: server '1': key 'address' is missing\n" },
	{ "cluster x { id = 1 b = 0 server 1 { address = localhost } }",
	  "f:1: key 'address' = 'localhost': " ADDRESS_RULE },
	{ "cluster x { id = 1 b = 0 server 1 { address = 10.0.0.256 } }",
	  "f:1: key 'address' = '10.0.0.256': " ADDRESS_RULE },
	{ "cluster x { id = 1 b = 0 server 1 { address = 0.0.0.0 } }",
	  "f:1: key 'address' = '0.0.0.0': " ADDRESS_RULE },
	{ "cluster x { id = 1 b = 0 server 1 { address = ff02::1 } }",
	  "f:1: key 'address' = 'ff02::1': " ADDRESS_RULE },
	{ "cluster x { id = 1 b = 0 server 1 { address = ::ffff:224.0.0.1 } }",
	  "f:1: key 'address' = '::ffff:224.0.0.1': " ADDRESS_RULE },
	{ "cluster x { id = 1 b = 0 server 1 { address = 10.0.0.1 port = 0 } }",
	  "f:1: key 'port' = '0': must be 1 to 65535\n" },
	{ "cluster x { id = 1 b = 0 server 1 { address = 10.0.0.1 port = 65536 } }",
	  "f:1: key 'port' = '65536': must be 1 to 65535\n" },
	{ "cluster x { id = 1 b = 0 " SERVER "\n" SERVER " }",
	  "f:2: server '1' is there twice\n" },
	{ "cluster x { id = 1 b = 0 " SERVER "\nserver 01 { address = 10.0.0.2 } }",
	  "f:2: server '01' is there twice\n" },
	{ "cluster x { id = 1 b = 0 " SERVER "\nserver 2 { address = ::ffff:10.0.0.1 } }",
	  "f:2: servers 1 and 2 have the same address 10.0.0.1:7373\n" },

	{ "cluster x { id = 1\n b = 2 " FIVE " }",
	  "f:2: cluster 'x': 5 servers cannot mask b = 2 liars: "
	  "locks need n >= 3b + 1 = 7\n" },
	{ "cluster x { id = 1\n b = 1 contend = literal " FIVE " }",
	  "f:2: cluster 'x': 5 servers cannot mask b = 1 liars: "
	  "contend = literal needs n >= 5b + 1 = 6\n" },
	{ "cluster x { id = 1 b = 1\n max-state = 2000 " FIVE " }",
	  "f:2: cluster 'x': 5 servers cannot order with b = 1 liars: that needs "
	  "n >= 6b + 1 = 7, or n >= 4b + 1 = 5 with signed-ranks = yes\n" },
	{ "cluster x { id = 1 b = 1\n signed-ranks = no " FIVE " }",
	  "f:2: cluster 'x': 5 servers cannot order with b = 1 liars: that needs "
	  "n >= 6b + 1 = 7, or n >= 4b + 1 = 5 with signed-ranks = yes\n" },
	{ "cluster x { id = 1 b = 1\n signed-ranks = no\n max-state = 2000 " FIVE " }",
	  "f:3: cluster 'x': 5 servers cannot order with b = 1 liars: that needs "
	  "n >= 6b + 1 = 7, or n >= 4b + 1 = 5 with signed-ranks = yes\n" },
	{ "cluster x { id = 1 b = 0 signed-ranks = yes }", "f:1: cluster 'x': no servers\n" },
	{ WITH("signed-ranks = maybe"), "f:1: key 'signed-ranks' = 'maybe': must be no or yes\n" },
	{ WITH("fast-path = maybe"), "f:1: key 'fast-path' = 'maybe': must be no or yes\n" },
	{ WITH("ingress = ''"), "f:1: key 'ingress' = '': the name of a device is 1 to 15 characters\n" },
	{ WITH("ask = some"), "f:1: key 'ask' = 'some': must be all, first or auto\n" },
	{ WITH("leaseless = maybe"), "f:1: key 'leaseless' = 'maybe': must be no or yes\n" },
	{ WITH("max-state = 1023"), "f:1: key 'max-state' = '1023': must be 1024 to 1048576\n" },

	{ "sandbox = maybe\n" WITH(""), "f:1: key 'sandbox' = 'maybe': must be no, yes or strict\n" },
	{ "type t { program = /t }\nsandbox = strict\n" WITH(""),
	  "f:2: key 'sandbox' = 'strict': with a section 'type' it must be no or yes\n" },

	{ WITH("") "\n" WITH(""), "f:2: cluster 'x' is there twice\n" },
	{ WITH("") "\ncluster y { id = 1 b = 0 " SERVER " }",
	  "f:2: clusters 'x' and 'y' have the same id 1\n" },
	{ WITH("") "\ncluster y { b = 0 " SERVER " }", "f:2: cluster 'y': key 'id' is missing\n" },
	{ "cluster \"\" { id = 1 b = 0 " SERVER " }", "f:1: cluster '': " NAME_RULE },
	{ "cluster \"a b\" { id = 1 b = 0 " SERVER " }", "f:1: cluster 'a b': " NAME_RULE },
	{ "cluster ../x { id = 1 b = 0 " SERVER " }", "f:1: cluster '../x': " NAME_RULE },
	{ "cluster " X32 "x { id = 1 b = 0 " SERVER " }",
	  "f:1: cluster '" X32 "x': " NAME_RULE },
	{ "default = y\n" WITH(""), "f:1: key 'default' = 'y': there is no such cluster\n" },
	{ "default = ''\n" WITH(""), "f:1: key 'default' = '': there is no such cluster\n" },

	/* One mistake does not hide another. */
	/* A line that cannot be read hides nothing but itself. */
	{ "cluster x {\n id = 0\n lease = = 5s\n server 1 { address = 10.0.0.1 }\n"
	  " server 1 {\n  address = 10.0.0.2\n }\n rho 7\n server 3 { port = 99999 }\n}\n",
	  "f:3: unexpected token '='\n"
	  "f:5: server '1' is there twice\n"
	  "f:8: missing equal sign after option 'rho'\n"
	  "f:2: key 'id' = '0': must be 1 to 4294967295\n"
	  "f:9: key 'port' = '99999': must be 1 to 65535\n" },
	{ "clutser a {\n id = 1\n}\ncluster x {\n foo { a = \"}\\\"\" }\n lease = 9d\n"
	  " server 1 { address = here }\n}\n",
	  "f:1: unknown key 'clutser'; did you mean 'cluster'?\n"
	  "f:5: unknown key 'foo'\n"
	  "f:6: key 'lease' = '9d': must be 1ms to 1h\n"
	  "f:7: key 'address' = 'here': " ADDRESS_RULE },
	{ "default = y\ncluster x {\n id = 0\n leese = 1s\n b = 1\n rho = 0\n"
	  " server 1 { address = here port = 0 }\n}",
	  "f:4: unknown key 'leese'; did you mean 'lease'?\n"
	  "f:3: key 'id' = '0': must be 1 to 4294967295\n"
	  "f:6: key 'rho' = '0': must be 1 to 100000\n"
	  "f:7: key 'address' = 'here': " ADDRESS_RULE
	  "f:7: key 'port' = '0': must be 1 to 65535\n"
	  "f:5: cluster 'x': 1 servers cannot mask b = 1 liars: locks need n >= 3b + 1 = 4\n"
	  "f:1: key 'default' = 'y': there is no such cluster\n" },
};

static int load(const char *text, size_t len, struct bftm_conf **ret)
{
	unit_listen();
	return unit_read(bftm_conf_load(unit_write("f", text, len, 0644), ret));
}

static void every_mistake_is_named(void **state)
{
	struct bftm_conf *const before = (struct bftm_conf *)&bad;
	struct bftm_conf *conf = before;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		if (load(bad[i].text, strlen(bad[i].text), &conf) != -EINVAL || conf != before)
			fail_msg("taken for good: %s", bad[i].text);
		unit_says(bad[i].text, bad[i].words);
	}
}

static void a_configuration_with_all_keys(void **state)
{
	static const char text[] =
		"# clusters\n"
		"default = storage   # not the first\n"
		"sandbox = strict\n"
		"cluster other { id = 4294967295 b = 0 lease-max = 2s " SERVER " }\n"
		"cluster storage {\n"
		"\tid = 7\n\tb = 1\n\tcredentials = \"/etc/my keys#1\"\n\tlease = 1.5s\n"
		"\tlease-max = 1m\n\tdelta = 250us\n\trho = 100\n\tprotocol = backoff\n"
		"\tcontend = literal\n\twait = backoff\n\tretry = polynomial\n\texponent = 3\n\tretry-max = 5s\n"
		"\tserver 65535 { address = fd00::0:1 port = 1 }\n"
		"\tserver 1 { address = \"::ffff:10.0.0.1\" port = 65535 }\n"
		"\tserver 2 { address = 10.0.0.1 }\n"
		"\tserver 3 { address = 10.0.0.3 }\n"
		"\tserver 4 { address = 10.0.0.4 }\n"
		"\tserver 5 { address = 10.0.0.5 }\n"
		"}";
	const struct bftm_conf_cluster *c;
	struct bftm_conf *conf = NULL;

	(void)state;
	assert_int_equal(load(text, strlen(text), &conf), 0);
	assert_string_equal(unit_words, "");
	assert_int_equal(conf->count, 2);
	assert_int_equal(conf->standard, 1);
	assert_int_equal(conf->sandbox, BFTM_SANDBOX_STRICT);
	c = bftm_conf_find(conf, "");
	assert_ptr_equal(c, bftm_conf_find(conf, "storage"));
	assert_null(bftm_conf_find(conf, "stor"));
	assert_string_equal(c->name, "storage");
	assert_int_equal(c->id, 7);
	assert_int_equal(c->n, 6);
	assert_int_equal(c->b, 1);
	assert_string_equal(c->credentials, "/etc/my keys#1");
	assert_int_equal(c->lease_ns, 1500000000);
	assert_int_equal(c->lease_max_ns, 60000000000);
	assert_int_equal(c->delta_ns, 250000);
	assert_int_equal(c->rho_ppm, 100);
	assert_int_equal(c->proto, 1);
	assert_true(c->literal);
	assert_true(c->backoff);	/* follows from it */
	assert_int_equal(c->retry, BFTM_RETRY_POLYNOMIAL);
	assert_int_equal(c->exponent, 3);
	assert_int_equal(c->retry_max_ns, 5000000000);
	assert_int_equal(c->server[0].id, 65535);
	assert_string_equal(c->server[0].text, "[fd00::1]:1");
	assert_string_equal(c->server[1].text, "10.0.0.1:65535");
	assert_string_equal(c->server[2].text, "10.0.0.1:7373");
	assert_int_equal(c->server[2].addr.sin6_family, AF_INET6);
	assert_int_equal(ntohs(c->server[2].addr.sin6_port), 7373);
	assert_true(IN6_IS_ADDR_V4MAPPED(&c->server[2].addr.sin6_addr));

	c = bftm_conf_find(conf, "other");
	assert_int_equal(c->id, 4294967295u);
	assert_int_equal(c->lease_max_ns, 2000000000);
	assert_int_equal(c->lease_ns, 2000000000);	/* not more than that */
	assert_string_equal(c->credentials, "/etc/bftmutex/keys/other.client");
	bftm_conf_free(conf);
}

static void what_is_left_out_has_its_default(void **state)
{
	const struct bftm_conf_cluster *c;
	struct bftm_conf *conf = NULL;

	(void)state;
	assert_int_equal(load(WITH(""), strlen(WITH("")), &conf), 0);
	c = bftm_conf_find(conf, "");
	assert_string_equal(c->name, "x");
	assert_int_equal(c->lease_ns, 10 * BFTM_NS_PER_SEC);
	assert_int_equal(c->lease_max_ns, BFTM_LEASE_MAX_DEFAULT_NS);
	assert_int_equal(c->delta_ns, BFTM_DELTA_DEFAULT_NS);
	assert_int_equal(c->rho_ppm, BFTM_RHO_DEFAULT_PPM);
	assert_int_equal(c->proto, 1);
	assert_int_equal(c->m, 0);
	assert_false(c->literal);
	assert_false(c->backoff);
	assert_int_equal(c->retry, BFTM_RETRY_EXPONENTIAL);
	assert_int_equal(c->exponent, 2);
	assert_int_equal(conf->sandbox, BFTM_SANDBOX_YES);
	assert_int_equal(c->retry_max_ns, 60 * BFTM_NS_PER_SEC);
	bftm_conf_free(conf);
}

/* The daemon keeps a cluster whose bytes are the same: "none" is as if the key were not there. */
static void ingress_of_answers(void **state)
{
	static const char *const text[] = { WITH(""), WITH("ingress = none"), WITH("ingress = eth0") };
	struct bftm_conf *conf[3] = {};
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++)
		assert_int_equal(load(text[i], strlen(text[i]), &conf[i]), 0);
	assert_memory_equal(conf[0]->cluster, conf[1]->cluster, sizeof(*conf[0]->cluster));
	assert_string_equal(conf[2]->cluster->ingress, "eth0");
	for (i = 0; i < 3; i++)
		bftm_conf_free(conf[i]);
}

/* Three quarters of the servers, and no liars; or as it says. */
static void sigma_has_an_m(void **state)
{
	static const struct {
		const char *keys;
		u32 b, m;
	} given[] = {
		{ "", 0, 4 }, { "m = 3", 0, 3 }, { "b = 1", 1, 4 }, { "b = 0 m = 5", 0, 5 },
	};
	const struct bftm_conf_cluster *c;
	struct bftm_conf *conf = NULL;
	char text[512];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(given); i++) {
		snprintf(text, sizeof(text), "cluster x { id = 1 protocol = sigma %s " FIVE " }",
			 given[i].keys);
		assert_int_equal(load(text, strlen(text), &conf), 0);
		c = bftm_conf_find(conf, "");
		assert_int_equal(c->proto, 1);
		assert_int_equal(c->b, given[i].b);
		assert_int_equal(c->m, given[i].m);
		bftm_conf_free(conf);
	}
}

/* 31 servers are the most, and with them b = 10 is. */
static void the_largest_cluster(void **state)
{
	struct bftm_conf *conf = NULL;
	char text[4096];
	int n, i, len;

	(void)state;
	for (n = 31; n <= 32; n++) {
		len = snprintf(text, sizeof(text), "cluster x { id = 1 b = 10 %s\n",
			       n == 32 ? "signed-ranks = yes" : "");
		for (i = 1; i <= n; i++)
			len += snprintf(text + len, sizeof(text) - (size_t)len,
					"server %d { address = 10.0.0.%d }\n", i, i);
		len += snprintf(text + len, sizeof(text) - (size_t)len, "}");
		if (n == 31) {
			assert_int_equal(load(text, (size_t)len, &conf), 0);
			assert_int_equal(conf->cluster->n, 31);
			bftm_conf_free(conf);
		} else {
			assert_int_equal(load(text, (size_t)len, &conf), -EINVAL);
			assert_string_equal(unit_words, "f:34: cluster 'x': 32 servers, "
							"but 31 are the most\n");
		}
	}
}

static void files_that_are_no_configuration(void **state)
{
	struct bftm_conf *conf = NULL;
	char *large;

	(void)state;
	assert_int_equal(load("cluster x\0{", 11, &conf), -EINVAL);
	assert_string_equal(unit_words, "f:1: not a text file\n");
	large = calloc(1, 2 << 20);
	memset(large, ' ', 2 << 20);
	assert_int_equal(load(large, 2 << 20, &conf), -EINVAL);
	assert_string_equal(unit_words, "f:1: longer than 1 MiB\n");
	free(large);

	unit_listen();
	assert_int_equal(bftm_conf_load(unit_path("none"), &conf), -ENOENT);
	assert_string_equal(unit_heard(),
			    "none: No such file or directory: bftmutex.conf(5) says how to write it\n");
	unit_listen();
	assert_int_equal(bftm_conf_load("/", &conf), -EISDIR);
	assert_string_equal(unit_heard(), "/: Is a directory\n");
	bftm_conf_free(NULL);
}

/* As it comes with the installation; who needs a cluster says that there is none. */
static void nothing_at_all(void **state)
{
	struct bftm_conf *conf = NULL;

	(void)state;
	assert_int_equal(unit_read(bftm_conf_load_any(unit_given("# cluster x {\n", 0644), &conf)), 0);
	assert_string_equal(unit_words, "");
	assert_int_equal(conf->count, 0);
	bftm_conf_free(conf);
	conf = NULL;
	assert_int_equal(unit_read(bftm_conf_load_any(unit_given("leese = 1s", 0644), &conf)), -EINVAL);
	assert_string_equal(unit_words, "f:1: unknown key 'leese'\n");
	assert_int_equal(unit_read(bftm_conf_load_any(unit_given("cluster x { }", 0644), &conf)), -EINVAL);
	assert_null(conf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_mistake_is_named),
		cmocka_unit_test(a_configuration_with_all_keys),
		cmocka_unit_test(what_is_left_out_has_its_default),
		cmocka_unit_test(ingress_of_answers),
		cmocka_unit_test(sigma_has_an_m),
		cmocka_unit_test(the_largest_cluster),
		cmocka_unit_test(files_that_are_no_configuration),
		cmocka_unit_test(nothing_at_all),
	};

	return cmocka_run_group_tests_name("conf", tests, unit_make_dir, unit_remove_dir);
}
