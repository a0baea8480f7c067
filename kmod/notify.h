/* SPDX-License-Identifier: GPL-2.0 */
/* What those below netlink tell by it. */
#ifndef BFTM_NOTIFY_H
#define BFTM_NOTIFY_H

#include <linux/types.h>

struct bftm_handle;
struct net;

/**
 * struct bftm_notify - how to tell
 * @hint:    tells a process that something waits for it. @cmd is BFTMUTEX_CMD_*, without
 *           attributes. Context: any. Return: 0, or an error after which it was not told.
 * @event:   a handle changed; the upcall's lock is held
 * @renewed: its lease was renewed; likewise
 */
struct bftm_notify {
	int (*hint)(struct net *net, u32 portid, u8 cmd);
	void (*event)(struct bftm_handle *h);
	void (*renewed)(struct bftm_handle *h);
};

extern const struct bftm_notify bftm_notify;

#endif /* BFTM_NOTIFY_H */
