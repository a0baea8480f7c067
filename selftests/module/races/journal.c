// SPDX-License-Identifier: GPL-2.0
/* A journal comes and goes while answers wait for it; now and then the server does. */
#include "server.h"

#define FILE_ID	7

static struct bftm_nl nl;
static bool loading;
static uint64_t held, dropped;

static bool start(struct races *r)
{
	struct nl_msg *msg = races_start_msg(r, &nl, 64, SHORT);
	int err;

	nla_put_u32(msg, BFTMUTEX_A_SERVER_DURABILITY, BFTMUTEX_DURABILITY_SYNC);
	nla_put_u64(msg, BFTMUTEX_A_SERVER_JOURNAL_ID, FILE_ID);
	err = send_msg(&nl, msg);
	loading = true;
	return !err || races_failed("server-start: %s (%s)", strerror(-err), nl.error);
}

static int on_stats(struct nlattr **attr, void *arg)
{
	struct nlattr *a[BFTMUTEX_A_STATS_MAX + 1];

	(void)arg;
	if (nla_parse_nested(a, BFTMUTEX_A_STATS_MAX, attr[BFTMUTEX_A_SERVER_STATS], NULL) < 0)
		return -EBADMSG;
	held += nla_get_u64(a[BFTMUTEX_A_STATS_HELD]);
	dropped += nla_get_u64(a[BFTMUTEX_A_STATS_UNJOURNALLED]);
	return 0;
}

/* Held answers are counted before they are forgotten with the server. */
static bool stop(void)
{
	int err = bftm_nl_call(&nl, bftm_nl_msg(&nl, BFTMUTEX_CMD_SERVER_GET, 0), on_stats,
			       BFTMUTEX_A_SERVER_MAX, NULL);

	if (err)
		return races_failed("server-get: %s", strerror(-err));
	return races_stop(&nl);
}

static bool begin(struct races *r)
{
	if (bftm_nl_open(&nl))
		return races_failed("no family");
	return start(r);
}

static bool end(struct races *r)
{
	bool good = stop();

	bftm_nl_close(&nl);
	printf("journal held=%" PRIu64 " dropped=%" PRIu64 "\n", held, dropped);
	if ((!held || !dropped) && r->iterations >= RACES_ENOUGH)
		good = races_failed("no answer was held, or none was dropped");
	return good;
}

/** struct shown - the object that was */
struct shown {
	char name[BFTM_OBJECT_NAME_MAX];
	int name_len;
	uint64_t change;
	bool more;
};

static int on_object(struct nlattr **a, void *arg)
{
	struct shown *s = arg;

	s->name_len = nla_len(a[BFTMUTEX_A_JOURNAL_NAME]);
	memcpy(s->name, nla_data(a[BFTMUTEX_A_JOURNAL_NAME]), (size_t)s->name_len);
	s->change = nla_get_u64(a[BFTMUTEX_A_JOURNAL_CHANGE]);
	s->more = a[BFTMUTEX_A_JOURNAL_MORE];
	return 0;
}

static int keep(struct bftm_nl *j, const struct shown *s)
{
	struct nl_msg *msg = bftm_nl_msg(j, BFTMUTEX_CMD_JOURNAL_DONE, 0);

	nla_put(msg, BFTMUTEX_A_JOURNAL_NAME, s->name_len, s->name);
	nla_put_u64(msg, BFTMUTEX_A_JOURNAL_CHANGE, s->change);
	return send_msg(j, msg);
}

/* Some objects, of which some are kept. */
static bool follow(struct bftm_nl *j, unsigned int count)
{
	struct shown s;
	int err;

	while (count--) {
		err = bftm_nl_call(j, bftm_nl_msg(j, BFTMUTEX_CMD_JOURNAL_PULL, 0), on_object,
				   BFTMUTEX_A_JOURNAL_MAX, &s);
		if (err == -ENODATA) {
			usleep(200);
			continue;
		}
		if (!err && !s.more && races_random(4))
			err = keep(j, &s);
		if (err)
			return races_failed("journal: %s (%s)", strerror(-err), j->error);
	}
	return true;
}

static bool opened(void *arg)
{
	struct nl_msg *msg = bftm_nl_msg(arg, BFTMUTEX_CMD_JOURNAL_OPEN, 0);

	nla_put_u64(msg, BFTMUTEX_A_JOURNAL_ID, FILE_ID);
	/* The one before may be on its way out. */
	return send_msg(arg, msg) != -EBUSY;
}

static bool journal(struct races *r, uint64_t i)
{
	struct bftm_nl j;
	bool good;

	if (bftm_nl_open(&j) || !soon(opened, &j))
		return races_failed("cannot be the journal");
	if (loading && command(&j, BFTMUTEX_CMD_JOURNAL_LOADED, 0))
		return races_failed("journal-loaded: %s", j.error);
	loading = false;
	/* Datagrams come, and what would be said of them waits. */
	races_until(&r->shared->heard, races_get(&r->shared->heard), WAIT_MS);
	races_pause(1000);
	good = follow(&j, races_random(8));
	if (good && i % 16 == 0)
		good = stop() && start(r);
	bftm_nl_close(&j);
	return good;
}

const struct scenario races_journal[] = {
	{ "journal", "journal, with answers that wait for it", begin, journal, end,
	  .device = false },
	{}
};
