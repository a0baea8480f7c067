/* SPDX-License-Identifier: GPL-2.0 */
/* Operations on objects, from the program that submits one to its response. */
#ifndef BFTM_SUBMIT_H
#define BFTM_SUBMIT_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/wait.h>

struct bftm_submitted;
struct bftm_handle;
struct bftm_request;
struct bftm_submit;

/**
 * struct bftm_submission - one operation; guarded by the upcall's lock
 * @list:    among those whose response its handle keeps
 * @handle:  its handle
 * @wait:    the thread that submitted
 * @request: its request to the helper; NULL once that is over
 * @id:      number of @request
 * @bytes:   its part of the bytes that the namespace may use
 * @op_len:  bytes of @op
 * @op:      the operation; NULL when it is not needed any more
 * @error:   negative errno of the helper
 * @status:  errno of the object, positive
 * @number:  of the request among all of the object
 * @response: has room for BFTM_OP_MAX bytes
 * @len:     bytes of @response
 */
struct bftm_submission {
	struct list_head list;
	struct bftm_handle *handle;
	struct wait_queue_head wait;
	struct bftm_request *request;
	u64 id;
	u32 bytes;
	u32 op_len;
	void *op;
	int error;
	u32 status;
	u64 number;
	void *response;
	u32 len;
};

/**
 * bftm_submit() - have an operation applied, and wait for the response
 * @h:   the handle
 * @arg: checked; response_len, id, number and status are filled in when it was
 *       applied, also when it returns -EOVERFLOW
 * Context: process. Return: 0, or an error of BFTM_IOC_SUBMIT.
 */
int bftm_submit(struct bftm_handle *h, struct bftm_submit *arg);

/**
 * bftm_submit_fetch() - get a response that did not fit
 * @h:   the handle
 * @arg: as with bftm_submit(); its id says which
 * Context: process. Return: 0, -ENOENT, or -EOVERFLOW or -EFAULT, after which it
 * is kept.
 */
int bftm_submit_fetch(struct bftm_handle *h, struct bftm_submit *arg);

/** bftm_submit_forget() - its file is closed: free what @h keeps. Context: process. */
void bftm_submit_forget(struct bftm_handle *h);

/**
 * bftm_submit_answered() - for the upcall: the request is over
 * @s:      the operation
 * @answer: its response is copied
 * Context: the upcall's lock held.
 */
void bftm_submit_answered(struct bftm_submission *s, const struct bftm_submitted *answer);

#endif /* BFTM_SUBMIT_H */
