// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0
/* libbftmutex: cluster locks from C, see libbftmutex.h. */
#include "lib/libbftmutex.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int result(int ret)
{
	return ret < 0 ? -errno : 0;
}

int bftmutex_open(const char *path)
{
	int fd = open(path ? path : BFTMUTEX_DEVICE, O_RDWR | O_CLOEXEC);
	int low = fd, err;

	if (fd < 0)
		return -errno;
	if (fd > STDERR_FILENO)
		return fd;
	/*
	 * A program that was started without a standard stream would take the handle for that
	 * stream.
	 */
	fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	err = errno;
	close(low);
	return fd < 0 ? -err : fd;
}

int bftmutex_acquire(int fd, const void *name, size_t len,
		     const struct bftmutex_options *options, struct bftmutex_grant *ret)
{
	static const struct bftmutex_options defaults;
	const struct bftmutex_options *o = options ? options : &defaults;
	struct bftm_acquire arg = {
		.size = sizeof(arg),
		.flags = o->flags & (BFTMUTEX_MODE(1) - 1),
		.way = o->way,
		.mode = o->flags / BFTMUTEX_MODE(1),
		.name_len = len,
		.lease_ns = o->lease_ns,
		.timeout_ns = o->timeout_ns,
	};
	size_t cluster_len = o->cluster ? strlen(o->cluster) : 0;
	int err;

	if (!len)
		return -EINVAL;
	if (len > sizeof(arg.name) || cluster_len > sizeof(arg.cluster))
		return -ENAMETOOLONG;
	memcpy(arg.name, name, len);
	if (cluster_len)
		memcpy(arg.cluster, o->cluster, cluster_len);

	err = result(ioctl(fd, BFTM_IOC_ACQUIRE, &arg));
	if (err < 0)
		return err;
	if (ret) {
		*ret = (struct bftmutex_grant){
			.deadline_ns = arg.deadline_ns,
			.token = arg.token,
			.attempts = arg.attempts,
		};
	}
	return 0;
}

int bftmutex_renew(int fd, uint64_t timeout_ns, uint64_t *ret_deadline_ns)
{
	struct bftm_renew arg = { .size = sizeof(arg), .timeout_ns = timeout_ns };
	int err = result(ioctl(fd, BFTM_IOC_RENEW, &arg));

	if (err < 0)
		return err;
	if (ret_deadline_ns)
		*ret_deadline_ns = arg.deadline_ns;
	return 0;
}

int bftmutex_release(int fd)
{
	return result(ioctl(fd, BFTM_IOC_RELEASE));
}

int bftmutex_convert(int fd, uint32_t mode, uint32_t flags, uint64_t timeout_ns,
		     struct bftmutex_grant *ret)
{
	struct bftm_convert arg = {
		.size = sizeof(arg),
		.flags = flags,
		.mode = mode,
		.timeout_ns = timeout_ns,
	};
	int err = result(ioctl(fd, BFTM_IOC_CONVERT, &arg));

	if (err < 0)
		return err;
	if (ret)
		*ret = (struct bftmutex_grant){ .deadline_ns = arg.deadline_ns, .token = arg.token };
	return 0;
}

int bftmutex_value(int fd, struct bftm_lock_value *ret)
{
	struct bftm_lock_value arg = { .size = sizeof(arg), .op = BFTM_VALUE_GET };
	int err = result(ioctl(fd, BFTM_IOC_VALUE, &arg));

	if (err < 0)
		return err;
	*ret = arg;
	return 0;
}

int bftmutex_set_value(int fd, const void *bytes, size_t len)
{
	struct bftm_lock_value arg = {
		.size = sizeof(arg),
		.op = BFTM_VALUE_SET,
		.len = (uint32_t)len,
	};

	if (len > sizeof(arg.bytes))
		return -EMSGSIZE;
	if (len)
		memcpy(arg.bytes, bytes, len);
	return result(ioctl(fd, BFTM_IOC_VALUE, &arg));
}

/* A release wakes nobody who polls for POLLRDBAND alone, so that the state is looked at again. */
#define LOOK_AGAIN_NS 1000000000ull

int bftmutex_wanted(int fd, uint64_t timeout_ns)
{
	struct pollfd p = { .fd = fd, .events = POLLRDBAND };
	struct timespec part = { .tv_sec = LOOK_AGAIN_NS / 1000000000 };
	struct bftm_status status;
	int count, err;

	do {
		err = bftmutex_status(fd, &status);
		if (err < 0 || status.state != BFTM_STATE_HELD)
			return err;
		if (timeout_ns < LOOK_AGAIN_NS)
			part = (struct timespec){ .tv_nsec = (long)timeout_ns };
		count = ppoll(&p, 1, &part, NULL);
		if (count < 0)
			return -errno;
		if (timeout_ns < LOOK_AGAIN_NS)
			timeout_ns = 0;
		else if (timeout_ns != UINT64_MAX)
			timeout_ns -= LOOK_AGAIN_NS;
	} while (!count && timeout_ns);
	return p.revents & POLLNVAL ? -EBADF : !!(p.revents & POLLRDBAND);
}

int bftmutex_status(int fd, struct bftm_status *ret)
{
	struct bftm_status arg = { .size = sizeof(arg) };
	int err = result(ioctl(fd, BFTM_IOC_STATUS, &arg));

	if (err < 0)
		return err;
	*ret = arg;
	return 0;
}

int bftmutex_why(int fd, char *text, size_t room)
{
	struct bftm_why arg = { .size = sizeof(arg) };
	int err = room ? result(ioctl(fd, BFTM_IOC_WHY, &arg)) : -EINVAL;
	size_t len = strnlen(arg.text, sizeof(arg.text));

	if (err < 0)
		return err;
	if (len >= room)
		len = room - 1;
	memcpy(text, arg.text, len);
	text[len] = '\0';
	return 0;
}

int bftmutex_set_signal(int fd, int signo, uint64_t margin_ns)
{
	struct bftm_signal arg = {
		.size = sizeof(arg),
		.signo = signo,
		.margin_ns = margin_ns,
	};

	if (signo < 0)
		return -EINVAL;
	return result(ioctl(fd, BFTM_IOC_SET_SIGNAL, &arg));
}

/* Copies the result of a submit or a fetch. */
static int take_response(int fd, struct bftm_submit *arg, struct bftmutex_response *ret)
{
	int err;

	arg->size = sizeof(*arg);
	arg->response = (uintptr_t)ret->data;
	arg->response_room = ret->room > BFTM_SUBMIT_MAX ? BFTM_SUBMIT_MAX : (uint32_t)ret->room;
	err = result(ioctl(fd, BFTM_IOC_SUBMIT, arg));
	if (err < 0 && (err != -EOVERFLOW || !arg->id))
		return err;
	ret->len = arg->response_len;
	ret->number = arg->number;
	ret->id = err ? arg->id : 0;
	ret->status = arg->status;
	return err;
}

int bftmutex_submit(int fd, const void *name, size_t len, const void *op, size_t op_len,
		    const struct bftmutex_options *options, struct bftmutex_response *response)
{
	static const struct bftmutex_options defaults;
	const struct bftmutex_options *o = options ? options : &defaults;
	struct bftm_submit arg = {
		.name_len = (uint32_t)len,
		.op_len = (uint32_t)op_len,
		.op = (uintptr_t)op,
		.timeout_ns = o->timeout_ns,
	};
	size_t cluster_len = o->cluster ? strlen(o->cluster) : 0;

	if (!len || o->flags || o->way || o->lease_ns)
		return -EINVAL;
	if (len > BFTM_SUBMIT_NAME_MAX || cluster_len > sizeof(arg.cluster))
		return -ENAMETOOLONG;
	if (op_len > BFTM_SUBMIT_MAX)
		return -EMSGSIZE;
	memcpy(arg.name, name, len);
	if (cluster_len)
		memcpy(arg.cluster, o->cluster, cluster_len);
	return take_response(fd, &arg, response);
}

int bftmutex_fetch(int fd, struct bftmutex_response *response)
{
	struct bftm_submit arg = { .flags = BFTM_FETCH, .id = response->id };

	return take_response(fd, &arg, response);
}

/* Most responses are short; the others are fetched. */
#define FIRST_ROOM 256

int bftmutex_submit_alloc(int fd, const void *name, size_t len, const void *op, size_t op_len,
			  const struct bftmutex_options *options,
			  struct bftmutex_response *response)
{
	struct bftmutex_response got = { .data = malloc(FIRST_ROOM + 1), .room = FIRST_ROOM };
	int err;

	if (!got.data)
		return -ENOMEM;
	err = bftmutex_submit(fd, name, len, op, op_len, options, &got);
	if (err == -EOVERFLOW && got.id) {
		void *more = realloc(got.data, got.len + 1);

		if (more) {
			got.data = more;
			got.room = got.len;
			err = bftmutex_fetch(fd, &got);
		} else {
			err = -ENOMEM;
		}
	}
	if (err < 0) {
		free(got.data);
		return err;
	}
	((char *)got.data)[got.len] = '\0';
	*response = got;
	return 0;
}

const char *bftmutex_strerror(int err)
{
	err = abs(err);
	switch (err) {
	case EWOULDBLOCK:
		return "somebody else has the lock";
	case ETIMEDOUT:
		return "the time to wait is over";
	case ENOTCONN:
		return "bftmutexd is not running in this network namespace";
	case ENETUNREACH:
		return "too few servers answered";
	case EACCES:
		return "access is refused";
	case EBADF:
		return "the handle is closed";
	case EPERM:
		return "not allowed; the value of a lock is set in mode EX or PW";
	case EALREADY:
		return "the handle holds a lock already; release it first";
	case EBUSY:
		return "an acquire or a conversion is under way on the handle, or it keeps too many "
		       "responses";
	case ERANGE:
		return "the servers do not grant such a lease";
	case ENOSPC:
		return "a table of the servers is full: of locks, of clients or of objects; or the queue of "
		       "the lock";
	case ENOBUFS:
		return "too many requests wait for bftmutexd, or too many objects are in use";
	case ENOKEY:
		return "the cluster is unknown, or there are no credentials for it";
	case ENODATA:
		return "too few of the servers that answer know which fencing tokens were given; or "
		       "the lock is held without its value";
	case ECANCELED:
		return "another thread released the handle";
	case EPROTONOSUPPORT:
		return "the servers do not serve this or such a mode, or are too few for it: objects need "
		       "6b + 1, or 4b + 1 with signed-ranks";
	case EOWNERDEAD:
		return "bftmutexd ended; the operation may have been applied, or not";
	case EREMOTEIO:
		return "the servers refuse what they may have taken";
	case EIDRM:
		return "the operation was applied, but its response is no longer kept";
	case EMSGSIZE:
		return "the operation or the value is too long";
	case EOVERFLOW:
		return "the response is longer than the room for it";
	case ENAMETOOLONG:
		return "the name is too long";
	case ENOLCK:
		return "no lock is held";
	case EDEADLK:
		return "another holder converts the lock too, and each waits for the other";
	case EKEYEXPIRED:
		return "the lease is over";
	case ENOENT:
	case ENXIO:
	case ENODEV:
		return "no such device; is the module loaded? modprobe bftmutex";
	case ENOTTY:
		return "not a bftmutex device";
	case EINVAL:
	case E2BIG:
		return "the kernel module does not know such a request";
	default:
		return strerror(err);
	}
}
