// SPDX-License-Identifier: GPL-2.0
/* Reports to the kernel: the results of its requests, and suspect servers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <netlink/msg.h>

#include "uapi/linux/bftmutex_netlink.h"
#include "kernel/upcall.h"
#include "loop/clock.h"
#include "loop/log.h"

/* Room in a report for everything except a response. */
#define REPORT_ROOM 512

/*
 * A report that failed for lack of memory may have arrived or not: the helper registers again, from
 * the loop, so that the kernel repeats requests that are not done. ESTALE, EALREADY and ECANCELED
 * are the kernel's answers to a report that it understood.
 */
static int judged(int err)
{
	if (err && err != -ESTALE && err != -EALREADY && err != -ECANCELED)
		bftm_upcall_again();
	return err;
}

static int report_send(struct nl_msg *msg)
{
	return judged(bftm_upcall_call(msg));
}

/* The meaning of an error if no report was sent: there was no memory for it, or no kernel. */
static int unsent(int no_memory)
{
	return bftm_upcall_is_open() ? no_memory : -ENOTCONN;
}

/* If there is no memory for a report either, the helper has to register again. */
static struct nl_msg *new_report(u8 cmd, size_t room)
{
	struct nl_msg *msg = bftm_upcall_msg(cmd, room);

	if (!msg && bftm_upcall_is_open())
		bftm_upcall_again();
	return msg;
}

/* The deadline is slightly earlier, so that it comes before the end if no rate changes. */
static void put_end(struct nl_msg *msg, u64 end_ns)
{
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_DEADLINE_NS, end_ns == BFTM_LEASE_NONE ? end_ns :
		    bftm_clock_to_boottime(end_ns) - BFTM_TICK_NS);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_END_NS, end_ns);
}

static void put_value(struct nl_msg *msg, const struct bftm_value_told *value)
{
	if (!value || !value->valid)
		return;
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_VALUE_FLAGS, BFTMUTEX_VALUE_FLAG_VALID);
	if (value->len)
		nla_put(msg, BFTMUTEX_A_HANDLE_VALUE, value->len, value->bytes);
}

int bftm_upcall_won(const struct bftm_won *won)
{
	struct nl_msg *msg = new_report(BFTMUTEX_CMD_HELPER_DONE, REPORT_ROOM);

	if (!msg)
		return unsent(-ECANCELED);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, won->id);
	nla_put_string(msg, BFTMUTEX_A_HANDLE_CLUSTER, won->cluster);
	if (won->lease_ns != BFTM_LEASE_NONE)
		nla_put_u64(msg, BFTMUTEX_A_HANDLE_LEASE_NS, won->lease_ns);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_ATTEMPT, won->attempt);
	put_end(msg, won->end_ns);
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_ATTEMPTS, won->attempts);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_TOKEN, won->token);
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_SENDS, won->sends);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_CONFIGURATION, won->configuration);
	put_value(msg, won->value);
	return report_send(msg);
}

int bftm_upcall_renewed(u64 id, u64 end_ns, u32 sends)
{
	struct nl_msg *msg = new_report(BFTMUTEX_CMD_HELPER_RENEWED, REPORT_ROOM);

	if (!msg)
		return unsent(-ENOMEM);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, id);
	put_end(msg, end_ns);
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_SENDS, sends);
	return report_send(msg);
}

int bftm_upcall_wanted(u64 id, u32 mode)
{
	struct nl_msg *msg = bftm_upcall_msg(BFTMUTEX_CMD_HELPER_WANTED, REPORT_ROOM);

	if (!msg)
		return unsent(-ENOMEM);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, id);
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_MODE, mode);
	return bftm_upcall_call(msg);
}

int bftm_upcall_converted(const struct bftm_conversion_report *report)
{
	struct nl_msg *msg = new_report(BFTMUTEX_CMD_HELPER_CONVERTED, REPORT_ROOM);

	if (!msg)
		return unsent(-ENOMEM);
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, report->id);
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_CONVERSION, report->number);
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_SENDS, report->sends);
	if (report->error) {
		nla_put_u32(msg, BFTMUTEX_A_HANDLE_ERROR, (u32)report->error);
	} else {
		put_end(msg, report->end_ns);
		nla_put_u64(msg, BFTMUTEX_A_HANDLE_TOKEN, report->token);
		put_value(msg, report->value);
	}
	return report_send(msg);
}

static struct nl_msg *failure(u64 id, u32 error, u32 attempts, const char *why)
{
	struct nl_msg *msg = new_report(BFTMUTEX_CMD_HELPER_DONE, REPORT_ROOM);

	if (!msg)
		return NULL;
	nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, id);
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_ERROR, error);
	nla_put_u32(msg, BFTMUTEX_A_HANDLE_ATTEMPTS, attempts);
	if (*why)
		nla_put_string(msg, BFTMUTEX_A_HANDLE_WHY, why);
	return msg;
}

static void say_unreported(u64 id, int err)
{
	if (err && err != -ESTALE)
		bftm_log(LOG_WARNING, "request %llu: the kernel takes no report: %s",
			 (unsigned long long)id, strerror(-err));
}

void bftm_upcall_evicted(u64 id)
{
	struct nl_msg *msg = new_report(BFTMUTEX_CMD_HELPER_EVICTED, REPORT_ROOM);
	int err;

	if (msg)
		nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, id);
	err = msg ? report_send(msg) : unsent(-ENOMEM);
	say_unreported(id, err);
}

void bftm_upcall_failed(u64 id, int error, u32 attempts, const char *why)
{
	struct nl_msg *msg = failure(id, (u32)error, attempts, why);
	int err = msg ? bftm_upcall_call(msg) : unsent(-ENOMEM);

	/* An older module does not accept words. */
	if (msg && err == -EINVAL && *why) {
		msg = failure(id, (u32)error, attempts, "");
		err = msg ? bftm_upcall_call(msg) : unsent(-ENOMEM);
	}
	say_unreported(id, msg ? judged(err) : err);
}

static void report_submit(u64 id, struct nl_msg *msg)
{
	say_unreported(id, msg ? report_send(msg) : unsent(-ENOMEM));
}

void bftm_upcall_submitted(const struct bftm_submit_report *done)
{
	struct nl_msg *msg = new_report(BFTMUTEX_CMD_HELPER_SUBMITTED, REPORT_ROOM + done->len);

	if (msg) {
		nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, done->id);
		nla_put_u64(msg, BFTMUTEX_A_HANDLE_NUMBER, done->number);
		nla_put_u32(msg, BFTMUTEX_A_HANDLE_STATUS, done->status);
		if (done->len)
			nla_put(msg, BFTMUTEX_A_HANDLE_RESPONSE, (int)done->len, done->response);
	}
	report_submit(done->id, msg);
}

void bftm_upcall_submit_failed(u64 id, int error)
{
	struct nl_msg *msg = new_report(BFTMUTEX_CMD_HELPER_SUBMITTED, REPORT_ROOM);

	if (msg) {
		nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, id);
		nla_put_u32(msg, BFTMUTEX_A_HANDLE_ERROR, (u32)error);
	}
	report_submit(id, msg);
}

void bftm_upcall_suspect(const char *cluster, u16 server, const char *evidence, u64 count)
{
	struct nl_msg *msg = bftm_upcall_msg(BFTMUTEX_CMD_HELPER_SUSPECT, REPORT_ROOM);
	char text[BFTMUTEX_EVIDENCE_MAX + 1];

	if (!msg)
		return;
	snprintf(text, sizeof(text), "%s", evidence);
	nla_put_string(msg, BFTMUTEX_A_SUSPECT_CLUSTER, cluster);
	nla_put_u16(msg, BFTMUTEX_A_SUSPECT_SERVER_ID, server);
	nla_put_string(msg, BFTMUTEX_A_SUSPECT_EVIDENCE, text);
	nla_put_u64(msg, BFTMUTEX_A_SUSPECT_COUNT, count);
	bftm_upcall_call(msg);	/* for listeners to events */
}
