// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>

#include "daemon/sandbox_calls.h"

const char *const bftm_calls_of_daemon[] = {
	/* The loop. */
	"epoll_ctl", "epoll_pwait", "epoll_wait", "timerfd_settime", "clock_gettime",
	"clock_nanosleep", "gettimeofday", "time", "poll", "ppoll",
	/* Servers, the kernel, guests, the log. recv() and send() are calls of s390x alone. */
	"accept4", "bind", "connect", "getsockname", "getsockopt", "recv", "recvfrom",
	"recvmmsg", "recvmsg", "send", "sendmmsg", "sendmsg", "sendto", "setsockopt", "shutdown",
	/* Configuration, keys, numbers that survive a restart. */
	"close", "dup", "dup2", "dup3", "fcntl", "flock", "fstat", "fstatfs", "fsync", "lseek",
	"newfstatat", "open", "openat", "pread64", "pwrite64", "read", "readv", "stat", "statx",
	"unlink", "unlinkat", "write", "writev",
	/* Memory, locks, signals of the C library. */
	"brk", "futex", "getrandom", "madvise", "mremap", "munmap", "membarrier", "rseq",
	"restart_syscall", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sched_yield",
	"set_robust_list", "sysinfo", "tgkill",
	/* Its identity and its machine. */
	"getegid", "geteuid", "getgid", "getpid", "gettid", "getuid", "uname",
	"exit", "exit_group",
	NULL
};

const char *const bftm_calls_of_programs[] = {
	/* To start one, and for it to begin, go on and end. */
	"arch_prctl", "close_range", "execve", "execveat", "fork", "get_robust_list", "kill",
	"memfd_create", "mmap", "mprotect", "pidfd_open", "pidfd_send_signal", "pipe", "pipe2",
	"prctl", "prlimit64", "set_tid_address", "setpgid", "setsid", "vfork", "wait4", "waitid",
	/* Files. */
	"access", "chdir", "chmod", "chown", "copy_file_range", "creat", "faccessat",
	"faccessat2", "fadvise64", "fallocate", "fchdir", "fchmod", "fchmodat", "fchown",
	"fchownat", "fdatasync", "fgetxattr", "flistxattr", "fsetxattr", "ftruncate",
	"getcwd", "getdents", "getdents64", "getxattr", "inotify_add_watch",
	"inotify_init", "inotify_init1", "inotify_rm_watch", "lchown", "lgetxattr", "link",
	"linkat", "listxattr", "llistxattr", "lstat", "mkdir", "mkdirat", "mknod", "mknodat",
	"msync", "openat2", "preadv", "preadv2", "pwritev", "pwritev2", "readahead",
	"readlink", "readlinkat", "rename", "renameat", "renameat2", "rmdir", "sendfile",
	"setxattr", "splice", "statfs", "symlink", "symlinkat", "sync", "sync_file_range",
	"syncfs", "tee", "truncate", "umask", "utime", "utimensat", "utimes",
	/* Processes and signals. */
	"getpgid", "getpgrp", "getppid", "getpriority", "getrlimit", "getrusage", "getsid",
	"nice", "pause", "rt_sigpending", "rt_sigsuspend", "rt_sigtimedwait", "rt_sigqueueinfo",
	"setpriority", "setrlimit", "sigaltstack", "signalfd", "signalfd4", "times", "tkill",
	"getgroups", "getresgid", "getresuid", "setgid", "setregid", "setresgid", "setresuid",
	"setreuid", "setuid",
	"sched_get_priority_max", "sched_get_priority_min", "sched_getaffinity",
	"sched_getattr", "sched_getparam", "sched_getscheduler", "sched_setaffinity",
	"getcpu", "capget",
	/* Time and events. */
	"alarm", "clock_getres", "epoll_create", "epoll_create1", "epoll_pwait2", "eventfd",
	"eventfd2", "getitimer", "nanosleep", "pselect6", "select", "setitimer",
	"timer_create", "timer_delete", "timer_getoverrun", "timer_gettime", "timer_settime",
	"timerfd_create", "timerfd_gettime",
	/* Between processes. */
	"accept", "getpeername", "listen", "socketpair", "futex_waitv",
	"msgctl", "msgget", "msgrcv", "msgsnd", "semctl", "semget", "semop", "semtimedop",
	"shmat", "shmctl", "shmdt", "shmget",
	/* Memory. */
	"mincore", "mlock", "mlock2", "mlockall", "munlock", "munlockall", "get_mempolicy",
	NULL
};
