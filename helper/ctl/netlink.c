// SPDX-License-Identifier: GPL-2.0
/* The module's answers as JSON objects, and its refusals as sentences. */
#include <errno.h>
#include <stdio.h>

#include "uapi/linux/bftmutex.h"
#include "ctl/ctl.h"
#include "text/json.h"
#include "text/mode.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Coding and meaning of an attribute; NONE: it is not shown. A number NOT0 is unknown when it is 0,
 * a NAME when it is empty. ENDS and NOT0 are null when they are the largest number: there is no end.
 */
enum type { NONE, NUM16, NUM32, NUM64, ENDS, NOT0, TEXT, NAME, BYTES, HEX, STATE, REASON, MODE, STATS, FLAG,
	    DURABILITY, JOURNAL };

struct attribute {
	const char *name;
	enum type type;
};

static const struct attribute server_attrs[] = {
	[BFTMUTEX_A_SERVER_CLUSTER] = { "cluster", NUM32 },
	[BFTMUTEX_A_SERVER_ID] = { "id", NUM16 },
	[BFTMUTEX_A_SERVER_PORT] = { "port", NUM16 },
	[BFTMUTEX_A_SERVER_KEY] = { "key", NONE },
	[BFTMUTEX_A_SERVER_LEASE_MAX_NS] = { "lease_max_ns", NUM64 },
	[BFTMUTEX_A_SERVER_RHO_PPM] = { "rho_ppm", NUM32 },
	[BFTMUTEX_A_SERVER_MAX_LOCKS] = { "max_locks", NUM32 },
	[BFTMUTEX_A_SERVER_MAX_CLIENTS] = { "max_clients", NUM32 },
	[BFTMUTEX_A_SERVER_EPOCH] = { "epoch", NUM64 },
	[BFTMUTEX_A_SERVER_QUARANTINE_NS] = { "quarantine_ns", NUM64 },
	[BFTMUTEX_A_SERVER_LOCKS] = { "locks", NUM32 },
	[BFTMUTEX_A_SERVER_CLIENTS] = { "clients", NUM32 },
	[BFTMUTEX_A_SERVER_STATS] = { "stats", STATS },
	[BFTMUTEX_A_SERVER_MAX_WAITERS] = { "max_waiters", NUM32 },
	[BFTMUTEX_A_SERVER_MAX_HOLDERS] = { "max_holders", NUM32 },
	[BFTMUTEX_A_SERVER_TOKEN_FLOOR] = { "token_floor", NUM64 },
	[BFTMUTEX_A_SERVER_RULES] = { "rules", NUM32 },
	[BFTMUTEX_A_SERVER_RULE] = { "rule", NONE },
	[BFTMUTEX_A_SERVER_MAX_OBJECTS] = { "max_objects", NUM32 },
	[BFTMUTEX_A_SERVER_MAX_STATE] = { "max_state", NUM32 },
	[BFTMUTEX_A_SERVER_OBJECT_MEMORY] = { "object_memory", NUM64 },
	[BFTMUTEX_A_SERVER_OBJECTS] = { "objects", NUM32 },
	[BFTMUTEX_A_SERVER_OBJECT_MEMORY_USED] = { "object_memory_used", NUM64 },
	[BFTMUTEX_A_SERVER_RECOVERING] = { "recovering", FLAG },
	[BFTMUTEX_A_SERVER_DURABILITY] = { "durability", DURABILITY },
	[BFTMUTEX_A_SERVER_JOURNAL_ID] = { "journal_id", NONE },
	[BFTMUTEX_A_SERVER_JOURNAL_STATE] = { "journal", JOURNAL },
	[BFTMUTEX_A_SERVER_UNSAVED] = { "unsaved", NUM32 },
	[BFTMUTEX_A_SERVER_EVICTION] = { "eviction", NONE },
	[BFTMUTEX_A_SERVER_MEMBERS] = { "members", NUM32 },
	[BFTMUTEX_A_SERVER_AWAITED] = { "awaited", NUM32 },
	[BFTMUTEX_A_SERVER_ROLL] = { "roll", FLAG },
	[BFTMUTEX_A_SERVER_NOTED] = { "noted", NONE },
	[BFTMUTEX_A_SERVER_ROLL_UNKNOWN] = { "roll_unknown", NONE },
	[BFTMUTEX_A_SERVER_NO_QUARANTINE] = { "no_quarantine", NUM32 },
	[BFTMUTEX_A_SERVER_INGRESS] = { "ingress", NAME },
};

static const struct attribute stats_attrs[] = {
	[BFTMUTEX_A_STATS_RECEIVED] = { "received", NUM64 },
	[BFTMUTEX_A_STATS_BAD_FORM] = { "bad_form", NUM64 },
	[BFTMUTEX_A_STATS_BAD_ADDRESS] = { "bad_address", NUM64 },
	[BFTMUTEX_A_STATS_BAD_TAG] = { "bad_tag", NUM64 },
	[BFTMUTEX_A_STATS_REPLAYED] = { "replayed", NUM64 },
	[BFTMUTEX_A_STATS_CHALLENGED] = { "challenged", NUM64 },
	[BFTMUTEX_A_STATS_GRANTED] = { "granted", NUM64 },
	[BFTMUTEX_A_STATS_REFRESHED] = { "refreshed", NUM64 },
	[BFTMUTEX_A_STATS_LOCKED] = { "locked", NUM64 },
	[BFTMUTEX_A_STATS_WAITED] = { "waited", NUM64 },
	[BFTMUTEX_A_STATS_RELEASED] = { "released", NUM64 },
	[BFTMUTEX_A_STATS_REFUSED] = { "refused", NUM64 },
	[BFTMUTEX_A_STATS_SILENT] = { "silent", NUM64 },
	[BFTMUTEX_A_STATS_EXPIRED] = { "expired", NUM64 },
	[BFTMUTEX_A_STATS_SEND_FAILED] = { "send_failed", NUM64 },
	[BFTMUTEX_A_STATS_QUEUED] = { "queued", NUM64 },
	[BFTMUTEX_A_STATS_PUSHED] = { "pushed", NUM64 },
	[BFTMUTEX_A_STATS_INQUIRED] = { "inquired", NUM64 },
	[BFTMUTEX_A_STATS_YIELDED] = { "yielded", NUM64 },
	[BFTMUTEX_A_STATS_STAMPED] = { "stamped", NUM64 },
	[BFTMUTEX_A_STATS_DENIED] = { "denied", NUM64 },
	[BFTMUTEX_A_STATS_RECOVERED] = { "recovered", NUM64 },
	[BFTMUTEX_A_STATS_SUBMITTED] = { "submitted", NUM64 },
	[BFTMUTEX_A_STATS_GOT] = { "got", NUM64 },
	[BFTMUTEX_A_STATS_PROPOSED] = { "proposed", NUM64 },
	[BFTMUTEX_A_STATS_COMMITTED] = { "committed", NUM64 },
	[BFTMUTEX_A_STATS_INSTALLED] = { "installed", NUM64 },
	[BFTMUTEX_A_STATS_EXCEPTED] = { "excepted", NUM64 },
	[BFTMUTEX_A_STATS_NEEDBODY] = { "needbody", NUM64 },
	[BFTMUTEX_A_STATS_FETCHED] = { "fetched", NUM64 },
	[BFTMUTEX_A_STATS_STORED] = { "stored", NUM64 },
	[BFTMUTEX_A_STATS_FORGOTTEN] = { "forgotten", NUM64 },
	[BFTMUTEX_A_STATS_HELD] = { "held", NUM64 },
	[BFTMUTEX_A_STATS_JOURNALLED] = { "journalled", NUM64 },
	[BFTMUTEX_A_STATS_UNJOURNALLED] = { "unjournalled", NUM64 },
	[BFTMUTEX_A_STATS_BAD_VERSION] = { "bad_version", NUM64 },
	[BFTMUTEX_A_STATS_STALE] = { "stale", NUM64 },
	[BFTMUTEX_A_STATS_LISTED] = { "listed", NUM64 },
	[BFTMUTEX_A_STATS_SYNCED] = { "synced", NUM64 },
	[BFTMUTEX_A_STATS_TOLD] = { "told", NUM64 },
	[BFTMUTEX_A_STATS_INGRESS] = { "ingress", NUM64 },
};

static const struct attribute lock_attrs[] = {
	[BFTMUTEX_A_LOCK_NAME] = { "name", BYTES },
	[BFTMUTEX_A_LOCK_CLIENT] = { "client", NUM32 },
	[BFTMUTEX_A_LOCK_ATTEMPT] = { "attempt", NUM64 },
	[BFTMUTEX_A_LOCK_REMAINING_NS] = { "remaining_ns", NUM64 },
	[BFTMUTEX_A_LOCK_GNO] = { "gno", NUM64 },
	[BFTMUTEX_A_LOCK_WAITERS] = { "waiters", NUM32 },
	[BFTMUTEX_A_LOCK_TOKEN] = { "token", NUM64 },
	[BFTMUTEX_A_LOCK_MODE] = { "mode", MODE },
	[BFTMUTEX_A_LOCK_HOLDERS] = { "holders", NUM32 },
};

static const struct attribute object_attrs[] = {
	[BFTMUTEX_A_OBJECT_NAME] = { "name", BYTES },
	[BFTMUTEX_A_OBJECT_VERSION] = { "version", NUM64 },
	[BFTMUTEX_A_OBJECT_DIGEST] = { "digest", HEX },
	[BFTMUTEX_A_OBJECT_LENGTH] = { "length", NUM32 },
	[BFTMUTEX_A_OBJECT_PROPOSED_VERSION] = { "proposed_version", NUM64 },
	[BFTMUTEX_A_OBJECT_RANK_COUNT] = { "rank_count", NUM64 },
	[BFTMUTEX_A_OBJECT_RANK_CLIENT] = { "rank_client", NUM32 },
	[BFTMUTEX_A_OBJECT_PENDING] = { "pending", NUM32 },
	[BFTMUTEX_A_OBJECT_UPLOADS] = { "uploads", NUM32 },
	[BFTMUTEX_A_OBJECT_RECOVERING] = { "recovering", FLAG },
};

static const struct attribute client_attrs[] = {
	[BFTMUTEX_A_CLIENT_ID] = { "id", NUM32 },
	[BFTMUTEX_A_CLIENT_LAST_SEQ] = { "last_seq", NUM64 },
	[BFTMUTEX_A_CLIENT_IDLE_NS] = { "idle_ns", NUM64 },
	[BFTMUTEX_A_CLIENT_RECEIVED] = { "received", NUM64 },
	[BFTMUTEX_A_CLIENT_REPLAYED] = { "replayed", NUM64 },
};

static const struct attribute member_attrs[] = {
	[BFTMUTEX_A_MEMBER_ID] = { "id", NUM32 },
	[BFTMUTEX_A_MEMBER_EVICTED] = { "evicted", NUM32 },
	[BFTMUTEX_A_MEMBER_AWAITED] = { "awaited", FLAG },
	[BFTMUTEX_A_MEMBER_INCARNATION] = { "incarnation", NUM32 },
	[BFTMUTEX_A_MEMBER_NOTED] = { "noted", NUM32 },
	[BFTMUTEX_A_MEMBER_ROLL] = { "roll", NONE },
};

static const struct attribute handle_attrs[] = {
	[BFTMUTEX_A_HANDLE_ID] = { "id", NUM64 },
	[BFTMUTEX_A_HANDLE_KIND] = { "kind", NONE },
	[BFTMUTEX_A_HANDLE_CLUSTER] = { "cluster", NAME },
	[BFTMUTEX_A_HANDLE_NAME] = { "name", BYTES },
	[BFTMUTEX_A_HANDLE_FLAGS] = { "flags", NUM32 },
	[BFTMUTEX_A_HANDLE_WAY] = { "way", NONE },
	[BFTMUTEX_A_HANDLE_MODE] = { "mode", MODE },
	[BFTMUTEX_A_HANDLE_LEASE_NS] = { "lease_ns", NOT0 },
	[BFTMUTEX_A_HANDLE_TIMEOUT_AT_NS] = { "timeout_at_ns", NONE },
	[BFTMUTEX_A_HANDLE_ERROR] = { "error", NONE },
	[BFTMUTEX_A_HANDLE_ATTEMPT] = { "attempt", NUM64 },
	[BFTMUTEX_A_HANDLE_ATTEMPTS] = { "attempts", NUM32 },
	[BFTMUTEX_A_HANDLE_DEADLINE_NS] = { "deadline_ns", NOT0 },
	[BFTMUTEX_A_HANDLE_TOKEN] = { "token", NOT0 },
	[BFTMUTEX_A_HANDLE_STATE] = { "state", STATE },
	[BFTMUTEX_A_HANDLE_REASON] = { "reason", REASON },
	[BFTMUTEX_A_HANDLE_PID] = { "pid", NUM32 },
	[BFTMUTEX_A_HANDLE_COMM] = { "comm", TEXT },
	[BFTMUTEX_A_HANDLE_REMAINING_NS] = { "remaining_ns", ENDS },
	[BFTMUTEX_A_HANDLE_SENDS] = { "sends", NONE },
	[BFTMUTEX_A_HANDLE_CONFIGURATION] = { "configuration", NONE },
	[BFTMUTEX_A_HANDLE_END_NS] = { "end_ns", NONE },
	[BFTMUTEX_A_HANDLE_GOAL] = { "goal", MODE },
	[BFTMUTEX_A_HANDLE_CONVERSION] = { "conversion", NUM32 },
};

static const struct attribute rule_attrs[] = {
	[BFTMUTEX_A_RULE_CLIENT_FIRST] = { "client_first", NUM32 },
	[BFTMUTEX_A_RULE_CLIENT_LAST] = { "client_last", NUM32 },
	[BFTMUTEX_A_RULE_PREFIX] = { "prefix", BYTES },
	[BFTMUTEX_A_RULE_DENY] = { "deny", FLAG },
	[BFTMUTEX_A_RULE_LEASE_MAX_NS] = { "lease_max_ns", NUM64 },
	[BFTMUTEX_A_RULE_MAX_WAITERS] = { "max_waiters", NUM32 },
	[BFTMUTEX_A_RULE_LEASELESS] = { "leaseless", FLAG },
};

static const struct attribute local_attrs[] = {
	[BFTMUTEX_A_LOCAL_ACQUIRES] = { "acquires", NUM64 },
	[BFTMUTEX_A_LOCAL_WON] = { "won", NUM64 },
	[BFTMUTEX_A_LOCAL_BUSY] = { "busy", NUM64 },
	[BFTMUTEX_A_LOCAL_TIMEOUTS] = { "timeouts", NUM64 },
	[BFTMUTEX_A_LOCAL_FAILED] = { "failed", NUM64 },
	[BFTMUTEX_A_LOCAL_CANCELLED] = { "cancelled", NUM64 },
	[BFTMUTEX_A_LOCAL_RELEASED] = { "released", NUM64 },
	[BFTMUTEX_A_LOCAL_LOST] = { "lost", NUM64 },
	[BFTMUTEX_A_LOCAL_RENEWED] = { "renewed", NUM64 },
	[BFTMUTEX_A_LOCAL_INGRESS] = { "ingress", NUM64 },
};

static const struct attribute suspect_attrs[] = {
	[BFTMUTEX_A_SUSPECT_CLUSTER] = { "cluster", TEXT },
	[BFTMUTEX_A_SUSPECT_SERVER_ID] = { "server_id", NUM16 },
	[BFTMUTEX_A_SUSPECT_EVIDENCE] = { "evidence", TEXT },
	[BFTMUTEX_A_SUSPECT_COUNT] = { "count", NUM64 },
};

static const struct attribute_set {
	const struct attribute *attr;
	int max;
} sets[] = {
	[CTL_SERVER] = { server_attrs, COUNT(server_attrs) - 1 },
	[CTL_LOCK] = { lock_attrs, COUNT(lock_attrs) - 1 },
	[CTL_CLIENT] = { client_attrs, COUNT(client_attrs) - 1 },
	[CTL_HANDLE] = { handle_attrs, COUNT(handle_attrs) - 1 },
	[CTL_SUSPECT] = { suspect_attrs, COUNT(suspect_attrs) - 1 },
	[CTL_OBJECT] = { object_attrs, COUNT(object_attrs) - 1 },
	[CTL_RULE] = { rule_attrs, COUNT(rule_attrs) - 1 },
	[CTL_LOCAL] = { local_attrs, COUNT(local_attrs) - 1 },
	[CTL_MEMBER] = { member_attrs, COUNT(member_attrs) - 1 },
};

static const char *const state_names[] = {
	[BFTM_STATE_IDLE] = "idle",
	[BFTM_STATE_PENDING] = "pending",
	[BFTM_STATE_HELD] = "held",
	[BFTM_STATE_LOST] = "lost",
	[BFTM_STATE_FAILED] = "failed",
};

static const char *const reason_names[] = {
	[BFTM_LOST_NOT] = "none",
	[BFTM_LOST_EXPIRED] = "expired",
	[BFTM_LOST_NOT_RENEWED] = "not-renewed",
	[BFTM_LOST_NO_HELPER] = "no-helper",
	[BFTM_LOST_SUSPENDED] = "suspended",
	[BFTM_LOST_RESTORED] = "restored",
	[BFTM_LOST_EVICTED] = "evicted",
};

static const char *const durability_names[] = {
	[BFTMUTEX_DURABILITY_NONE] = "none",
	[BFTMUTEX_DURABILITY_ASYNC] = "async",
	[BFTMUTEX_DURABILITY_SYNC] = "sync",
};

static const char *const journal_names[] = {
	[BFTMUTEX_JOURNAL_STATE_LOADING] = "loading",
	[BFTMUTEX_JOURNAL_STATE_DETACHED] = "detached",
	[BFTMUTEX_JOURNAL_STATE_ATTACHED] = "attached",
};

int ctl_set_max(enum ctl_set set)
{
	return sets[set].max;
}

static struct json_object *from_attrs(const struct attribute *table, int max,
				      struct nlattr **attr);

static struct json_object *from_stats(struct nlattr *nest)
{
	struct nlattr *attr[COUNT(stats_attrs)];

	if (nla_parse_nested(attr, COUNT(stats_attrs) - 1, nest, NULL) < 0)
		return NULL;
	return from_attrs(stats_attrs, COUNT(stats_attrs) - 1, attr);
}

/* A name for a number, or the number when a newer kernel knows more of them. */
static struct json_object *from_enum(u32 number, const char *const *name, size_t count)
{
	if (number < count)
		return json_object_new_string(name[number]);
	return json_object_new_uint64(number);
}

static struct json_object *from_mode(u32 mode)
{
	if (mode <= BFTM_LOCK_NL)
		return json_object_new_string(bftm_mode_name(mode));
	return json_object_new_uint64(mode);
}

static struct json_object *from_bytes(const u8 *bytes, size_t len)
{
	char text[2 * BFTMUTEX_KEY_LEN + 1] = "";
	size_t i;

	for (i = 0; i < len && 2 * i + 2 < sizeof(text); i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return json_object_new_string(text);
}

static struct json_object *from_time(const struct attribute *a, u64 ns)
{
	bool known = ns != BFTM_LEASE_NONE && (ns || a->type == ENDS);

	return known ? bftm_json_number(a->name, ns) : NULL;
}

/* The kernel is trusted, but its version may differ: absent and short attributes give null. */
static struct json_object *from_attr(const struct attribute *a, struct nlattr *attr)
{
	static const int min_len[] = {
		[NUM16] = 2, [NUM32] = 4, [NUM64] = 8, [ENDS] = 8, [NOT0] = 8, [STATE] = 4, [REASON] = 4, [MODE] = 4,
		[STATS] = 0, [DURABILITY] = 4, [JOURNAL] = 4,
	};

	if (a->type == FLAG)
		return json_object_new_boolean(attr != NULL);
	if (!attr || nla_len(attr) < min_len[a->type])
		return NULL;
	switch (a->type) {
	case NUM16:
		return json_object_new_uint64(nla_get_u16(attr));
	case NUM32:
		return json_object_new_uint64(nla_get_u32(attr));
	case NUM64:
		return bftm_json_number(a->name, nla_get_u64(attr));
	case ENDS:
	case NOT0:
		return from_time(a, nla_get_u64(attr));
	case NAME:
		if (!nla_len(attr) || !*(const char *)nla_data(attr))
			return NULL;
		/* fall through */
	case TEXT:
		return bftm_json_bytes(nla_data(attr), strnlen(nla_data(attr), nla_len(attr)));
	case BYTES:
		return bftm_json_bytes(nla_data(attr), nla_len(attr));
	case HEX:
		return from_bytes(nla_data(attr), nla_len(attr));
	case STATE:
		return from_enum(nla_get_u32(attr), state_names, COUNT(state_names));
	case REASON:
		return from_enum(nla_get_u32(attr), reason_names, COUNT(reason_names));
	case MODE:
		return from_mode(nla_get_u32(attr));
	case DURABILITY:
		return from_enum(nla_get_u32(attr), durability_names, COUNT(durability_names));
	case JOURNAL:
		return from_enum(nla_get_u32(attr), journal_names, COUNT(journal_names));
	case STATS:
		return from_stats(attr);
	case FLAG:
	case NONE:
		break;
	}
	return NULL;
}

static struct json_object *from_attrs(const struct attribute *table, int max,
				      struct nlattr **attr)
{
	struct json_object *object = json_object_new_object();
	int i;

	for (i = 1; i <= max; i++)
		if (table[i].name && table[i].type != NONE)
			json_object_object_add(object, table[i].name,
					       from_attr(&table[i], attr[i]));
	return object;
}

struct json_object *ctl_object(enum ctl_set set, struct nlattr **attr)
{
	return from_attrs(sets[set].attr, sets[set].max, attr);
}

int ctl_open(struct bftm_nl *ret)
{
	int r = bftm_nl_open(ret);
	char why[256];

	if (r == -EPROTO) {
		bftm_nl_other_version(why, sizeof(why));
		return ctl_fail(EX_UNAVAILABLE, "%s", why);
	}
	if (r == -ENOENT || r == -EPROTONOSUPPORT)
		return ctl_fail(EX_UNAVAILABLE,
				"the kernel module is not loaded; load it by 'modprobe bftmutex' or 'insmod bftmutex.ko'");
	if (r < 0)
		return ctl_fail(EX_OSERR, "netlink: %s", strerror(-r));
	return 0;
}

int ctl_refused(const struct bftm_nl *nl, int error, enum ctl_set set)
{
	const char *about = nl->attr > 0 && nl->attr <= sets[set].max ?
			    sets[set].attr[nl->attr].name : "";

	switch (-error) {
	case EPERM:
	case EACCES:
		return ctl_fail(EX_NOPERM, "not permitted: only root (CAP_NET_ADMIN) may do this");
	case ENOENT:
		return ctl_fail(EX_UNAVAILABLE, "no server runs in this network namespace");
	default:
		return ctl_fail(error == -ERANGE || error == -EINVAL ? EX_DATAERR : EX_OSERR,
				"the kernel refused%s%s: %s%s%s", *about ? " " : "", about,
				strerror(-error), *nl->error ? ": " : "", nl->error);
	}
}
