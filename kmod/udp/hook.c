// SPDX-License-Identifier: GPL-2.0
/*
 * Netfilter hooks at devices' ingress, behind those of users there.
 *
 * Lifetime: all hooks that are added are in a list. One leaves its device when that goes, which is
 * announced by NETDEV_UNREGISTER, also when the device moves to another namespace; and else before
 * its owner goes. In both cases a grace period passes before the owner is freed. Netfilter lists
 * hooks under RCU, so struct bftm_hook is freed after a grace period too.
 *
 * A hook without a device, or at one that has another name by now, waits in the list for one of its
 * name, which is announced by NETDEV_REGISTER or NETDEV_CHANGENAME. Its owner stays as long as the
 * hook is in the list.
 *
 * A hook is removed with the list's mutex, and without RTNL: no end waits for what has RTNL.
 * While a hook has a device, that is there, since NETDEV_UNREGISTER has to get the mutex first.
 */
#include <linux/if_arp.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "udp/hook.h"

void bftm_hook_name(const struct bftm_hook *hook, char *ret)
{
	const struct net_device *dev;

	*ret = 0;
	rcu_read_lock();
	dev = hook ? READ_ONCE(hook->ops.dev) : NULL;
	if (dev)
		/* A name that is just being changed may be half the old one. */
		data_race(strscpy(ret, dev->name, IFNAMSIZ));
	rcu_read_unlock();
}

#if IS_ENABLED(CONFIG_NETFILTER_INGRESS)

/* Guards @hooks and the devices of those in it; inside RTNL where that is taken. */
static DEFINE_MUTEX(hooks_mutex);
static LIST_HEAD(hooks);

static int put_at(struct bftm_hook *hook, struct net_device *dev, struct netlink_ext_ack *extack)
{
	int err;

	ASSERT_RTNL();
	lockdep_assert_held(&hooks_mutex);
	if (dev->type != ARPHRD_ETHER) {
		NL_SET_ERR_MSG(extack, "only a device of Ethernet can hand datagrams over");
		return -EINVAL;
	}
	WRITE_ONCE(hook->ops.dev, dev);
	err = nf_register_net_hook(hook->net, &hook->ops);
	if (err) {
		WRITE_ONCE(hook->ops.dev, NULL);
		NL_SET_ERR_MSG(extack, "the device takes no hook of netfilter");
	}
	return err;
}

static void take_away(struct bftm_hook *hook)
{
	lockdep_assert_held(&hooks_mutex);
	nf_unregister_net_hook(hook->net, &hook->ops);
	WRITE_ONCE(hook->ops.dev, NULL);
}

/* At most one device of the namespace has the name of the hook, or has it beside its own. */
static struct net_device *named_by(const struct bftm_hook *hook)
{
	return __dev_get_by_name(hook->net, hook->device);
}

static void move_to(struct bftm_hook *hook, struct net_device *dev)
{
	int err;

	if (hook->ops.dev)
		take_away(hook);
	err = put_at(hook, dev, NULL);
	if (err)
		pr_warn_ratelimited("bftmutex: %s: its device %s is there, but takes no hook (error %d): all datagrams come through IP\n",
				    hook->owner, dev->name, err);
	else
		pr_info_ratelimited("bftmutex: %s: its device %s is there, from now on datagrams come before IP\n",
				    hook->owner, dev->name);
}

static void device_gone(const struct net_device *dev)
{
	struct bftm_hook *hook;

	list_for_each_entry(hook, &hooks, list) {
		if (hook->ops.dev != dev)
			continue;
		take_away(hook);
		pr_info_ratelimited("bftmutex: %s: its device %s has gone, from now on all datagrams come through IP\n",
				    hook->owner, dev->name);
	}
}

/* A device is there, or has another name: hooks for that name move to it. */
static void device_there(struct net_device *dev)
{
	struct bftm_hook *hook;

	list_for_each_entry(hook, &hooks, list)
		if (hook->ops.dev != dev && net_eq(dev_net(dev), hook->net) &&
		    named_by(hook) == dev)
			move_to(hook, dev);
}

static int hook_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);

	if (event != NETDEV_UNREGISTER && event != NETDEV_REGISTER && event != NETDEV_CHANGENAME)
		return NOTIFY_DONE;
	mutex_lock(&hooks_mutex);
	if (event == NETDEV_UNREGISTER)
		device_gone(dev);
	else
		device_there(dev);
	mutex_unlock(&hooks_mutex);
	return NOTIFY_DONE;
}

static struct notifier_block devices = {
	.notifier_call = hook_event,
};

int bftm_hooks_init(void)
{
	return register_netdevice_notifier(&devices);
}

void bftm_hooks_exit(void)
{
	unregister_netdevice_notifier(&devices);
}

struct bftm_hook *bftm_hook_new(struct net *net, const char *device, nf_hookfn *hear, void *priv,
				struct netlink_ext_ack *extack)
{
	struct bftm_hook *hook = kzalloc(sizeof(*hook), GFP_KERNEL_ACCOUNT);

	if (!hook) {
		NL_SET_ERR_MSG(extack, "no memory for the hook");
		return ERR_PTR(-ENOMEM);
	}
	hook->net = net;
	strscpy(hook->device, device, sizeof(hook->device));
	hook->ops = (struct nf_hook_ops){
		.hook = hear,
		.priv = priv,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		.priority = INT_MAX,
	};
	INIT_LIST_HEAD(&hook->list);
	return hook;
}

static int put_or_wait(struct bftm_hook *hook, bool later, struct netlink_ext_ack *extack)
{
	struct net_device *dev = named_by(hook);
	int err = 0;

	if (dev) {
		err = put_at(hook, dev, extack);
	} else {
		NL_SET_ERR_MSG(extack, "this network namespace has no such device");
		if (!later)
			err = -ENODEV;
	}
	if (err)
		return err;
	hook->added = true;
	list_add(&hook->list, &hooks);
	return 0;
}

int bftm_hook_add(struct bftm_hook *hook, bool later, struct netlink_ext_ack *extack)
{
	int err;

	rtnl_lock();
	mutex_lock(&hooks_mutex);
	err = put_or_wait(hook, later, extack);
	mutex_unlock(&hooks_mutex);
	rtnl_unlock();
	return err;
}

void bftm_hook_close(struct bftm_hook *hook)
{
	if (!hook)
		return;
	mutex_lock(&hooks_mutex);
	if (hook->ops.dev)
		take_away(hook);
	list_del_init(&hook->list);
	hook->added = false;
	mutex_unlock(&hooks_mutex);
}

void bftm_hook_free(struct bftm_hook *hook)
{
	kfree(hook);
}

#else

int bftm_hooks_init(void)
{
	return 0;
}

void bftm_hooks_exit(void)
{
}

struct bftm_hook *bftm_hook_new(struct net *net, const char *device, nf_hookfn *hear, void *priv,
				struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG(extack, "this kernel was built without CONFIG_NETFILTER_INGRESS");
	return ERR_PTR(-EOPNOTSUPP);
}

int bftm_hook_add(struct bftm_hook *hook, bool later, struct netlink_ext_ack *extack)
{
	return -EOPNOTSUPP;
}

void bftm_hook_close(struct bftm_hook *hook)
{
}

void bftm_hook_free(struct bftm_hook *hook)
{
}

#endif /* CONFIG_NETFILTER_INGRESS */
