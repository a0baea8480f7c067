// SPDX-License-Identifier: GPL-2.0
/* The keys of a cluster. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/quorum.h"
#include "core/wire.h"
#include "config/conf_cluster.h"
#include "config/conf_server.h"

enum key_number {
	KEY_ID,
	KEY_B,
	KEY_M,
	KEY_LEASE_MAX,
	KEY_LEASE,
	KEY_DELTA,
	KEY_RHO,
	KEY_EXPONENT,
	KEY_RETRY_MAX,
	KEY_PROTOCOL,
	KEY_CONTEND,
	KEY_WAIT,
	KEY_RETRY,
	KEY_SIGNED_RANKS,
	KEY_FAST_PATH,
	KEY_ASK,
	KEY_MAX_STATE,
	KEY_LEASELESS,
	KEYS,
};

/**
 * struct key - a key of a cluster
 * @name:     in the file
 * @kind:     how its value is written; a word's value is its index in @word
 * @required: the key must be given
 * @min:      allowed values
 * @max:      allowed values
 * @standard: value when the key is missing
 * @word:     the words
 */
struct key {
	const char *name;
	enum { NUMBER, DURATION, WORD } kind;
	bool required;
	u64 min, max, standard;
	const char *word[4];
};

static const struct key keys[KEYS] = {
	[KEY_ID] = { "id", NUMBER, true, 1, UINT32_MAX, 0, {} },
	/* The upper bound comes from the number of servers, see read_key(). */
	[KEY_B] = { "b", NUMBER, true, 0, 0, 0, {} },
	/* The bounds come from n and b, see check_m(). */
	[KEY_M] = { "m", NUMBER, false, 1, BFTM_SERVERS_MAX, 0, {} },
	[KEY_LEASE_MAX] = { "lease-max", DURATION, false, BFTM_LEASE_MIN_NS,
			    BFTM_LEASE_MAX_NS, BFTM_LEASE_MAX_DEFAULT_NS, {} },
	[KEY_LEASE] = { "lease", DURATION, false, BFTM_LEASE_MIN_NS, BFTM_LEASE_MAX_NS,
			BFTM_LEASE_DEFAULT_NS, {} },
	[KEY_DELTA] = { "delta", DURATION, false, BFTM_DELTA_MIN_NS, BFTM_DELTA_MAX_NS,
			BFTM_DELTA_DEFAULT_NS, {} },
	[KEY_RHO] = { "rho", NUMBER, false, BFTM_RHO_MIN_PPM, BFTM_RHO_MAX_PPM,
		      BFTM_RHO_DEFAULT_PPM, {} },
	[KEY_EXPONENT] = { "exponent", NUMBER, false, 1, BFTM_EXPONENT_MAX,
			   BFTM_EXPONENT_DEFAULT, {} },
	[KEY_RETRY_MAX] = { "retry-max", DURATION, false, BFTM_LEASE_MIN_NS,
			    BFTM_LEASE_MAX_NS, BFTM_RETRY_MAX_DEFAULT_NS, {} },
	[KEY_PROTOCOL] = { "protocol", WORD, false, 0, 0, 0, { "backoff", "sigma" } },
	[KEY_CONTEND] = { "contend", WORD, false, 0, 0, 0, { "quorum", "literal" } },
	[KEY_WAIT] = { "wait", WORD, false, 0, 0, 0, { "queue", "backoff" } },
	[KEY_RETRY] = { "retry", WORD, false, 0, 0, BFTM_RETRY_EXPONENTIAL, {
			[BFTM_RETRY_EXPONENTIAL] = "exponential",
			[BFTM_RETRY_POLYNOMIAL] = "polynomial" } },
	[KEY_SIGNED_RANKS] = { "signed-ranks", WORD, false, 0, 0, 0, { "no", "yes" } },
	[KEY_FAST_PATH] = { "fast-path", WORD, false, 0, 0, 1, { "no", "yes" } },
	[KEY_ASK] = { "ask", WORD, false, 0, 0, BFTMUTEX_ASK_AUTO, {
			[BFTMUTEX_ASK_ALL] = "all", [BFTMUTEX_ASK_FIRST] = "first",
			[BFTMUTEX_ASK_AUTO] = "auto" } },
	[KEY_MAX_STATE] = { "max-state", NUMBER, false, BFTM_STATE_MIN, BFTM_STATE_MAX,
			    BFTM_STATE_DEFAULT, {} },
	[KEY_LEASELESS] = { "leaseless", WORD, false, 0, 0, 0, { "no", "yes" } },
};

/* In the order of the words. Sigma has two numbers of its own, m and r, and the same messages. */
static const u8 protocols[] = { BFTM_PROTO_BACKOFF, BFTM_PROTO_BACKOFF };

static_assert(KEYS + 2 <= BFTM_CLUSTER_OPTS);

const char *bftm_ask_name(u8 ask)
{
	return keys[KEY_ASK].word[ask];
}

u32 bftm_liars_max(u32 n)
{
	u32 b = 0;

	while (bftm_servers_needed(b + 1) <= n)
		b++;
	return b;
}

u32 bftm_conf_cluster_keys(cfg_opt_t ret[BFTM_CLUSTER_OPTS])
{
	u32 i;

	for (i = 0; i < KEYS; i++)
		ret[i] = (cfg_opt_t)BFTM_KEY(keys[i].name);
	ret[i++] = (cfg_opt_t)BFTM_KEY("credentials");
	ret[i++] = (cfg_opt_t)BFTM_KEY("ingress");
	return i;
}

static bool is_sigma(cfg_t *section)
{
	const struct bftm_value *protocol = bftm_value(section, "protocol");

	return protocol && !strcmp(protocol->text, "sigma");
}

/* Sigma is for servers that forget, and need not lie. */
static bool is_required(cfg_t *section, const struct key *key)
{
	return key->required && !(key == &keys[KEY_B] && is_sigma(section));
}

/* Returns whether *@ret can be used: false also when a required key is missing. */
static bool read_key(struct bftm_syntax *syntax, cfg_t *section, const struct key *key, u64 *ret)
{
	const struct bftm_value *value = bftm_value(section, key->name);
	u64 max = key == &keys[KEY_B] ? bftm_liars_max(BFTM_SERVERS_MAX) : key->max;

	*ret = key->standard;
	if (!value) {
		if (is_required(section, key) && !syntax->partial)
			bftm_mistake(syntax, section->line, "%s '%s': key '%s' is missing",
				     section->name, section->title, key->name);
		return !is_required(section, key);
	}
	if (key->kind == WORD)
		return bftm_value_word(syntax, value, key->word, ret);
	return bftm_value_range(syntax, value, key->kind == DURATION, key->min, max, ret);
}

/* Are there enough servers for b liars? */
static void check_quorum(struct bftm_syntax *syntax, cfg_t *section,
			 const struct bftm_conf_cluster *cluster)
{
	const struct bftm_value *key = bftm_value(section, "b");
	unsigned int line = key ? key->line : (unsigned int)section->line;
	u32 n = cluster->n, b = cluster->b;

	if (!n || n > BFTM_SERVERS_MAX || syntax->partial)
		return;			/* a missing or wrong b was already reported */
	if (cluster->literal && n < bftm_servers_needed_literal(b))
		bftm_mistake(syntax, line,
			     "cluster '%s': %u servers cannot mask b = %u liars: contend = literal needs n >= 5b + 1 = %u",
			     cluster->name, n, b, bftm_servers_needed_literal(b));
	else if (n < bftm_servers_needed(b))
		bftm_mistake(syntax, line,
			     "cluster '%s': %u servers cannot mask b = %u liars: locks need n >= 3b + 1 = %u",
			     cluster->name, n, b, bftm_servers_needed(b));
}

/* Sigma's m: two sets of m servers share b + 1 or more, and the servers that do not lie are m. */
static void check_m(struct bftm_syntax *syntax, cfg_t *section, struct bftm_conf_cluster *cluster)
{
	const struct bftm_value *key = bftm_value(section, "m");
	u32 n = cluster->n, b = cluster->b;

	if (key && !is_sigma(section))
		bftm_mistake(syntax, key->line,
			     "cluster '%s': key 'm' = '%s': is for protocol = sigma; without it a lock needs F grants, the least that are safe",
			     cluster->name, key->text);
	if (!is_sigma(section) || !n || n > BFTM_SERVERS_MAX || syntax->partial ||
	    n < bftm_servers_needed(b))
		return;
	if (cluster->literal)
		bftm_mistake(syntax, bftm_value(section, "contend")->line,
			     "cluster '%s': contend = literal is not for protocol = sigma, which counts m grants",
			     cluster->name);
	if (!cluster->m)
		cluster->m = bftm_sigma_default(n, b);
	if (cluster->m < bftm_free_needed(n, b) || cluster->m > n - b)
		/* NOLINTNEXTLINE: the default is right, so there is a key */
		bftm_mistake(syntax, key->line,
			     "cluster '%s': key 'm' = '%s': must be %u to %u with n = %u and b = %u: fewer grants let two clients in, more cannot be had while b servers are silent",
			     cluster->name, key->text, bftm_free_needed(n, b), n - b, n, b);
}

/* A cluster with signed-ranks is meant for objects, so it must have enough servers for them. */
static void check_order(struct bftm_syntax *syntax, cfg_t *section,
			const struct bftm_conf_cluster *cluster)
{
	const struct bftm_value *key = bftm_value(section, "signed-ranks");
	u32 n = cluster->n, b = cluster->b;

	if (!key || (!cluster->signed_ranks && bftm_value(section, "max-state")))
		key = bftm_value(section, "max-state");
	if (!key || !n || n > BFTM_SERVERS_MAX || syntax->partial ||
	    n >= bftm_servers_needed_order(b, cluster->signed_ranks))
		return;
	bftm_mistake(syntax, key->line,
		     "cluster '%s': %u servers cannot order with b = %u liars: that needs n >= 6b + 1 = %u, or n >= 4b + 1 = %u with signed-ranks = yes",
		     cluster->name, n, b, bftm_servers_needed_order(b, false),
		     bftm_servers_needed_order(b, true));
}

/* Figure 1 of the paper has no queue. */
static void check_wait(struct bftm_syntax *syntax, cfg_t *section,
		       struct bftm_conf_cluster *cluster)
{
	const struct bftm_value *wait = bftm_value(section, "wait");

	if (cluster->literal && wait && !cluster->backoff)
		bftm_mistake(syntax, wait->line,
			     "cluster '%s': wait = queue is not for contend = literal, which only backs off",
			     cluster->name);
	cluster->backoff |= cluster->literal;
}

static void read_ingress(struct bftm_syntax *syntax, cfg_t *section, struct bftm_conf_cluster *ret)
{
	bftm_value_device(syntax, bftm_value(section, "ingress"), ret->ingress);
	/* The daemon compares all bytes of two configurations, also those behind the end. */
	if (!strcmp(ret->ingress, "none"))
		memset(ret->ingress, 0, sizeof(ret->ingress));
}

static void check_lease(struct bftm_syntax *syntax, cfg_t *section,
			const struct bftm_conf_cluster *cluster)
{
	char lease[32], max[32];

	if (cluster->lease_ns <= cluster->lease_max_ns)
		return;
	bftm_mistake(syntax, bftm_value(section, "lease")->line,
		     "key 'lease' = '%s': must be at most lease-max = %s",
		     bftm_format_duration(cluster->lease_ns, lease, sizeof(lease)),
		     bftm_format_duration(cluster->lease_max_ns, max, sizeof(max)));
}

static void read_name(struct bftm_syntax *syntax, cfg_t *section, struct bftm_conf_cluster *ret)
{
	const struct bftm_value *credentials = bftm_value(section, "credentials");
	const char *title = section->title, *p;
	size_t len = strlen(title);
	int n;

	for (p = title; isgraph((unsigned char)*p) && *p != '/'; p++)
		;
	if (!len || len > BFTM_CLUSTER_MAX || *p)
		bftm_mistake(syntax, section->line,
			     "cluster '%s': a name is 1 to %d printable characters without space and '/'",
			     title, BFTM_CLUSTER_MAX);
	snprintf(ret->name, sizeof(ret->name), "%.*s", BFTM_CLUSTER_MAX, title);

	if (!credentials) {
		snprintf(ret->credentials, sizeof(ret->credentials), BFTM_KEYS_DIR "/%s.client",
			 ret->name);
		return;
	}
	n = snprintf(ret->credentials, sizeof(ret->credentials), "%s", credentials->text);
	if (n >= (int)sizeof(ret->credentials) || n == 0)
		bftm_mistake(syntax, credentials->line,
			     "key 'credentials': a path is 1 to %zu characters",
			     sizeof(ret->credentials) - 1);
}

void bftm_conf_read_cluster(struct bftm_syntax *syntax, cfg_t *section,
			    struct bftm_conf_cluster *ret)
{
	bool good[KEYS];
	u64 value[KEYS];
	int i;

	read_name(syntax, section, ret);
	for (i = 0; i < KEYS; i++)
		good[i] = read_key(syntax, section, &keys[i], &value[i]);
	/* If only lease-max is lowered, the default lease must not be longer. */
	if (!bftm_value(section, "lease") && value[KEY_LEASE] > value[KEY_LEASE_MAX])
		value[KEY_LEASE] = value[KEY_LEASE_MAX];

	ret->id = value[KEY_ID];
	ret->b = value[KEY_B];
	ret->m = is_sigma(section) ? value[KEY_M] : 0;
	ret->lease_ns = value[KEY_LEASE];
	ret->lease_max_ns = value[KEY_LEASE_MAX];
	ret->delta_ns = value[KEY_DELTA];
	ret->rho_ppm = value[KEY_RHO];
	ret->proto = protocols[value[KEY_PROTOCOL]];
	ret->signed_ranks = value[KEY_SIGNED_RANKS];
	ret->fast_path = value[KEY_FAST_PATH];
	ret->ask = value[KEY_ASK];
	ret->state_max = value[KEY_MAX_STATE];
	ret->leaseless = value[KEY_LEASELESS];
	ret->literal = value[KEY_CONTEND];
	ret->backoff = value[KEY_WAIT];
	ret->retry = value[KEY_RETRY];
	ret->exponent = value[KEY_EXPONENT];
	ret->retry_max_ns = value[KEY_RETRY_MAX];
	read_ingress(syntax, section, ret);
	bftm_conf_read_servers(syntax, section, ret);

	if (good[KEY_B] && good[KEY_CONTEND])
		check_quorum(syntax, section, ret);
	if (good[KEY_B] && good[KEY_M] && good[KEY_PROTOCOL] && good[KEY_CONTEND])
		check_m(syntax, section, ret);
	if (good[KEY_B] && good[KEY_SIGNED_RANKS])
		check_order(syntax, section, ret);
	if (good[KEY_WAIT] && good[KEY_CONTEND])
		check_wait(syntax, section, ret);
	if (good[KEY_LEASE] && good[KEY_LEASE_MAX])
		check_lease(syntax, section, ret);
}
