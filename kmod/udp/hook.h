/* SPDX-License-Identifier: GPL-2.0 */
/* A netfilter hook at a device's ingress, before IP. */
#ifndef BFTM_HOOK_H
#define BFTM_HOOK_H

#include <linux/netdevice.h>
#include <linux/netfilter.h>

struct netlink_ext_ack;

/**
 * struct bftm_hook - a hook at a device
 * @ops:     what netfilter knows of it
 *           ops.dev is the device, NULL while there is none; written with RTNL, read under RCU
 * @list:    among all that are added
 * @net:     the namespace
 * @device:  name of the device
 * @owner:   what the kernel's log calls its owner
 * @added:   bftm_hook_add() has succeeded, and bftm_hook_close() was not called since
 * @begun:   for the owner: it is complete, and takes frames
 */
struct bftm_hook {
	struct nf_hook_ops ops;
	struct list_head list;
	struct net *net;
	char device[IFNAMSIZ];
	char owner[48];
	bool added;
	bool begun;
};

/** bftm_hooks_init() - be told of devices. Context: process. Return: 0 or an error. */
int bftm_hooks_init(void);

/** bftm_hooks_exit() - when no hook is left */
void bftm_hooks_exit(void);

/**
 * bftm_hook_new() - a hook that is at no device yet
 * @net:    the namespace, which stays until bftm_hook_close()
 * @device: name of the device that it is for
 * @hear:   gets the frames: softirqs are off, RCU read side
 * @priv:   its first argument
 * @extack: gets the reason of a failure; may be NULL
 * Context: process. Return: the hook or an error pointer.
 */
struct bftm_hook *bftm_hook_new(struct net *net, const char *device, nf_hookfn *hear, void *priv,
				struct netlink_ext_ack *extack);

/**
 * bftm_hook_add() - put it at its device; from then on it gets frames
 * @hook:   not added
 * @later:  without the device, it is added all the same, and waits for the device
 * @extack: gets the reason of a failure, or that it waits; may be NULL
 *
 * It stays at the device under another name, and goes with it, also when the device moves to
 * another namespace. It moves to the next device of Ethernet that has the name.
 *
 * Context: process, without RTNL. Return: 0; -ENODEV: no such device; -EINVAL: not of Ethernet; or
 * what netfilter says.
 */
int bftm_hook_add(struct bftm_hook *hook, bool later, struct netlink_ext_ack *extack);

/**
 * bftm_hook_close() - remove it from its device, for which it does not wait any more
 * @hook: the hook; NULL, or one that is not added, does nothing
 *
 * After the RCU grace period that the caller waits for, it gets no frame any more, and
 * bftm_hook_free() is due.
 *
 * Context: process. RTNL is not taken.
 */
void bftm_hook_close(struct bftm_hook *hook);

/** bftm_hook_free() - after bftm_hook_close() and that grace period; NULL is fine */
void bftm_hook_free(struct bftm_hook *hook);

/**
 * bftm_hook_name() - the device that has it now
 * @hook: stays; NULL for none
 * @ret:  name of the device, of IFNAMSIZ bytes; empty for none
 * Context: process.
 */
void bftm_hook_name(const struct bftm_hook *hook, char *ret);

#endif /* BFTM_HOOK_H */
