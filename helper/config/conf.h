/* SPDX-License-Identifier: GPL-2.0 */
/* /etc/bftmutex/bftmutex.conf: the clusters, as bftmutex.conf(5) describes. */
#ifndef BFTM_CONF_H
#define BFTM_CONF_H

#include <netinet/in.h>

#include "core/access.h"
#include "core/limits.h"
#include "core/types.h"
#include "uapi/linux/bftmutex.h"
#include "uapi/linux/bftmutex_netlink.h"

#define BFTM_CONF_PATH "/etc/bftmutex/bftmutex.conf"
#define BFTM_KEYS_DIR "/etc/bftmutex/keys"

/* Limits of the helper alone; all others are in kmod/core/limits.h. */
#define BFTM_LEASE_DEFAULT_NS	(10 * BFTM_NS_PER_SEC)
#define BFTM_RETRY_MAX_DEFAULT_NS (60 * BFTM_NS_PER_SEC)
#define BFTM_EXPONENT_DEFAULT	2u
#define BFTM_EXPONENT_MAX	8u

/** enum bftm_retry - growth of the sleep between two tries with the number s of failures */
enum bftm_retry {
	BFTM_RETRY_EXPONENTIAL,	/* up to 2^s B, the paper's Figure 1 */
	BFTM_RETRY_POLYNOMIAL,	/* up to s^exponent B */
};

/** struct bftm_conf_server - one lock server of a cluster */
struct bftm_conf_server {
	u16 id;				/* 1 to 65535, unique in the cluster */
	struct sockaddr_in6 addr;	/* IPv4 is mapped: ::ffff:a.b.c.d */
	char zone[16];			/* interface of a link-local address, else empty; */
					/* sin6_scope_id is 0 where there is none of that name */
	char text[INET6_ADDRSTRLEN + 24]; /* "10.0.0.1:7373", "[fe80::1%eth0]:7373" */
	u32 durability;			/* BFTMUTEX_DURABILITY_* */
	bool roll;			/* of those who may hold locks without a lease */
	char journal[512];		/* path; empty for the default */
	u32 max_holders;		/* of one lock at once; 0 for the default */
	u32 max_objects;		/* limits of its objects; 0 for the defaults */
	u32 max_state;
	u64 object_memory;
	char ingress[16];		/* device that hands it requests, or "none"; else empty */
};

/** struct bftm_conf_cluster - one cluster */
struct bftm_conf_cluster {
	char name[BFTM_CLUSTER_MAX + 1];
	u32 id;				/* number on the wire, 1 … 2^32 - 1 */
	u32 n;				/* servers */
	u32 b;				/* number of servers that may lie */
	u32 m;				/* grants that win, protocol = sigma; else 0 */
	u64 lease_ns;			/* Δ when the application names none */
	u64 lease_max_ns;		/* the servers' Δmax */
	u64 delta_ns;			/* δ, expected one-way delay */
	u32 rho_ppm;			/* ρ */
	u8 proto;			/* enum bftm_proto */
	bool signed_ranks;		/* of the ordering protocol: then n >= 4b + 1 is enough */
	bool fast_path;			/* the kernel takes free locks by itself */
	u8 ask;				/* enum bftmutex_ask: the servers that are asked first */
	char ingress[16];		/* device that hands the kernel answers; empty for none */
	u32 state_max;			/* bytes of an object's state that the servers accept */
	bool literal;			/* contend = literal: Figure 1 of the paper */
	bool leaseless;			/* this host may hold locks without a lease */
	bool backoff;			/* wait = backoff: not in the servers' queue */
	enum bftm_retry retry;
	u32 exponent;			/* of the polynomial, 1 to 8 */
	u64 retry_max_ns;		/* cap of one sleep */
	char credentials[4096];		/* path of the client's keys */
	struct bftm_conf_server server[BFTM_SERVERS_MAX]; /* in file order */
};

/** struct bftm_conf_access - access rules of a cluster's servers, in file order */
struct bftm_conf_access {
	u32 count;			/* up to BFTM_RULES_MAX; 0: all is allowed */
	struct bftm_rule *rule;
};

#define BFTM_TIME_LIMIT_DEFAULT_NS (1 * BFTM_NS_PER_SEC)
#define BFTM_TIME_LIMIT_MAX_NS	(10 * BFTM_NS_PER_SEC)
#define BFTM_ARGUMENTS_MAX	64u

/** struct bftm_conf_type - a program that is a type of replicated objects */
struct bftm_conf_type {
	char name[32];
	char *text;			/* path and arguments, a zero byte after each */
	char *argv[BFTM_ARGUMENTS_MAX + 2]; /* in @text; the path first, then NULL */
	u64 limit_ns;			/* of one request, 1 ms to 10 s */
};

/** enum bftm_sandbox - allowed system calls; in the order of the key's words */
enum bftm_sandbox {
	BFTM_SANDBOX_NO,	/* all */
	BFTM_SANDBOX_YES,	/* those that the daemon and most programs need */
	BFTM_SANDBOX_STRICT,	/* those that the daemon needs; no program can be started */
};

/** struct bftm_conf - a whole configuration */
struct bftm_conf {
	u32 count;
	u32 standard;			/* index of the default cluster */
	struct bftm_conf_cluster *cluster;
	struct bftm_conf_access *access; /* of each cluster; clients do not need it */
	enum bftm_sandbox sandbox;
	u32 types;			/* entries of @type */
	struct bftm_conf_type *type;
};

/**
 * bftm_conf_load() - read and check a configuration
 * @path: file
 * @ret:  the configuration; untouched on failure
 *
 * Every mistake is reported by bftm_log() as "FILE:LINE: …" with the key, the
 * value and what is allowed (for an unknown key the nearest known one).
 *
 * Return: 0, -EINVAL for a mistake, or the -errno of opening the file.
 */
int bftm_conf_load(const char *path, struct bftm_conf **ret);

/** bftm_conf_load_any() - the same, but a file that describes no cluster is not a mistake */
int bftm_conf_load_any(const char *path, struct bftm_conf **ret);

/**
 * bftm_conf_load_access() - read a file that has only sections "access"
 * @path: file
 * @ret:  the rules, to be freed; untouched on failure
 *
 * Mistakes and result are as of bftm_conf_load().
 */
int bftm_conf_load_access(const char *path, struct bftm_conf_access *ret);

/** bftm_conf_free() - NULL is fine. */
void bftm_conf_free(struct bftm_conf *conf);

/** bftm_conf_find() - by name, "" for the default; NULL when there is none. */
const struct bftm_conf_cluster *bftm_conf_find(const struct bftm_conf *conf,
					       const char *name);

/** bftm_ask_name() - the word of the configuration for an enum bftmutex_ask */
const char *bftm_ask_name(u8 ask);

/** bftm_liars_max() - the most liars that @n servers can mask for locks. */
u32 bftm_liars_max(u32 n);

/** bftm_parse_number() - decimal digits and nothing else. 0 or -EINVAL. */
int bftm_parse_number(const char *text, u64 *ret);

/**
 * bftm_parse_duration() - "250us", "5ms", "1.5s", "2m", "1h", "10" (seconds)
 * @text:   what the user wrote
 * @ret_ns: nanoseconds
 *
 * Return: 0 or -EINVAL.
 */
int bftm_parse_duration(const char *text, u64 *ret_ns);

/** bftm_format_duration() - the shortest spelling of a duration, in @buf. */
const char *bftm_format_duration(u64 ns, char *buf, size_t len);

#endif /* BFTM_CONF_H */
