/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests of one host for one lock, with a daemon around them that notes in "story" what becomes
 * of whom: what they ask servers is only told, and a test says what servers answer.
 */
#ifndef BFTM_UNIT_BESIDE_H
#define BFTM_UNIT_BESIDE_H

#include <errno.h>
#include <string.h>

#include "cluster/cluster.h"
#include "cluster/health.h"
#include "cluster/member.h"
#include "lock/acquire.h"
#include "lock/attempt.h"
#include "lock/release.h"
#include "lock/report.h"
#include "loop/log.h"
#include "unit.h"

#define T0	(1000 * BFTM_NS_PER_MS)

struct bftm_clusters bftm_clusters = TAILQ_HEAD_INITIALIZER(bftm_clusters);

static struct bftm_cluster cl;
static struct bftm_identity identity;
static char story[256];		/* what became of whom */
static char wanted[256];	/* which holders were told that somebody here waits */
static bool contended;
static bool unknown;		/* the cluster is not configured any more, or not by this name */
static bool pulled;		/* the kernel has told all that is held */
static u64 told_held;		/* the attempt that is of this boot */
static bool whole;		/* … that was adopted: no mode of it was given up */
static u32 released;		/* without a request */
static u32 late;		/* answers to attempts that may be over */
static struct bftm_counters counters;

static inline void tell(const char *what, u64 id)
{
	size_t len = strlen(story);

	snprintf(story + len, sizeof(story) - len, "%s%s %u", len ? ", " : "", what, (u32)id);
}

/* The rest of the daemon. */

u64 bftm_now(void)
{
	return T0;
}

void bftm_log(int level, const char *format, ...)
{
	(void)level;
	(void)format;
}

bool bftm_due(u64 *last_ns, u64 every_ns)
{
	(void)last_ns;
	(void)every_ns;
	return false;
}

const char *bftm_format_duration(u64 ns, char *buf, size_t len)
{
	(void)ns;
	(void)len;
	return buf;
}

void bftm_timer_arm(struct bftm_timer *timer, u64 at_ns)
{
	timer->at_ns = at_ns;
}

void bftm_timer_stop(struct bftm_timer *timer)
{
	timer->at_ns = 0;
}

struct bftm_cluster *bftm_cluster_find(const char *name)
{
	(void)name;
	return unknown ? NULL : &cl;
}

struct bftm_cluster *bftm_cluster_configured(u64 configuration)
{
	(void)configuration;
	return unknown ? NULL : &cl;
}

void bftm_evidence_answer(struct bftm_cluster *c, u32 u, struct bftm_acquire_op *op,
			  const struct bftm_msg *msg)
{
	(void)c, (void)u, (void)op, (void)msg;
}

void bftm_release_begin(struct bftm_cluster *c, const u8 *name, u8 len,
			const struct bftm_out *out)
{
	(void)c, (void)name, (void)len, (void)out;
	released++;
}

void bftm_release_answer_from(struct bftm_cluster *c, u32 u, const struct bftm_msg *msg)
{
	(void)c, (void)u, (void)msg;
}

void bftm_release_late(struct bftm_cluster *c, u32 u, const struct bftm_msg *msg)
{
	(void)c, (void)u, (void)msg;
	late++;
}

void bftm_upcall_failed(u64 id, int error, u32 attempts, const char *why)
{
	(void)attempts;
	(void)why;
	tell(error == EWOULDBLOCK ? "busy" : error == ETIMEDOUT ? "late" : "failed", id);
}

int bftm_upcall_converted(const struct bftm_conversion_report *report)
{
	assert_int_equal(report->error, ENOKEY);
	assert_true(report->number);
	tell("cannot convert", report->id);
	return 0;
}

u32 bftm_health_silent(struct bftm_cluster *c, u64 configuration, u32 servers)
{
	(void)c;
	(void)configuration;
	return servers;
}

void bftm_report_lost(struct bftm_cluster *c, const struct bftm_ask *ask)
{
	(void)c;
	(void)ask;
}

void bftm_report_waited(const struct bftm_cluster *c, int error, char text[BFTM_WHY_MAX])
{
	(void)c, (void)error, (void)text;
}

const char *bftm_report_why(const struct bftm_acquire_op *op, int error, char text[BFTM_WHY_MAX])
{
	(void)op, (void)error, (void)text;
	return "";
}

/* As report.c, which test_why.c tests. */
void bftm_report_wanted(struct bftm_acquire_op *op)
{
	enum bftm_mode mode = bftm_ask_mode(&op->ask);
	size_t len = strlen(wanted);

	if (op->client->phase != BFTM_PHASE_HOLD || op->told_wanted == mode ||
	    !bftm_name_wanted(op))
		return;
	op->told_wanted = mode;
	snprintf(wanted + len, sizeof(wanted) - len, "%s%u", len ? ", " : "", (u32)op->ask.id);
}

void bftm_attempt_restarted(struct bftm_acquire_op *op, u32 u)
{
	(void)op;
	(void)u;
}

bool bftm_is_member(const struct bftm_cluster *c)
{
	return c->conf.leaseless;
}

u64 bftm_upcall_pulled_ns(void)
{
	return pulled;
}

void bftm_identity_holds(struct bftm_identity *id, u64 attempt)
{
	assert_ptr_equal(id, &identity);
	told_held = attempt;
}

void bftm_upcall_evicted(u64 id)
{
	tell("evicted", id);
}

static u64 begun_prio;

int bftm_attempt_start(struct bftm_acquire_op *op)
{
	begun_prio = op->name->prio;
	tell("asks", op->ask.id);
	op->client->attempt = op->ask.id;
	op->client->phase = BFTM_PHASE_TRY;
	return BFTM_ATTEMPT_GOES_ON;
}

void bftm_attempt_adopt(struct bftm_acquire_op *op, bool is_whole)
{
	whole = is_whole;
	op->client->attempt = op->ask.attempt;
	op->client->phase = BFTM_PHASE_HOLD;
}

int bftm_attempt_renew(struct bftm_acquire_op *op)
{
	(void)op;
	return BFTM_ATTEMPT_GOES_ON;
}

/* Servers hear at once of a mode that is given up; the rest is waited for. */
int bftm_attempt_convert(struct bftm_acquire_op *op, const struct bftm_ask *ask)
{
	tell("converts", ask->id);
	op->ask.mode = ask->mode;
	op->ask.goal = ask->goal;
	op->ask.conversion = ask->conversion;
	return BFTM_ATTEMPT_GOES_ON;
}

int bftm_attempt_wake(struct bftm_acquire_op *op)
{
	(void)op;
	return ETIMEDOUT;
}

void bftm_attempt_give_back(struct bftm_acquire_op *op)
{
	if (op->place != BFTM_PLACE_WAITING)
		tell("gives back", op->ask.id);
}

void bftm_attempt_leave(struct bftm_acquire_op *op, const struct bftm_ask_value *value)
{
	(void)value;
	bftm_attempt_give_back(op);
}

int bftm_attempt_answer(struct bftm_acquire_op *op, u32 u, const struct bftm_msg *msg)
{
	(void)u;
	if (msg->type == BFTM_MSG_FREE && op->client->phase == BFTM_PHASE_TRY) {
		tell("holds", op->ask.id);
		op->client->phase = BFTM_PHASE_HOLD;
	}
	return BFTM_ATTEMPT_GOES_ON;
}

void bftm_attempt_epoch(struct bftm_acquire_op *op, u32 u)
{
	(void)op;
	(void)u;
}

bool bftm_attempt_contended(const struct bftm_acquire_op *op)
{
	(void)op;
	return contended;
}

static inline u64 seen(const struct bftm_contender *c, const struct bftm_client_cfg *cfg)
{
	(void)c;
	(void)cfg;
	return 0;
}

static inline size_t size(u32 n)
{
	(void)n;
	return sizeof(struct bftm_contender);
}

static inline void no_restart(struct bftm_contender *c, const struct bftm_client_cfg *cfg, u32 u, u64 now,
		       struct bftm_out *out)
{
	(void)c, (void)cfg, (void)u, (void)now, (void)out;
}

static const struct bftm_client_ops ops = { .seen = seen, .size = size, .restarted = no_restart };
static const struct bftm_protocol protocol = { .client = &ops };

static inline int one_cluster(void **state)
{
	(void)state;
	memset(&cl, 0, sizeof(cl));
	memset(&identity, 0, sizeof(identity));
	bftm_names_init(&identity.names);
	cl.identity = &identity;
	cl.protocol = &protocol;
	cl.conf.lease_max_ns = BFTM_NS_PER_SEC;
	cl.conf.leaseless = true;
	cl.configuration = 7ull << 32 | 1;
	TAILQ_INIT(&bftm_clusters);
	TAILQ_INSERT_TAIL(&bftm_clusters, &cl, list);
	TAILQ_INIT(&cl.acquires.lasting);
	identity.boot = 1;
	identity.orphan = 1000;
	counters.attempt = 1000;
	identity.counters = &counters;
	pulled = false;
	told_held = 0;
	released = 0;
	contended = false;
	unknown = false;
	*story = '\0';
	*wanted = '\0';
	return 0;
}

static inline int forgotten(void **state)
{
	(void)state;
	bftm_acquire_forget();
	bftm_names_free(&identity.names);
	return 0;
}

static inline struct bftm_ask ask_of(u64 id, u32 mode)
{
	return (struct bftm_ask){
		.id = id, .name = "x", .name_len = 1, .mode = mode, .lease_ns = BFTM_NS_PER_MS,
	};
}

static inline void waits(u64 id, u32 mode)
{
	struct bftm_ask ask = ask_of(id, mode);

	ask.timeout_at_ns = T0 + 1;
	bftm_acquire_begin(&ask);
}

/* Holds @mode, and wants @goal. */
static inline void converts(u64 id, u32 mode, u32 goal, u32 number)
{
	struct bftm_ask ask = ask_of(id, mode);

	ask.goal = goal;
	ask.conversion = number;
	ask.attempt = id;
	ask.end_ns = T0 + 1;
	bftm_acquire_convert(&ask);
}

static inline void releases(u64 id)
{
	struct bftm_ask ask = ask_of(id, 0);

	bftm_acquire_release(&ask);
}

static inline void answer(u64 id, u8 type)
{
	struct bftm_msg msg = { .type = type, .attempt = id, .name = "x", .name_len = 1 };

	bftm_acquire_answer(&cl, 0, &msg);
}

static inline void free_for(u64 id)
{
	answer(id, BFTM_MSG_FREE);
}

#endif /* BFTM_UNIT_BESIDE_H */
