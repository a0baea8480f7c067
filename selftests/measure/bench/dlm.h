/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Locks of the kernel's DLM, by its devices: what libdlm does, and nothing beside it.
 * Each function ends the program when the kernel refuses.
 */
#ifndef BFTM_BENCH_DLM_H
#define BFTM_BENCH_DLM_H

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <linux/dlm.h>
#include <linux/dlm_device.h>
#include <linux/dlmconstants.h>

#include "bench.h"

#define DLM_NAME_MAX	64

/** struct dlm_request - a request of the device, with room for the name behind it */
struct dlm_request {
	struct dlm_write_request head;
	char room[DLM_NAME_MAX];
};

static inline struct dlm_request dlm_request(uint8_t cmd)
{
	return (struct dlm_request){ .head = {
		.version = { DLM_DEVICE_VERSION_MAJOR, DLM_DEVICE_VERSION_MINOR,
			     DLM_DEVICE_VERSION_PATCH },
		.cmd = cmd,
		.is64bit = sizeof(long) == 8,
	} };
}

/* A name of 1 to 63 bytes is put to where @to points in @r. */
static inline void dlm_put_name(const char *what, const char *name, char *to)
{
	size_t len = strlen(name);

	if (!len || len >= DLM_NAME_MAX)
		errx(EX_USAGE, "%s '%s': 1 to %d bytes are allowed", what, name, DLM_NAME_MAX - 1);
	memcpy(to, name, len);
}

/* Reads the kernel's result of the request: 0, or -DLM_EUNLOCK when given back. */
static inline int dlm_wait(int fd)
{
	struct dlm_lock_result result;

	if (read(fd, &result, sizeof(result)) != sizeof(result))
		err(EX_UNAVAILABLE, "DLM: no result");
	return result.lksb.sb_status;
}

/* Returns the number of the lock, which is held in @mode then. */
static inline uint32_t dlm_lock(int fd, const char *name, uint8_t mode)
{
	struct dlm_request r = dlm_request(DLM_USER_LOCK);
	struct dlm_lock_params *lock = &r.head.i.lock;
	int status, id;

	lock->mode = mode;
	lock->namelen = (uint8_t)strlen(name);
	/* Handed back with the result, where nobody looks at them. */
	lock->castaddr = lock;
	lock->lksb = (struct dlm_lksb *)lock;
	dlm_put_name("LOCK", name, lock->name);
	id = (int)write(fd, &r, sizeof(r.head) + lock->namelen);
	if (id < 0)
		err(EX_UNAVAILABLE, "DLM: lock '%s'", name);
	status = dlm_wait(fd);
	if (status)
		errx(EX_UNAVAILABLE, "DLM: lock '%s': %s", name, strerror(-status));
	return (uint32_t)id;
}

static inline void dlm_unlock(int fd, uint32_t id)
{
	struct dlm_request r = dlm_request(DLM_USER_UNLOCK);
	int status;

	r.head.i.lock.lkid = id;
	r.head.i.lock.lksb = (struct dlm_lksb *)&r;
	if (write(fd, &r, sizeof(r.head)) < 0)
		err(EX_UNAVAILABLE, "DLM: unlock");
	status = dlm_wait(fd);
	if (status != -DLM_EUNLOCK)
		errx(EX_UNAVAILABLE, "DLM: unlock: %d instead of %d", status, -DLM_EUNLOCK);
}

static inline int dlm_open(const char *space)
{
	char path[sizeof("/dev/dlm_") + DLM_NAME_MAX];
	int fd;

	/* cppcheck-suppress [nullPointer,ctunullpointer]; NULL is for a cluster, which has no space */
	snprintf(path, sizeof(path), "/dev/dlm_%s", space);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		err(EX_UNAVAILABLE, "%s", path);
	return fd;
}

#endif /* BFTM_BENCH_DLM_H */
