/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every difference between the kernels that we build for (6.1 and later). Kbuild looks for
 * them in the kernel's headers: BFTM_HAS_*.
 */
#ifndef BFTM_COMPAT_H
#define BFTM_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/poll.h>
#include <linux/skbuff.h>
#include <crypto/blake2s.h>
#include <net/genetlink.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/udp_tunnel.h>

/* Since 6.1.68. */
#ifndef GENL_MCAST_CAP_NET_ADMIN
#error "This kernel lets anybody hear of locks: 6.1.68 is the oldest that does not"
#endif

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

/* In kernels where IPv6 can be a module. */
#ifdef BFTM_HAS_IPV6_STUBS_H
#include <net/ipv6_stubs.h>
#define bftm_dst6(...) ipv6_stub->ipv6_dst_lookup_flow(__VA_ARGS__)
#else
#define bftm_dst6(...) ip6_dst_lookup_flow(__VA_ARGS__)
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

/* The argument that names the socket of a tunnel: struct socket or struct sock. */
#ifdef BFTM_HAS_TUNNEL_BY_SOCK
#define bftm_tunnel_sock(sock) ((sock)->sk)
#else
#define bftm_tunnel_sock(sock) (sock)
#endif

/* The kernel's functions that clear this flag have different names, and some kernels lack them. */
static inline void bftm_csum_inet(struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_IP_SCTP)
	skb->csum_not_inet = 0;
#endif
}

/* A classifier at the ingress writes it, and a queue at the egress reads it. */
static inline void bftm_tc_index(struct sk_buff *skb)
{
#ifdef CONFIG_NET_SCHED
	skb->tc_index = 0;
#endif
}

/*
 * Limits of the sizes of structures with locks hold for locks of the usual size: those of debugging
 * and real-time kernels are larger.
 */
#if !defined(CONFIG_DEBUG_SPINLOCK) && !defined(CONFIG_DEBUG_LOCK_ALLOC) && \
	!defined(CONFIG_DEBUG_MUTEXES) && !defined(CONFIG_DEBUG_RWSEMS) && \
	!defined(CONFIG_PREEMPT_RT)
#define BFTM_USUAL_LOCKS
#endif

/* Does poll_wait() have no effect with this table? */
static inline bool bftm_polls_only(const poll_table *wait)
{
	return !wait || !wait->_qproc;
}

#endif /* BFTM_COMPAT_H */
