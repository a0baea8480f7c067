// SPDX-License-Identifier: GPL-2.0
/*
 * Watchers of a handle wait for its changes: poll(), epoll, threads that want a renewal.
 *
 * The first BFTM_WATCHERS_MAX are woken at once, with the namespace's lock held. The others wait in
 * the crowd, which the usher wakes without that lock, so that other handles of the namespace need
 * not wait for it.
 *
 * No change is missed. A watcher joins a queue first, and then looks at the handle under the
 * upcall's lock. A change is made under that lock, and then the code that made it looks for a
 * crowd. The one that gets the lock second sees what the other did.
 */
#include <linux/poll.h>

#include "client/handle.h"
#include "netns.h"

/* Each watcher finds out by itself what changed. */
static void usher(struct work_struct *work)
{
	struct bftm_handle *h = container_of(work, struct bftm_handle, usher);

	wake_up_poll(&h->crowd, EPOLLIN | EPOLLRDNORM | EPOLLRDBAND | EPOLLPRI | EPOLLHUP);
}

void bftm_handle_watch_init(struct bftm_handle *h)
{
	init_waitqueue_head(&h->wait);
	init_waitqueue_head(&h->crowd);
	INIT_WORK(&h->usher, usher);
}

void bftm_handle_watch_end(struct bftm_handle *h)
{
	cancel_work_sync(&h->usher);
}

struct wait_queue_head *bftm_handle_place(struct bftm_handle *h)
{
	struct list_head *entry;
	unsigned int count = 0;

	spin_lock_irq(&h->wait.lock);
	list_for_each(entry, &h->wait.head)
		if (++count >= BFTM_WATCHERS_MAX)
			break;
	spin_unlock_irq(&h->wait.lock);
	return count < BFTM_WATCHERS_MAX ? &h->wait : &h->crowd;
}

void bftm_handle_wake(struct bftm_handle *h, __poll_t events)
{
	lockdep_assert_held(&h->bn->upcall->lock);
	wake_up_poll(&h->wait, events);
	/* The lock serves as the barrier, see above. */
	if (waitqueue_active(&h->crowd))
		schedule_work(&h->usher);
}

int bftm_handle_wanted(struct bftm_handle *h, u32 mode)
{
	lockdep_assert_held(&h->bn->upcall->lock);
	if (h->state != BFTM_STATE_HELD || h->arg.mode != mode)
		return -ESTALE;
	if (!h->wanted) {
		h->wanted = true;
		bftm_handle_wake(h, EPOLLRDBAND);
	}
	return 0;
}
