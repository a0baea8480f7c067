/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every long-lived object is logged when it is created and when it is destroyed; tests switch these
 * lines on (dyndbg=+p) and check that they form pairs.
 */
#ifndef BFTM_DEBUG_H
#define BFTM_DEBUG_H

#include <linux/printk.h>

#define bftm_created(kind, ptr) pr_debug("bftmutex: created %s %p\n", kind, ptr)
#define bftm_destroyed(kind, ptr) \
	pr_debug("bftmutex: destroyed %s %p\n", kind, ptr)

#endif /* BFTM_DEBUG_H */
