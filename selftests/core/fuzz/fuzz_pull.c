// SPDX-License-Identifier: GPL-2.0
/*
 * The journal's process, told anything by the kernel: it ends, and its file can be
 * read and holds nothing beyond the limits.
 */
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "ctl/ctl.h"
#include "journal/journal.h"
#include "file.h"
#include "kernel.h"

static char path[64];

static int on_object(const struct bftm_journal_object *o, const void *committed,
		     const void *proposed, void *arg)
{
	(void)arg;
	must(o->name_len && o->committed.len <= BFTM_STATE_MAX && o->proposed.len <= BFTM_STATE_MAX);
	must(!o->committed.version == !committed && !o->proposed.version == !proposed);
	return 0;
}

static void remove_file(void)
{
	bftm_journal_remove(path);
}

static void make(void)
{
	static const struct bftm_journal_about about = { .cluster = 1, .server = 1, .id = 1 };
	struct bftm_journal_file j;

	if (*path)
		return;
	snprintf(path, sizeof(path), "/dev/shm/bftmutex-fuzz-pull.%d", getpid());
	must(!bftm_journal_create(&j, path, &about));
	bftm_journal_close(&j);
	must(!atexit(remove_file));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	char name[] = "bftmutexctl", file[] = "--file", *argv[] = { name, file, path, NULL };
	struct fuzz_bytes in = { data, len };
	struct bftm_journal_file j;
	int r;

	fuzz_quiet();
	make();
	fuzz_kernel_begin(&in);
	r = ctl_server_journal(3, argv);
	must(r >= EX__BASE && r <= EX__MAX);
	must(!bftm_journal_open(&j, path));
	must(!bftm_journal_each(&j, on_object, NULL));
	must(!sqlite3_exec(j.db, "DELETE FROM object; DELETE FROM body", NULL, NULL, NULL));
	bftm_journal_close(&j);
	return 0;
}
