// SPDX-License-Identifier: GPL-2.0
#include "submit.h"

struct bftm_submit op_on(const char *name, const void *op, size_t len)
{
	struct bftm_submit arg = {
		.size = sizeof(arg),
		.name_len = (uint32_t)strlen(name),
		.op_len = (uint32_t)len,
		.op = (uintptr_t)op,
	};

	memcpy(arg.name, name, arg.name_len);
	return arg;
}

struct bftm_submit text_on(const char *name, const char *op)
{
	return op_on(name, op, strlen(op));
}

void make_room(struct bftm_submit *arg, void *room, size_t len)
{
	arg->response = (uintptr_t)room;
	arg->response_room = (uint32_t)len;
}

int submit(int fd, struct bftm_submit *arg)
{
	return call(fd, BFTM_IOC_SUBMIT, arg);
}

int fetch(int fd, uint64_t id, void *room, size_t len, struct bftm_submit *ret)
{
	struct bftm_submit arg = { .size = sizeof(arg), .flags = BFTM_FETCH, .id = id };
	int err;

	make_room(&arg, room, len);
	err = submit(fd, &arg);
	if (ret)
		*ret = arg;
	return err;
}

void *run_program(void *arg)
{
	struct program *p = arg;

	p->err = submit(p->fd, &p->arg);
	return NULL;
}

void start_program(struct program *p, int fd, struct bftm_submit arg, size_t room)
{
	p->fd = fd;
	p->err = 1;
	p->arg = arg;
	make_room(&p->arg, p->response, room);
	if (pthread_create(&p->thread, NULL, run_program, p))
		abort();
}

int end_program(struct program *p)
{
	if (pthread_join(p->thread, NULL))
		abort();
	return p->err;
}

static int take_asked(struct nlattr **attr, void *arg)
{
	struct nlattr *op = attr[BFTMUTEX_A_HANDLE_OP];
	struct asked *a = arg;

	a->has_op = op;
	a->op_len = op ? (size_t)nla_len(op) : 0;
	if (a->op_len > sizeof(a->op))
		return -EBADMSG;
	if (op)
		memcpy(a->op, nla_data(op), a->op_len);
	return take(attr, &a->head);
}

int pull_asked(struct bftm_nl *nl, struct asked *ret)
{
	memset(&ret->head, 0, sizeof(ret->head));
	return bftm_nl_call(nl, bftm_nl_msg(nl, BFTMUTEX_CMD_HELPER_PULL, 0), take_asked,
			    BFTMUTEX_A_HANDLE_MAX, ret);
}

int next_asked(struct bftm_nl *nl, struct asked *ret)
{
	uint64_t end = now_ns() + LONG_MS * MS;
	int err;

	do {
		nl->notified = false;
		err = pull_asked(nl, ret);
		/* Wakes up from time to time: a hint can be lost for lack of memory. */
		if (err == -ENODATA && !nl->notified)
			poll_for(nl_socket_get_fd(nl->sock), POLLIN, 100);
	} while (err == -ENODATA && now_ns() < end);
	return err;
}

uint64_t next_submit(struct bftm_nl *nl)
{
	static struct asked a;

	if (next_asked(nl, &a) || a.head.kind != BFTMUTEX_REQUEST_KIND_SUBMIT)
		return 0;
	return a.head.id;
}

int report(struct bftm_nl *nl, uint64_t id, uint64_t error, uint64_t status, uint64_t number,
	   const void *response, size_t len)
{
	struct nl_msg *msg = bftm_nl_msg(nl, BFTMUTEX_CMD_HELPER_SUBMITTED, 0);

	nlmsg_expand(msg, len + 4096);
	if (id != NONE)
		nla_put_u64(msg, BFTMUTEX_A_HANDLE_ID, id);
	if (error != NONE)
		nla_put_u32(msg, BFTMUTEX_A_HANDLE_ERROR, (uint32_t)error);
	if (status != NONE)
		nla_put_u32(msg, BFTMUTEX_A_HANDLE_STATUS, (uint32_t)status);
	if (number != NONE)
		nla_put_u64(msg, BFTMUTEX_A_HANDLE_NUMBER, number);
	if (response)
		nla_put(msg, BFTMUTEX_A_HANDLE_RESPONSE, (int)len, response);
	return send_msg(nl, msg);
}

int answer(struct bftm_nl *nl, uint64_t id, uint32_t status, uint64_t number, const char *response)
{
	return report(nl, id, NONE, status, number, response, strlen(response));
}

int refuse(struct bftm_nl *nl, uint64_t id, uint32_t error)
{
	return report(nl, id, error, NONE, NONE, NULL, 0);
}
