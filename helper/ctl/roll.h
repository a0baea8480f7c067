/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The roll of a server: a file of its state directory that names the clients that may hold a lock
 * without a lease by this server; see core/members.h.
 */
#ifndef CTL_ROLL_H
#define CTL_ROLL_H

#include "core/members.h"
#include "ctl/ctl.h"

/**
 * struct ctl_roll - what the file has
 * @on:          the server has one
 * @created:     the file was not there before the start that wrote it
 * @unknown:     what members hold is not known
 * @start:       number of the server's start that it is of
 * @count:       how many clients it names
 * @client:      their numbers
 * @incarnation: of each the last one that may hold something; 0: it is not known
 */
struct ctl_roll {
	bool on, created, unknown;
	u64 start;
	u32 count;
	u32 client[BFTM_MEMBERS_MAX];
	u32 incarnation[BFTM_MEMBERS_MAX];
};

/** ctl_roll_path() - path of the file, in @ret of PATH_MAX bytes */
const char *ctl_roll_path(const char *dir, u32 cluster, u16 server, char *ret);

/**
 * ctl_roll_add() - what the file is to say of a member
 * @roll:    has room for one more
 * @client:  number of the member
 * @noted:   what the server knows to be in the file
 * @heard:   the last incarnation that the server has heard of, 0 for none
 * @awaited: the server waits for it
 * Return: true if @heard is to be noted, when the file is written.
 */
bool ctl_roll_add(struct ctl_roll *roll, u32 client, u32 noted, u32 heard, bool awaited);

/**
 * ctl_roll_read() - read the file
 * @path: of it
 * @ret:  what it has; on failure it is unknown
 * Return: true, or false with the reason in errno: EBADMSG when a line is not one that
 * ctl_roll_write() has written, or the last one is missing.
 */
bool ctl_roll_read(const char *path, struct ctl_roll *ret);

/** ctl_roll_write() - replace the file as a whole; then it is on the disk. 0 or -errno. */
int ctl_roll_write(const char *dir, const char *path, const struct ctl_roll *roll);

/**
 * ctl_roll_begin() - the server is about to start: read the file, and write it for this start
 * @roll:    gets what members may hold
 * @dir:     state directory, in which this start was noted
 * @cluster: number of the cluster
 * @server:  number of the server
 * @last:    number of the start before, 0 for none
 * @start:   number of this start
 * @first:   the server never started before
 *
 * Return: 0, or an exit code after saying why.
 */
int ctl_roll_begin(struct ctl_roll *roll, const char *dir, u32 cluster, u16 server, u64 last,
		   u64 start, bool first);

/** ctl_roll_undo() - the first start of a server failed: its roll goes, if that start made it */
void ctl_roll_undo(const struct ctl_roll *roll, const char *dir, u32 cluster, u16 server);

/**
 * ctl_roll_lock() - no other process may start this server, or keep its roll
 * @dir:     state directory, which is there
 * @cluster: number of the cluster
 * @server:  number of the server
 * @ret_fd:  to be closed; -1 on failure
 * Return: 0 or -errno; -EWOULDBLOCK when another one does.
 */
int ctl_roll_lock(const char *dir, u32 cluster, u16 server, int *ret_fd);

/** ctl_roll_unlocked() - say why, of ctl_roll_lock(). Return: an exit code. */
int ctl_roll_unlocked(const char *dir, u32 cluster, u16 server, int error);

/** ctl_roll_waiting() - in @ret, how many clients wait for the roll of the server here. 0 or -errno */
int ctl_roll_waiting(struct bftm_nl *nl, u32 *ret);

/** ctl_roll_put() - add it to the message that starts the server. 0 or -1. */
int ctl_roll_put(const struct ctl_roll *roll, struct nl_msg *msg);

#endif /* CTL_ROLL_H */
