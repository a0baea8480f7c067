// SPDX-License-Identifier: GPL-2.0
/* Programs: handles that open, acquire, wait, renew, submit, give back and close. */
#include "selftests/module/device/handle.h"
#include "races.h"

#define HANDLES	8
#define NAMES	6	/* few, so that the fast path and the helper both get some */

/* Errors that no program may ever get, whatever ends meanwhile. */
static bool is_wrong(int err)
{
	switch (-err) {
	case EFAULT:
	case EINVAL:
	case ENOTTY:
	case ENOMEM:
	case ERANGE:
	case EIO:
		return true;
	}
	return -err >= 512;
}

static void judge(struct races *r, const char *what, int err)
{
	if (err < 0 && is_wrong(err)) {
		races_failed("%s: %s", what, strerror(-err));
		races_add(&r->shared->wrong, 1);
	}
}

/* Up, down and across; some wait, and others replace what is under way. */
static void convert_one(struct races *r, int fd)
{
	static const uint32_t flags[] = { 0, 0, BFTM_TRY, BFTM_FENCE };
	int err = convert(fd, races_random(BFTM_LOCK_NL),
			  flags[races_random(sizeof(flags) / sizeof(flags[0]))],
			  MS * (1 + races_random(3)), NULL);

	judge(r, "convert", err);
	races_add(&r->shared->converted, !err || err == -EINPROGRESS);
}

static void take_one(struct races *r, int fd)
{
	static const uint32_t flags[] = { 0, 0, 0, BFTM_TRY, BFTM_TRY, BFTM_RENEW, BFTM_FENCE };
	struct bftm_acquire arg;
	char name[8];
	int err;

	snprintf(name, sizeof(name), "d%u", races_random(NAMES));
	arg = want(name, MS * (20 + races_random(80)), MS * (1 + races_random(3)),
		   flags[races_random(sizeof(flags) / sizeof(flags[0]))]);
	if (arg.flags & BFTM_TRY)
		arg.timeout_ns = 0;
	arg.mode = races_random(2) ? races_random(BFTM_LOCK_NL) : BFTM_LOCK_EX;
	err = call(fd, BFTM_IOC_ACQUIRE, &arg);
	judge(r, "acquire", err);
	races_add(&r->shared->pending, err == -EINPROGRESS);
	if (err && state_of(fd) != BFTM_STATE_HELD)
		return;
	races_add(&r->shared->acquired, 1);
	while (races_random(4))
		convert_one(r, fd);
}

static void submit_one(struct races *r, int fd)
{
	char room[64];
	struct bftm_submit arg = {
		.size = sizeof(arg), .name_len = 1, .op = (uintptr_t)"add 1", .op_len = 5,
		.response = (uintptr_t)room, .response_room = sizeof(room),
		.timeout_ns = MS * (1 + races_random(3)), .name = "s",
	};

	judge(r, "submit", call(fd, BFTM_IOC_SUBMIT, &arg));
	races_add(&r->shared->submits, 1);
}

static void use(struct races *r, int *fd)
{
	switch (races_random(14)) {
	default:
		take_one(r, *fd);
		break;
	case 6:
		judge(r, "renew", renew(*fd, MS, NULL));
		break;
	case 7:
		submit_one(r, *fd);
		break;
	case 8:
		state_of(*fd);
		poll_now(*fd);
		break;
	case 9:
	case 10:
		judge(r, "release", release(*fd));
		break;
	case 11:
	case 12:
		convert_one(r, *fd);
		break;
	case 13:
		close(*fd);
		*fd = -1;
		break;
	}
}

void races_traffic_device(struct races *r, unsigned int number)
{
	int fd[HANDLES], i;

	(void)number;
	for (i = 0; i < HANDLES; i++)
		fd[i] = -1;
	for (;;) {
		i = (int)races_random(HANDLES);
		if (fd[i] < 0)
			fd[i] = open_here(races_random(4) ? O_NONBLOCK : 0);
		if (fd[i] >= 0)
			use(r, &fd[i]);
		usleep(races_random(500));
	}
}
