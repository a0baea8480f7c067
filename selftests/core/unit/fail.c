// SPDX-License-Identifier: GPL-2.0
#include "fail.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <confuse.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <openssl/crypto.h>
#include <sqlite3.h>

static u32 before;
static const char *counted;
static struct fail failed;

void fail_begin(u32 nth, const char *only)
{
	failed = (struct fail){};
	counted = only;
	before = nth;
}

struct fail fail_end(void)
{
	before = 0;
	return failed;
}

static bool fails(const char *call, int error)
{
	if (!before || (counted && strcmp(call, counted)) || --before)
		return false;
	failed.call = call;
	failed.error = error;
	errno = error;
	return true;
}

/* Type, call, parameters, arguments, what it returns when it fails, and its errno. */
#define WRAP(type, name, parameters, arguments, value, number) \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		return fails(#name, number) ? (value) : __real_##name arguments; \
	}

WRAP(void *, malloc, (size_t size), (size), NULL, ENOMEM)
WRAP(void *, calloc, (size_t n, size_t size), (n, size), NULL, ENOMEM)
WRAP(void *, realloc, (void *old, size_t size), (old, size), NULL, ENOMEM)
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL, EMFILE)
WRAP(int, fstat, (int fd, struct stat *st), (fd, st), -1, EOVERFLOW)
WRAP(int, stat, (const char *path, struct stat *st), (path, st), -1, ENOENT)
WRAP(ssize_t, write, (int fd, const void *data, size_t len), (fd, data, len), -1, EDQUOT)
WRAP(int, fflush, (FILE *file), (file), EOF, ENOSPC)
WRAP(int, fsync, (int fd), (fd), -1, EIO)
WRAP(int, close, (int fd), (fd), (__real_close(fd), -1), EIO)
WRAP(int, rename, (const char *from, const char *to), (from, to), -1, EXDEV)
WRAP(int, socket, (int family, int type, int protocol), (family, type, protocol), -1, ENFILE)
WRAP(int, bind, (int fd, const struct sockaddr *a, socklen_t len), (fd, a, len), -1, EADDRINUSE)
WRAP(int, listen, (int fd, int most), (fd, most), -1, EADDRINUSE)
WRAP(struct cfg_t *, cfg_init, (struct cfg_opt_t *table, cfg_flag_t flags), (table, flags), NULL, ENOMEM)
WRAP(int, OPENSSL_buf2hexstr_ex, (char *to, size_t room, size_t *len, const unsigned char *from, long bytes,
				  const char between), (to, room, len, from, bytes, between), 0, EIO)
WRAP(int, sqlite3_prepare_v2, (struct sqlite3 *db, const char *sql, int len, struct sqlite3_stmt **ret,
			       const char **tail), (db, sql, len, ret, tail), SQLITE_NOMEM, EIO)
WRAP(int, sqlite3_step, (struct sqlite3_stmt *s), (s), SQLITE_IOERR, EIO)
WRAP(struct nl_sock *, nl_socket_alloc, (void), (), NULL, ENOMEM)
WRAP(int, genl_connect, (struct nl_sock *s), (s), -NLE_AF_NOSUPPORT, EPROTONOSUPPORT)
WRAP(int, nl_socket_set_buffer_size, (struct nl_sock *s, int in, int out), (s, in, out),
	-NLE_PERM, EPERM)
WRAP(struct nl_msg *, nlmsg_alloc, (void), (), NULL, ENOMEM)
WRAP(struct nl_msg *, nlmsg_alloc_size, (size_t size), (size), NULL, ENOMEM)
WRAP(void *, genlmsg_put, (struct nl_msg *msg, u32 port, u32 seq, int family, int head, int flags,
			   u8 cmd, u8 version), (msg, port, seq, family, head, flags, cmd, version),
	NULL, ENOMEM)
WRAP(int, nl_send_auto, (struct nl_sock *s, struct nl_msg *msg), (s, msg), -NLE_NOMEM, ENOBUFS)
WRAP(struct nl_cb *, nl_cb_alloc, (enum nl_cb_kind kind), (kind), NULL, ENOMEM)
WRAP(int, genl_ctrl_resolve_grp, (struct nl_sock *s, const char *family, const char *name),
	(s, family, name), -NLE_OBJ_NOTFOUND, ENOENT)

/* It has no end of arguments of its own. */
int __wrap_asprintf(char **ret, const char *format, ...);

int __wrap_asprintf(char **ret, const char *format, ...)
{
	va_list args;
	int len;

	if (fails("asprintf", ENOMEM))
		return -1;
	va_start(args, format);
	len = vasprintf(ret, format, args);
	va_end(args);
	return len;
}

/* Of libconfuse, which is no file under test. */
char *strndup(const char *text, size_t most)
{
	size_t len = strnlen(text, most);
	char *copy = fails("strndup", ENOMEM) ? NULL : __real_malloc(len + 1);

	if (copy) {
		memcpy(copy, text, len);
		copy[len] = '\0';
	}
	return copy;
}
