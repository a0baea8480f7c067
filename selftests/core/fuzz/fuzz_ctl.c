// SPDX-License-Identifier: GPL-2.0
/*
 * bftmutexctl, told anything by the kernel and by the daemon: what lists and shows
 * ends, whatever it was told, with an exit code of <sysexits.h>.
 */
#include "ctl/ctl.h"
#include "file.h"
#include "kernel.h"

static char json[] = "--json", object[] = "visits";
static char show[] = "show", renewals[] = "--renewals";

static const struct {
	int (*run)(int argc, char **argv);
	char *word;
} commands[] = {
	{ ctl_locks, NULL },
	{ ctl_objects, NULL },
	{ ctl_clients, NULL },
	{ ctl_holders, NULL },
	{ ctl_server_show, NULL },
	{ ctl_server_access, show },
	{ ctl_watch, renewals },
	{ ctl_server_stop, NULL },
	{ ctl_servers, NULL },
	{ ctl_stats, NULL },
	{ ctl_object_history, object },
};

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct fuzz_bytes in = { data, len };
	char name[] = "bftmutexctl", *argv[4] = { name };
	u32 what = (u32)fuzz_take(&in, 1), i = what / 2 % (sizeof(commands) / sizeof(commands[0]));
	int argc = 1, r;

	fuzz_quiet();
	fuzz_kernel_begin(&in);
	/* A second word of the command comes first, an argument last. */
	if (commands[i].word && commands[i].run != ctl_object_history)
		argv[argc++] = commands[i].word;
	if (what & 1)
		argv[argc++] = json;
	if (commands[i].run == ctl_object_history)
		argv[argc++] = commands[i].word;
	ctl_json = false;
	r = commands[i].run(argc, argv);
	must(r == 0 || (r >= EX__BASE && r <= EX__MAX));
	return 0;
}
