// SPDX-License-Identifier: GPL-2.0
/*
 * An attempt that a host makes by itself, as the kernel does, under any answers at any time. Beside
 * what oracle.h says: it goes from ASK to HOLD to END and never back. In END its client is gone,
 * RELEASE has gone to all that were asked, and it is over by itself, whatever servers say.
 */
#include "core/backoff/host.h"
#include "core/backoff/protocol.h"
#include "core/lease.h"
#include "core/quorum.h"
#include "oracle.h"

static struct bftm_host host;
static struct bftm_contend contend;
static struct bftm_client_cfg cfg;

/* The state that an event leads from and to; true where there is none. */
static bool fits(enum bftm_host_state from, const struct bftm_host_step *step)
{
	switch (step->event) {
	case BFTM_HOST_NOTHING:
		return host.state == from;
	case BFTM_HOST_WON:
		return from == BFTM_HOST_ASK && host.state == BFTM_HOST_HOLD;
	case BFTM_HOST_RENEWED:
		return from == BFTM_HOST_HOLD && host.state == BFTM_HOST_HOLD;
	case BFTM_HOST_LAPSED:
		return from == BFTM_HOST_HOLD && host.state == BFTM_HOST_END;
	case BFTM_HOST_LOST:
		return from == BFTM_HOST_ASK && host.state == BFTM_HOST_END;
	case BFTM_HOST_OVER:
		return from == BFTM_HOST_END && host.state == BFTM_HOST_END;
	}
	return false;
}

/* A step in which the attempt ends: it does not look at its client any more. */
static void judge_end(const struct bftm_host_step *step)
{
	must(step->out.release_to == oracle.asked);
	must(step->out.release_attempt == oracle.attempt);
	must(!bftm_out_to(&step->out, BFTM_MSG_TRY));
	must(!step->out.release_doubt || step->event != BFTM_HOST_LOST);
	must(!step->unheard || step->event == BFTM_HOST_LOST);
	must(!step->unheard || bftm_count(host.heard) < bftm_win(&cfg));
	memset(&contend, 0xa5, sizeof(contend));
	host.client = NULL;
}

static void judge_alive(const struct bftm_host_step *step, u64 now)
{
	const struct bftm_contender *c = &contend.base;

	oracle_judge(&contend, &cfg, &step->out, now);
	must(!(bftm_host_silent(&host) & ~oracle.asked));
	must(!step->unheard && step->out.verdict <= BFTM_WON);
	if (host.state == BFTM_HOST_HOLD) {
		const u64 end = bftm_contend_end(&contend, &cfg);

		must(host.due_ns <= end);
		must(step->event == BFTM_HOST_NOTHING || (step->end_ns == end && now <= end));
		/* A program is not told of a lock that is over at once. */
		must(step->event != BFTM_HOST_WON || now < end);
		must(!step->out.extended || step->event == BFTM_HOST_RENEWED);
		return;
	}
	/* An attempt that only asks has an end, however few answer. */
	must(host.due_ns && !step->wanted);
	must(bftm_contender_queues(c) || c->sends <= BFTM_HOST_SENDS);
}

static void judge(enum bftm_host_state from, const struct bftm_host_step *step, u64 now)
{
	must(fits(from, step) || (from != BFTM_HOST_END && host.state == BFTM_HOST_END));
	if (host.state != BFTM_HOST_END) {
		oracle_sends(&contend, now);
		judge_alive(step, now);
	} else if (from != BFTM_HOST_END) {
		judge_end(step);
	} else {
		must(!step->out.count);
		must(!(step->out.release_to & ~bftm_all(cfg.n)));
	}
}

/* Nothing may be due again at once, or the host would spin. */
static void act_wake(u64 *now, struct bftm_host_step *step)
{
	if (*now < host.due_ns)
		*now = host.due_ns;
	bftm_host_wake(&host, &cfg, *now, step);
	must(step->event == BFTM_HOST_OVER || !host.due_ns || host.due_ns > *now);
}

static void act_answer(struct fuzz_bytes *in, u32 u, u64 now, struct bftm_host_step *step)
{
	const bool ends = host.state == BFTM_HOST_END;
	struct bftm_msg msg;

	oracle_draw(in, &contend, &msg);
	/* The caller finds the attempt by its number. */
	msg.attempt = host.attempt;
	if (!ends)
		oracle_answer(&contend, u, &msg);
	bftm_host_answer(&host, &cfg, u, &msg, now, step);
	must(!ends || !(step->out.release_to & ~(1u << u)));
}

/* A step of the host, and of its network, which may have no room for what the last one sends. */
static void act(struct fuzz_bytes *in, u64 *now, u32 *tried, struct bftm_host_step *step)
{
	const u32 u = (u32)fuzz_take(in, 1) % cfg.n;
	const u8 what = (u8)fuzz_take(in, 1);

	*now += fuzz_take(in, 2) << (what >> 4);
	switch (what % 16) {
	case 10:
		bftm_host_epoch(&host, &cfg, u, *now, step);
		break;
	case 11:
	case 12:
		act_wake(now, step);
		break;
	case 13:
		bftm_host_renew(&host, &cfg, *now, step);
		break;
	case 14:
		bftm_host_unsent(&host, &cfg, (u32)fuzz_take(in, 4) & *tried, *now, step);
		break;
	case 15:
		if (host.state == BFTM_HOST_END)
			bftm_host_unreleased(&host, *now);
		else
			bftm_host_stop(&host, &cfg, what & 16, *now, step);
		break;
	default:
		act_answer(in, u, *now, step);
	}
}

/* Servers say nothing any more: RELEASE goes out a few times, and that is all. */
static void finish(u64 now, struct bftm_host_step *step)
{
	u32 wakes = 0;

	if (host.state != BFTM_HOST_END) {
		const enum bftm_host_state from = host.state;

		bftm_host_stop(&host, &cfg, true, now, step);
		judge(from, step, now);
	}
	do {
		must(wakes++ <= BFTM_RELEASE_SENDS);
		act_wake(&now, step);
		judge(BFTM_HOST_END, step, now);
	} while (step->event != BFTM_HOST_OVER);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct fuzz_bytes in = { data, len };
	struct bftm_host_step step;
	struct bftm_want want;
	u64 now = 1000000;
	u32 tried;

	memset(&oracle, 0, sizeof(oracle));
	memset(&contend, 0, sizeof(contend));
	oracle_cfg(&in, &cfg);
	oracle_want(&in, &want);
	want.wait = want.wait & 1 ? BFTM_WAIT_QUEUE : BFTM_WAIT_NOT;
	want.whole = false;
	host = (struct bftm_host){ .core = bftm_backoff.client, .client = &contend.base };
	bftm_host_begin(&host, &cfg, &want, 1, now, &step);
	oracle_attempt(&contend, 0);
	judge(BFTM_HOST_ASK, &step, now);
	while (in.left && step.event != BFTM_HOST_OVER) {
		const enum bftm_host_state from = host.state;

		tried = bftm_out_to(&step.out, BFTM_MSG_TRY);
		memset(&step, 0, sizeof(step));
		act(&in, &now, &tried, &step);
		judge(from, &step, now);
	}
	if (step.event != BFTM_HOST_OVER)
		finish(now, &step);
	return 0;
}
