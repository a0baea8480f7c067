/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every difference between the kernels that we build for (6.1 and later).
 */
#ifndef BFTM_COMPAT_H
#define BFTM_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/version.h>
#include <net/udp_tunnel.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#include <asm/unaligned.h>
#else
#include <linux/unaligned.h>
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void
bftm_hrtimer_setup(struct hrtimer *timer,
		   enum hrtimer_restart (*function)(struct hrtimer *),
		   clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#else
#define bftm_hrtimer_setup hrtimer_setup
#endif

/* It grew an argument, the control block's flags, in 6.17. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define bftm_udp6_xmit(...) udp_tunnel6_xmit_skb(__VA_ARGS__)
#else
#define bftm_udp6_xmit(...) udp_tunnel6_xmit_skb(__VA_ARGS__, 0)
#endif

/* Since 6.4 a kernel without SCTP has no such field. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
static inline void skb_reset_csum_not_inet(struct sk_buff *skb)
{
	skb->csum_not_inet = 0;
}
#endif

#endif /* BFTM_COMPAT_H */
