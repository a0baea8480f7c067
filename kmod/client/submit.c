// SPDX-License-Identifier: GPL-2.0
/*
 * Lifetime: a submission is its thread's, which sleeps in an ioctl. The ioctl holds the file, and
 * so the handle, the namespace and the module, even if other threads close the descriptor.
 *
 * Other code reaches it by request->submission alone, under the upcall's lock. The helper's report,
 * its death, the end of the grace (bftm_submit_answered()) and the thread that gives up
 * (submission_end()) each clear this pointer under the same lock, and the second of them finds it
 * cleared: so an operation has one end. The answering code touches the submission last when it
 * wakes the thread, and the thread looks for its answer under the lock; so when it has seen the
 * answer, no other code uses the submission.
 *
 * A response that did not fit belongs to the handle, until a thread takes it off the
 * list to fetch it, under the lock, or the last close() frees it, when no ioctl runs.
 *
 * At most once: only bftm_upcall_pull() hands an operation to a helper, and an operation that was
 * handed over is never queued again.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "client/handle.h"
#include "client/submit.h"
#include "client/trace.h"
#include "debug.h"
#include "netns.h"
#include "time/sleep.h"

static struct bftm_submission *submission_new(struct bftm_handle *h,
					      const struct bftm_submit *arg)
{
	struct bftm_submission *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	int err = -ENOMEM;

	if (!s)
		return ERR_PTR(err);
	s->op = kmalloc(arg->op_len, GFP_KERNEL_ACCOUNT);
	/*
	 * Room for the longest response: it counts for the submitting process, and no response is
	 * lost for lack of memory.
	 */
	s->response = kvmalloc(BFTM_OP_MAX, GFP_KERNEL_ACCOUNT);
	if (!s->op || !s->response)
		goto err_free;
	err = -EFAULT;
	if (copy_from_user(s->op, u64_to_user_ptr(arg->op), arg->op_len))
		goto err_free;
	init_waitqueue_head(&s->wait);
	s->handle = h;
	s->op_len = arg->op_len;
	bftm_created("submission", s);
	return s;

err_free:
	kvfree(s->response);
	kfree(s->op);
	kfree(s);
	return ERR_PTR(err);
}

/* No other code has a pointer to it. */
static void submission_free(struct bftm_submission *s)
{
	struct bftm_upcall *up = s->handle->bn->upcall;

	spin_lock_bh(&up->lock);
	up->bytes -= s->bytes;
	spin_unlock_bh(&up->lock);
	bftm_destroyed("submission", s);
	kvfree(s->response);
	kfree(s->op);
	kfree(s);
}

static struct bftm_request *request_new(const struct bftm_submit *arg)
{
	struct bftm_request *request = bftm_request_alloc();

	if (!request)
		return NULL;
	request->kind = BFTMUTEX_REQUEST_KIND_SUBMIT;
	request->arg.name_len = arg->name_len;
	memcpy(request->arg.name, arg->name, sizeof(arg->name));
	memcpy(request->arg.cluster, arg->cluster, sizeof(arg->cluster));
	if (arg->timeout_ns)
		request->timeout_at_ns = bftm_sleep_until(arg->timeout_ns);
	return request;
}

static int submission_begin(struct bftm_submission *s, struct bftm_request *request)
{
	struct bftm_upcall *up = s->handle->bn->upcall;
	u32 bytes = s->op_len + BFTM_OP_MAX;
	int err;

	lockdep_assert_held(&up->lock);
	if (s->handle->kept_count >= BFTM_KEPT_MAX)
		return -EBUSY;
	if (up->bytes + bytes > BFTM_SUBMIT_BYTES_MAX)
		return -ENOBUFS;
	request->submission = s;
	err = bftm_upcall_add(s->handle->bn, request);
	if (err)
		return err;
	s->request = request;
	s->id = request->id;
	s->bytes = bytes;
	up->bytes += bytes;
	trace_bftm_submit(s);
	return 0;
}

/* -EINPROGRESS while it is under way. */
static int submission_outcome(void *arg)
{
	struct bftm_submission *s = arg;
	int err;

	spin_lock_bh(&s->handle->bn->upcall->lock);
	err = s->request ? -EINPROGRESS : 0;
	spin_unlock_bh(&s->handle->bn->upcall->lock);
	return err;
}

/* @err: why the thread does not wait any more. Return: @err, or the answer if it came before. */
static int submission_end(struct bftm_submission *s, int err)
{
	struct bftm_net *bn = s->handle->bn;

	spin_lock_bh(&bn->upcall->lock);
	if (s->request) {
		s->error = err;
		bftm_upcall_end(bn, s->request);
		s->request = NULL;
	}
	err = s->error;
	trace_bftm_submitted(s);
	spin_unlock_bh(&bn->upcall->lock);
	return err;
}

void bftm_submit_answered(struct bftm_submission *s, const struct bftm_submitted *answer)
{
	lockdep_assert_held(&s->handle->bn->upcall->lock);
	s->request = NULL;
	s->error = answer->error;
	s->status = answer->status;
	s->number = answer->number;
	s->len = answer->len;
	if (s->len)
		memcpy(s->response, answer->response, s->len);
	wake_up_interruptible(&s->wait);
}

static int submit_and_wait(struct bftm_submission *s, const struct bftm_submit *arg)
{
	struct bftm_request *request = request_new(arg);
	u64 at;
	int err;

	if (!request)
		return -ENOMEM;
	/*
	 * The helper gets the time limit as well; it ends the request first, and knows the reason.
	 */
	at = request->timeout_at_ns ? request->timeout_at_ns + BFTM_TIMEOUT_SLACK_NS : 0;
	spin_lock_bh(&s->handle->bn->upcall->lock);
	err = submission_begin(s, request);
	spin_unlock_bh(&s->handle->bn->upcall->lock);
	if (err) {
		bftm_request_discard(request);
		return err;
	}
	return submission_end(s, bftm_sleep(&s->wait, at, submission_outcome, s));
}

static int deliver(const struct bftm_submission *s, struct bftm_submit *arg)
{
	arg->response_len = s->len;
	arg->number = s->number;
	arg->status = s->status;
	arg->id = 0;
	if (s->len > arg->response_room) {
		arg->id = s->id;
		return -EOVERFLOW;
	}
	if (s->len && copy_to_user(u64_to_user_ptr(arg->response), s->response, s->len))
		return -EFAULT;
	return 0;
}

static void submission_keep(struct bftm_submission *s)
{
	struct bftm_handle *h = s->handle;

	spin_lock_bh(&h->bn->upcall->lock);
	list_add_tail(&s->list, &h->kept);
	h->kept_count++;
	spin_unlock_bh(&h->bn->upcall->lock);
}

int bftm_submit(struct bftm_handle *h, struct bftm_submit *arg)
{
	struct bftm_submission *s = submission_new(h, arg);
	int err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = submit_and_wait(s, arg);
	if (!err) {
		err = deliver(s, arg);
		if (err == -EOVERFLOW) {
			submission_keep(s);
			return err;
		}
	}
	submission_free(s);
	return err;
}

/* From the list: @id, or the first for 0. */
static struct bftm_submission *submission_take(struct bftm_handle *h, u64 id)
{
	struct bftm_submission *s, *found = NULL;

	spin_lock_bh(&h->bn->upcall->lock);
	list_for_each_entry(s, &h->kept, list) {
		if (id && s->id != id)
			continue;
		list_del(&s->list);
		h->kept_count--;
		found = s;
		break;
	}
	spin_unlock_bh(&h->bn->upcall->lock);
	return found;
}

int bftm_submit_fetch(struct bftm_handle *h, struct bftm_submit *arg)
{
	struct bftm_submission *s = arg->id ? submission_take(h, arg->id) : NULL;
	int err;

	if (!s)
		return -ENOENT;
	err = deliver(s, arg);
	if (err)
		submission_keep(s);
	else
		submission_free(s);
	return err;
}

void bftm_submit_forget(struct bftm_handle *h)
{
	struct bftm_submission *s;

	while ((s = submission_take(h, 0)))
		submission_free(s);
}
