// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>

#include "client/device.h"
#include "client/request.h"
#include "life.h"
#include "locks/locks.h"
#include "netlink/netlink.h"
#include "param.h"
#include "power.h"
#include "udp/hook.h"
#include "version.h"
#include "vmfork.h"

static int __init bftmutex_init(void)
{
	int err;

	err = bftm_entries_init();
	if (err)
		return err;
	err = bftm_requests_init();
	if (err)
		goto err_requests;
	err = bftm_hooks_init();
	if (err)
		goto err_hooks;
	err = bftm_netns_init();
	if (err)
		goto err_netns;
	err = bftm_power_init();
	if (err)
		goto err_power;
	err = bftm_vmfork_init();
	if (err)
		goto err_vmfork;
	/* Before netlink and device: nobody else can start a server yet. */
	err = bftm_param_start();
	if (err)
		goto err_param;
	err = bftm_netlink_init();
	if (err)
		goto err_netlink;
	err = bftm_device_init();
	if (err)
		goto err_device;
	return 0;

err_device:
	bftm_netlink_exit();
err_netlink:
err_param:
	bftm_vmfork_exit();
err_vmfork:
	bftm_power_exit();
err_power:
	bftm_netns_exit();
err_netns:
	bftm_hooks_exit();
err_hooks:
	bftm_requests_exit();
err_requests:
	bftm_entries_exit();
	return err;
}

static void __exit bftmutex_exit(void)
{
	bftm_device_exit();
	bftm_netlink_exit();
	bftm_vmfork_exit();
	bftm_power_exit();
	bftm_netns_exit();	/* stops the servers */
	bftm_hooks_exit();
	bftm_requests_exit();
	bftm_entries_exit();
}

module_init(bftmutex_init);
module_exit(bftmutex_exit);

MODULE_DESCRIPTION("Cluster locks that hold while up to b lock servers lie");
MODULE_AUTHOR("The bftmutex authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(BFTM_VERSION);
MODULE_ALIAS_GENL_FAMILY("bftmutex");
