// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of this host for locks of one name, in any cluster: all of them are the kernel's, or all
 * are the helper's, which lets them wait for each other as well.
 *
 * Of the kernel's requests the oldest asks servers, or holds the lock, and the others wait behind:
 * so this host has one attempt of a lock at a time. Those that wait want the same mode, beside
 * which there is no other holder of this mode; requests whose modes may share the lock are the
 * helper's. When the oldest goes over to the helper, the others do.
 */
#include <linux/siphash.h>

#include "client/choice.h"
#include "client/fast.h"
#include "client/handle.h"
#include "client/request.h"
#include "client/session.h"
#include "netns.h"

/*
 * Further requests for a name are the helper's, and stand after those that wait behind. A walk ends
 * at the first of them, so this bounds its length.
 */
#define BEHIND_MAX	64

static u64 key_of(const struct bftm_upcall *up, const struct bftm_acquire *arg)
{
	return siphash(arg->name, arg->name_len, &up->secret);
}

/* The oldest request for a lock of this name. */
static struct bftm_request *find_name(struct bftm_upcall *up, const struct bftm_acquire *arg,
				      u64 key)
{
	struct bftm_request *other;

	hash_for_each_possible(up->tables->by_name, other, by_name, key)
		if (other->arg.name_len == arg->name_len &&
		    !memcmp(other->arg.name, arg->name, arg->name_len))
			return other;
	return NULL;
}

/* The same, when a lease that is over was ended, which may have been the oldest's. */
static struct bftm_request *find_held(struct bftm_upcall *up, const struct bftm_acquire *arg,
				      u64 key)
{
	struct bftm_request *oldest = find_name(up, arg, key);

	if (!oldest || !oldest->fast)
		return oldest;
	bftm_handle_check(oldest->handle);
	return find_name(up, arg, key);
}

static void local_begin(struct bftm_net *bn, struct bftm_request *request)
{
	if (!bftm_fast_begin(bn, request))
		bftm_local_entrust(bn, request);
}

static bool do_conflict(const struct bftm_request *a, const struct bftm_request *b)
{
	return bftm_modes_conflict(bftm_mode_of(a->arg.mode), bftm_mode_of(b->arg.mode));
}

/* May @request, the last of them, wait? Not behind one that waits for a helper: see below. */
static bool has_room(const struct bftm_request *oldest, const struct bftm_request *request)
{
	const struct bftm_request *other;
	u32 count = 0;

	list_for_each_entry(other, &oldest->same, same)
		if (other != request && (!other->behind || ++count >= BEHIND_MAX))
			return false;
	return true;
}

/* Is the lock that @oldest has the one that @request wants, and the kernel's to give? */
static bool is_same_lock(struct bftm_net *bn, const struct bftm_request *oldest,
			 const struct bftm_request *request)
{
	return bftm_session_find(bn, request->arg.cluster) == oldest->fast->session &&
	       bftm_choice_may(bn, request) && do_conflict(oldest, request);
}

static void wait_behind(struct bftm_request *oldest, struct bftm_request *request)
{
	request->behind = true;
	/* The state says whether a program holds it. */
	bftm_handle_wanted(oldest->handle, oldest->arg.mode);
}

void bftm_local_join(struct bftm_net *bn, struct bftm_request *request)
{
	struct bftm_upcall *up = bn->upcall;
	u64 key = key_of(up, &request->arg);
	struct bftm_request *oldest;

	lockdep_assert_held(&up->lock);
	oldest = find_held(up, &request->arg, key);
	if (!oldest) {
		hash_add(up->tables->by_name, &request->by_name, key);
		local_begin(bn, request);
		return;
	}
	list_add_tail(&request->same, &oldest->same);
	if (oldest->fast && is_same_lock(bn, oldest, request)) {
		if (request->arg.flags & BFTM_TRY) {
			request->failed = true;
			return;
		}
		if (request->arg.mode == oldest->arg.mode && has_room(oldest, request)) {
			wait_behind(oldest, request);
			return;
		}
	}
	/* Without a helper nobody would renew what is held: see bftm_local_pull(). */
	if (oldest->fast && up->portid)
		bftm_fast_entrust(oldest);
	bftm_upcall_requeue(bn, request);
}

struct bftm_request *bftm_local_pull(struct bftm_upcall *up, struct bftm_request *request)
{
	struct bftm_request *oldest;

	if (request->submission || request->kind != BFTMUTEX_REQUEST_KIND_ACQUIRE)
		return request;
	oldest = find_name(up, &request->arg, key_of(up, &request->arg));
	if (!oldest || !oldest->fast)
		return request;
	bftm_fast_entrust(oldest);
	list_move(&oldest->list, &up->queue);
	return oldest;
}

void bftm_local_leave(struct bftm_request *request)
{
	struct bftm_request *next;

	if (!hlist_unhashed(&request->by_name) && !list_empty(&request->same)) {
		next = list_first_entry(&request->same, struct bftm_request, same);
		hlist_add_behind(&next->by_name, &request->by_name);
	}
	hash_del(&request->by_name);
	list_del_init(&request->same);
}

struct bftm_request *bftm_local_next(const struct bftm_request *request)
{
	struct bftm_request *next;

	if (list_empty(&request->same))
		return NULL;
	next = list_first_entry(&request->same, struct bftm_request, same);
	return next->behind ? next : NULL;
}

/* The helper hears of a request that is over. */
static void local_tell(struct bftm_net *bn, struct bftm_request *request, u32 kind)
{
	bftm_local_leave(request);
	request->kind = kind;
	bftm_upcall_requeue(bn, request);
}

/* Do those behind @oldest want the same lock still? The empty name may mean another cluster now. */
static bool is_one_line(struct bftm_net *bn, const struct bftm_request *oldest)
{
	const struct bftm_session *s = bftm_session_find(bn, oldest->arg.cluster);
	const struct bftm_request *other;

	list_for_each_entry(other, &oldest->same, same) {
		if (!other->behind)
			break;
		if (strcmp(other->arg.cluster, oldest->arg.cluster) &&
		    bftm_session_find(bn, other->arg.cluster) != s)
			return false;
	}
	return true;
}

static void begin_next(struct bftm_net *bn, struct bftm_request *next)
{
	if (!next)
		return;
	next->behind = false;
	if (is_one_line(bn, next))
		local_begin(bn, next);
	else
		bftm_local_entrust(bn, next);
}

void bftm_local_end(struct bftm_net *bn, struct bftm_request *request)
{
	struct bftm_request *next = bftm_local_next(request);

	/* Also the next helper logs it. */
	if (request->lapsed && !bn->upcall->deserted && !bn->upcall->silent) {
		request->handle = NULL;
		local_tell(bn, request, BFTMUTEX_REQUEST_KIND_LOST);
	} else {
		bftm_request_free(bn->upcall, request);
	}
	begin_next(bn, next);
}

void bftm_local_expire(struct bftm_net *bn, struct bftm_request *request)
{
	struct bftm_request *next = bftm_local_next(request);

	local_tell(bn, request, BFTMUTEX_REQUEST_KIND_EXPIRED);
	begin_next(bn, next);
}

void bftm_local_entrust(struct bftm_net *bn, struct bftm_request *request)
{
	struct bftm_request *other;

	bftm_upcall_requeue(bn, request);
	list_for_each_entry(other, &request->same, same) {
		if (!other->behind)
			break;
		other->behind = false;
		bftm_upcall_requeue(bn, other);
	}
}
