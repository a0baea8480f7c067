/* SPDX-License-Identifier: GPL-2.0 */
/* Notifications that the rooms below netlink send through it. */
#ifndef BFTM_NOTIFY_H
#define BFTM_NOTIFY_H

#include <linux/types.h>

struct bftm_handle;
struct net;

/**
 * struct bftm_notify - functions of netlink for the rooms below it
 * @hint:    tells a process that requests or changes wait for it. @cmd is BFTMUTEX_CMD_*, without
 *           attributes. Context: any. Return: 0, or an error if it was not told.
 * @event:   a handle changed; the upcall's lock is held
 * @renewed: a handle's lease was renewed; the upcall's lock is held
 */
struct bftm_notify {
	int (*hint)(struct net *net, u32 portid, u8 cmd);
	void (*event)(struct bftm_handle *h);
	void (*renewed)(struct bftm_handle *h);
};

extern const struct bftm_notify bftm_notify;

#endif /* BFTM_NOTIFY_H */
