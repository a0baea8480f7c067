// SPDX-License-Identifier: GPL-2.0
/* The module is loaded and unloaded, with a server, while datagrams and programs come. */
#include <sys/syscall.h>

#include "lend.h"
#include "server.h"

#define PARAM	"lease_max_ms=1 max_locks=64 max_clients=64 token_floor=0"

static int opener;
static struct lender lender;

int races_load(struct races *r, const char *param)
{
	int fd = open(r->ko, O_RDONLY | O_CLOEXEC), err;
	char text[512];

	if (fd < 0)
		return -errno;
	snprintf(text, sizeof(text), "dyndbg=\"%s\" %s", r->dyndbg, param);
	err = syscall(SYS_finit_module, fd, text, 0) < 0 ? -errno : 0;
	close(fd);
	return err;
}

/* A process that has a handle, or uses netlink, keeps the module for a moment. */
static bool is_unloaded(void *arg)
{
	int *err = arg;

	*err = syscall(SYS_delete_module, "bftmutex", O_NONBLOCK) < 0 ? -errno : 0;
	return *err != -EWOULDBLOCK && *err != -EBUSY;
}

/* Looks at the device, as soon as it is there. */
static void open_often(struct races *r, unsigned int number)
{
	int fd;

	(void)number;
	for (;;) {
		fd = open_here(O_NONBLOCK);
		if (fd >= 0) {
			races_add(&r->shared->pending, try_lock(fd, "x", 0) == -EINPROGRESS);
			close(fd);
		}
		usleep(500 + races_random(2000));
	}
}

static bool begin(struct races *r)
{
	opener = races_start(r, open_often, 0);
	return true;
}

static bool end(struct races *r)
{
	(void)r;
	return !kill(opener, SIGKILL) && waitpid(opener, NULL, 0) == opener;
}

static bool unload(struct races *r)
{
	int err;

	/* Traffic is answered; every fourth time it goes at any moment. */
	if (races_random(4))
		races_until(&r->shared->heard, races_get(&r->shared->heard), WAIT_MS);
	races_pause(1000);
	if (!soon(is_unloaded, &err) || err)
		return races_failed("delete_module: %s", strerror(-err));
	return true;
}

static bool by_parameter(struct races *r, uint64_t i)
{
	char param[256];
	int err;

	(void)i;
	snprintf(param, sizeof(param), "server=%s/server-1.key " PARAM, r->dir);
	err = races_load(r, param);
	return err ? races_failed("finit_module: %s", strerror(-err)) : unload(r);
}

static bool by_netlink(struct races *r, uint64_t i)
{
	struct bftm_nl nl;
	int err = races_load(r, "");
	bool good;

	(void)i;
	if (err)
		return races_failed("finit_module: %s", strerror(-err));
	if (bftm_nl_open(&nl))
		return races_failed("no family");
	good = races_start_server(r, &nl, 64, SHORT);
	bftm_nl_close(&nl);
	/* A helper, and what it lent, may be there to the end, and longer. */
	if (good && !races_random(4))
		good = lender_open(&lender, r) && lender_lend(&lender, 1);
	good = good && unload(r);
	lender_close(&lender);
	return good;
}

const struct scenario races_modules[] = {
	{ "insmod-param", "module loaded with a server, and unloaded", begin, by_parameter, end,
	  .home = true },
	{ "insmod-netlink", "module loaded, a server started, unloaded with it", begin, by_netlink,
	  end, .home = true },
	{}
};
