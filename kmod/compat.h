/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the kernels that we build for (6.1 and later); compat_net.h has those of the
 * network. Kbuild looks for them in the kernel's headers: BFTM_HAS_*.
 */
#ifndef BFTM_COMPAT_H
#define BFTM_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/workqueue.h>
#include <crypto/blake2s.h>

/* Since 6.12. */
#ifdef BFTM_HAS_UNALIGNED_H
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* hex2bin(), which was in kernel.h before. */
#ifdef BFTM_HAS_HEX_H
#include <linux/hex.h>
#endif

#ifdef BFTM_HAS_HRTIMER_SETUP
#define bftm_hrtimer_setup hrtimer_setup
#else
static inline void
bftm_hrtimer_setup(struct hrtimer *timer,
		   enum hrtimer_restart (*function)(struct hrtimer *),
		   clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#ifdef BFTM_HAS_BLAKE2S_CTX
#define bftm_blake2s blake2s_ctx
#else
#define bftm_blake2s blake2s_state
#endif

/* For work that keeps a processor busy: bound to it, all other such work would have to wait. */
#ifdef BFTM_HAS_DFL_WQ
#define bftm_unbound_wq system_dfl_wq
#else
#define bftm_unbound_wq system_unbound_wq
#endif

/*
 * Limits of the sizes of structures with locks hold for locks of the usual size: those of debugging
 * and real-time kernels are larger.
 */
#if !defined(CONFIG_DEBUG_SPINLOCK) && !defined(CONFIG_DEBUG_LOCK_ALLOC) && \
	!defined(CONFIG_DEBUG_MUTEXES) && !defined(CONFIG_DEBUG_RWSEMS) && \
	!defined(CONFIG_PREEMPT_RT)
#define BFTM_USUAL_LOCKS
#endif

#endif /* BFTM_COMPAT_H */
