/* SPDX-License-Identifier: GPL-2.0 */
/* The generic netlink family "bftmutex", through libnl. */
#ifndef BFTM_NL_H
#define BFTM_NL_H

#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "core/types.h"
#include "uapi/linux/bftmutex_netlink.h"

/**
 * struct bftm_nl - a socket and the family's number
 * @sock:     libnl's socket
 * @family:   number of the family
 * @attr:     attribute of the request that the last failure is about, or 0
 * @notified: a notification came in the middle of a call and was dropped; code that waits for
 *            notifications clears it
 * @changed:  the table of the last dump was changed while it was listed
 * @error:    the kernel's words on the last call, be it a failure or not, or ""
 */
struct bftm_nl {
	struct nl_sock *sock;
	int family;
	int attr;
	bool notified;
	bool changed;
	char error[256];
};

/**
 * bftm_nl_open() - connect
 * @ret: the connection; untouched on failure
 * Return: 0, -ENOENT when the module is not loaded, -EPROTO when it speaks another version of
 * the family than BFTMUTEX_FAMILY_VERSION, or another -errno.
 */
int bftm_nl_open(struct bftm_nl *ret);

/** bftm_nl_other_version() - after -EPROTO: a sentence with both versions and the remedy */
void bftm_nl_other_version(char *buf, size_t len);
void bftm_nl_close(struct bftm_nl *nl);

/** bftm_nl_msg() - an empty request @cmd with @flags (NLM_F_*); NULL: no memory */
struct nl_msg *bftm_nl_msg(struct bftm_nl *nl, u8 cmd, int flags);

/** bftm_nl_msg_room() - the same, with @room bytes for attributes */
struct nl_msg *bftm_nl_msg_room(struct bftm_nl *nl, u8 cmd, int flags, size_t room);

/** bftm_nl_free() - free a request that is not sent; it is wiped, since it may have keys */
void bftm_nl_free(struct nl_msg *msg);

/** bftm_nl_errno() - libnl's result as a -errno. */
int bftm_nl_errno(int result);

/**
 * bftm_nl_call() - send a request, hand every answer to @each, wait for the end
 * @nl:   the socket
 * @msg:  the request, always freed, as by bftm_nl_free()
 * @each: gets the answer's attributes, indexed by number up to @max; may be
 *        NULL; a negative result ends the call with it
 * @max:  highest attribute number
 * @arg:  for @each
 *
 * Return: 0, or the kernel's -errno with its words (extended ack) in
 * nl->error and the attribute that it names in nl->attr.
 */
int bftm_nl_call(struct bftm_nl *nl, struct nl_msg *msg,
		 int (*each)(struct nlattr **attr, void *arg), int max,
		 void *arg);

#endif /* BFTM_NL_H */
