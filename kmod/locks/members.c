// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: the work of a server is queued by its receive path alone, and cancelled when that has
 * ended: bftm_locks_members_stop(). It finds the rules anew each time that it takes members_lock,
 * under which they are replaced, and keeps no pointer into them.
 *
 * Two walks drop what a client had: after SYNC, and at an eviction. A request of such an attempt
 * may be on its way on another processor. It is stepped under its shard's lock, where it looks
 * once more: at the window, which SYNC has moved (bftm_locks_enter()), and at the evictions
 * (serve.c). Each walk takes the lock of each shard, also where no lock is. So the request
 * is stepped before, and the walk finds what it has made; or it is refused.
 */
#include "compat.h"
#include "locks/locks.h"
#include "locks/members.h"
#include "netns.h"
#include "server/server.h"

static struct bftm_rules *rules_of(struct bftm_server *server)
{
	return rcu_dereference_protected(server->rules, lockdep_is_held(&server->members_lock));
}

static struct bftm_member *find_member(struct bftm_rules *rules, u32 client)
{
	return rules ? bftm_members_find(&rules->members, client) : NULL;
}

/** struct dropping - a walk that drops what a client had */
struct dropping {
	struct bftm_locks *table;
	u32 client;
	u32 incarnation;
	bool leased;
};

static int drop_one(struct bftm_shard *s, struct bftm_entry *e, void *arg)
{
	const struct dropping *d = arg;

	if (d->table->ops->drop(e->state, d->client, d->incarnation, d->leased))
		bftm_shard_requeue(s, e);	/* others may be let in, by the timer */
	return 0;
}

static void drop_all(struct bftm_server *server, u32 client, u32 incarnation, bool leased)
{
	struct dropping d = { .client = client, .incarnation = incarnation, .leased = leased };
	int i;

	for (i = 0; bftm_protocols[i]; i++) {
		long pos[2] = {};

		d.table = server->locks[i];
		if (d.table->ops->drop)
			bftm_locks_walk(d.table, pos, drop_one, &d);
	}
}

static bool is_to_do(const struct bftm_telling *t)
{
	return t->asked && !(t->told && t->done >= t->wanted);
}

/*
 * Each in its turn: @index is where to look on. Return: is there one? Then @ret_client has told
 * all, and had nothing after @ret_below.
 */
static bool next_synced(struct bftm_server *server, u32 *index, u32 *ret_client, u32 *ret_below)
{
	const struct bftm_rules *rules;
	bool found = false;
	u32 i, count;

	spin_lock_bh(&server->members_lock);
	rules = rules_of(server);
	count = rules && !server->members_end ? rules->members.count : 0;
	for (i = 0; i < count && !found; i++) {
		*index = (*index + 1) % count;
		found = is_to_do(&rules->telling[*index]);
		*ret_client = rules->members.member[*index].client;
		*ret_below = rules->telling[*index].wanted;
	}
	spin_unlock_bh(&server->members_lock);
	return found;
}

static struct bftm_telling *find_telling(struct bftm_rules *rules, const struct bftm_member *m)
{
	return &rules->telling[m - rules->members.member];
}

/* If its next boot has told meanwhile, there is more to drop; it is heard all the same. */
static void heard(struct bftm_server *server, u32 client, u32 below)
{
	struct bftm_member *m;

	spin_lock_bh(&server->members_lock);
	m = find_member(rules_of(server), client);
	if (m) {
		find_telling(rules_of(server), m)->done = below;
		find_telling(rules_of(server), m)->told = true;
		bftm_members_heard(&rules_of(server)->members, m);
	}
	spin_unlock_bh(&server->members_lock);
}

static void members_work(struct work_struct *work)
{
	struct bftm_server *server = container_of(work, struct bftm_server, members_work);
	u32 client, below, index = 0;

	while (next_synced(server, &index, &client, &below)) {
		drop_all(server, client, below, true);
		heard(server, client, below);
	}
}

void bftm_locks_members_start(struct bftm_server *server)
{
	INIT_WORK(&server->members_work, members_work);
}

void bftm_locks_members_stop(struct bftm_server *server)
{
	/* It ends after the walk that is under way. */
	spin_lock_bh(&server->members_lock);
	server->members_end = true;
	spin_unlock_bh(&server->members_lock);
	cancel_work_sync(&server->members_work);
}

bool bftm_locks_synced(struct bftm_server *server, u32 client, u32 incarnation)
{
	struct bftm_telling *t;
	struct bftm_member *m;
	bool done = false;

	spin_lock(&server->members_lock);
	m = find_member(rules_of(server), client);
	if (m) {
		t = find_telling(rules_of(server), m);
		t->asked = true;
		t->wanted = max(t->wanted, incarnation);
		done = t->told && t->done >= incarnation;
		if (!done)
			queue_work(bftm_unbound_wq, &server->members_work);
	}
	spin_unlock(&server->members_lock);
	return done;
}

int bftm_locks_evict(struct bftm_server *server, u32 client, u32 incarnation)
{
	bool found, back = bftm_clients_newest(&server->clients, client) >> 32 > incarnation;
	struct bftm_rules *rules;

	spin_lock_bh(&server->members_lock);
	rules = rules_of(server);
	found = rules && bftm_members_evict(&rules->members, client, incarnation, back);
	spin_unlock_bh(&server->members_lock);
	if (!found)
		return -ESRCH;
	pr_info("bftmutex: server %u: client %u is evicted, with its incarnations up to %u%s\n",
		server->cfg.id, client, incarnation, back ? "; it is back with a later one" : "");
	return 0;
}

void bftm_locks_evicted(struct bftm_server *server, u32 client, u32 incarnation)
{
	/* The walk takes long where locks are many: the journal and others wait for that mutex. */
	lockdep_assert_not_held(&bftm_net(server->net)->mutex);
	/* Nothing new comes of it. A grant with a lease ends by its lease. */
	drop_all(server, client, incarnation, false);
}

int bftm_locks_note(struct bftm_server *server, u32 client, u32 incarnation, u64 roll)
{
	struct bftm_rules *rules;
	bool found;

	if (!server->param.roll)
		return -EOPNOTSUPP;
	if (roll != server->param.roll)
		return -ESTALE;
	spin_lock_bh(&server->members_lock);
	rules = rules_of(server);
	found = rules && bftm_members_note(&rules->members, client, incarnation);
	if (found)
		find_telling(rules, find_member(rules, client))->unnoted_ns = 0;
	spin_unlock_bh(&server->members_lock);
	return found ? 0 : -ESRCH;
}

/* The roll is written four times a second; where it is not, the log says so now and then. */
#define UNNOTED_NS		(5 * BFTM_NS_PER_SEC)
#define UNNOTED_SAID_AGAIN_NS	(600 * BFTM_NS_PER_SEC)

void bftm_locks_unnoted(struct bftm_server *server, u32 client, u32 incarnation, u64 now)
{
	struct bftm_member *m;
	bool say = false;
	u64 *since;

	spin_lock(&server->members_lock);
	m = find_member(rules_of(server), client);
	if (m && m->noted < incarnation) {	/* it may have been noted since */
		since = &find_telling(rules_of(server), m)->unnoted_ns;
		if (!*since)
			*since = now;
		/* Another processor, which read the clock later, may have been here before. */
		say = now >= *since + UNNOTED_NS && now >= server->unnoted_say_ns;
		if (say)
			server->unnoted_say_ns = now + UNNOTED_SAID_AGAIN_NS;
	}
	spin_unlock(&server->members_lock);
	if (say)
		pr_warn("bftmutex: server %u: client %u gets no lock without a lease, since the roll does not name it: is 'bftmutexctl server roll' running, and can it write its file?\n",
			server->cfg.id, client);
}

/** struct unruled - a walk that looks for locks without a lease that no rule allows */
struct unruled {
	struct bftm_locks *table;
	const struct bftm_rules *rules;
};

static int unruled_one(struct bftm_shard *s, struct bftm_entry *e, void *arg)
{
	const struct unruled *u = arg;
	const u8 *name = bftm_entry_name(u->table, e);
	struct bftm_msg req = { .type = BFTM_MSG_TRY, .name_len = *name };
	const struct bftm_rule *rule;
	u32 i;

	memcpy(req.name, name + 1, *name);
	for (i = 0; u->table->ops->lasting(e->state, i, &req.client); i++) {
		if (!req.client)
			continue;
		rule = u->rules ? bftm_access_find(u->rules->rule, u->rules->count, &req) : NULL;
		if (!rule || rule->deny || !rule->leaseless)
			return 1;
	}
	return 0;
}

bool bftm_locks_unruled(struct bftm_server *server, const struct bftm_rules *rules)
{
	struct unruled u = { .rules = rules };
	int i;

	for (i = 0; bftm_protocols[i]; i++) {
		long pos[2] = {};

		u.table = server->locks[i];
		if (u.table->ops->lasting && bftm_locks_walk(u.table, pos, unruled_one, &u))
			return true;
	}
	return false;
}
