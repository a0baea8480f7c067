// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <seccomp.h>

#include "crypto/keys.h"
#include "loop/log.h"
#include "daemon/sandbox.h"
#include "daemon/sandbox_calls.h"

/* More than there are capabilities; the first unknown one ends the search. */
#define CAPS_MAX 64

#define NAMESPACES (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | \
		    CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

#ifdef __s390x__
#define CLONE_FLAGS 1	/* argument of clone() */
/* mmap(), and socket() of the C library, have their arguments in memory: no filter sees them. */
#define HIDDEN true
#else
#define CLONE_FLAGS 0
#define HIDDEN false
#endif

/*
 * Only if there is no limit: otherwise allocations beyond it would fail. Pages are locked when they
 * are touched; otherwise all of the libraries would be read.
 */
static void lock_memory(void)
{
	static const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	struct rlimit now;

	setrlimit(RLIMIT_MEMLOCK, &all);
	if (getrlimit(RLIMIT_MEMLOCK, &now) < 0 || now.rlim_cur != RLIM_INFINITY ||
	    mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) < 0)
		bftm_log(LOG_DEBUG, "keys may be written to swap: RLIMIT_MEMLOCK is not unlimited");
}

/*
 * No program can get a capability that is not in the bounding set, not even with a set-user-ID bit.
 */
static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
	u32 have;
	int cap;

	/* Without CAP_SETPCAP the set stays as it was. */
	for (cap = 0; cap < CAPS_MAX && !prctl(PR_CAPBSET_DROP, cap, 0, 0, 0); cap++)
		;
	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	have = data[0].permitted & (1u << CAP_NET_ADMIN);
	memset(data, 0, sizeof(data));
	data[0].permitted = have;
	data[0].effective = have;
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

int bftm_sandbox_begin(void)
{
	int err;

	bftm_keys_no_dump();
	lock_memory();
	err = drop_capabilities();
	if (err)
		bftm_log(LOG_ERR, "cannot give up capabilities: %s", strerror(-err));
	return err;
}

/* A list ends with NULL. Names that this machine or libseccomp does not know are skipped. */
static int allow(scmp_filter_ctx filter, const char *const *name)
{
	int nr, err = 0;

	for (; *name && !err; name++) {
		nr = seccomp_syscall_resolve_name(*name);
		if (nr != __NR_SCMP_ERROR)
			err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, nr, 0);
	}
	return err;
}

static int allow_sockets(scmp_filter_ctx filter)
{
	static const int families[] = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK };
	int err = 0;
	size_t i;

	if (HIDDEN)
		return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 0);
	for (i = 0; i < sizeof(families) / sizeof(families[0]) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
				       SCMP_A0(SCMP_CMP_EQ, families[i]));
	return err;
}

/* Memory may not become executable. */
static int allow_data(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp data = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);

	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), HIDDEN ? 0 : 1, data) ?:
	       seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
				SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) ?:
	       seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
				SCMP_A1_32(SCMP_CMP_EQ, TCGETS)) ?:
	       /* For the interface of an address, when the configuration is read again. */
	       seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
				SCMP_A1_32(SCMP_CMP_EQ, SIOCGIFINDEX));
}

/* clone3() hides its flags in memory; without it the C library takes clone(). */
static int allow_programs(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp same_namespaces =
		SCMP_CMP64(CLONE_FLAGS, SCMP_CMP_MASKED_EQ, NAMESPACES, 0);

	return allow(filter, bftm_calls_of_programs) ?:
	       seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, same_namespaces) ?:
	       seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
				SCMP_A1_32(SCMP_CMP_NE, TIOCSTI));
}

int bftm_sandbox_close(enum bftm_sandbox how)
{
	scmp_filter_ctx filter;
	int err;

	if (how == BFTM_SANDBOX_NO)
		return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
	filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	if (!filter)
		return -ENOMEM;
	err = seccomp_attr_set(filter, SCMP_FLTATR_CTL_LOG, 1) ?:
	      seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2) ?:
	      allow(filter, bftm_calls_of_daemon) ?:
	      allow_sockets(filter) ?:
	      (how == BFTM_SANDBOX_STRICT ? allow_data(filter) : allow_programs(filter)) ?:
	      seccomp_load(filter);	/* with PR_SET_NO_NEW_PRIVS */
	seccomp_release(filter);
	if (err)
		bftm_log(LOG_ERR, "cannot give up system calls: %s", strerror(-err));
	return err;
}
