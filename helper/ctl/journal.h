/* SPDX-License-Identifier: GPL-2.0 */
/* What commands share that deal with the journal of a server. */
#ifndef BFTM_CTL_JOURNAL_H
#define BFTM_CTL_JOURNAL_H

#include <limits.h>

#include "ctl/ctl.h"
#include "journal/journal.h"

struct bftm_master;

/**
 * struct ctl_durability - what of objects shall outlive a server that is started
 * @given:   @mode was said
 * @mode:    BFTMUTEX_DURABILITY_*
 * @path:    of the file; empty: in the state directory
 * @trust:   believe the file, whatever happened since
 * @start:   number of this start
 * @created: the file was made for it
 * @file:    open, unless @mode is none
 */
struct ctl_durability {
	bool given;
	u32 mode;
	char path[PATH_MAX];
	bool trust;
	u64 start;
	bool created;
	struct bftm_journal_file file;
};

/** ctl_durability_parse() - an option's words, or a usage error */
void ctl_durability_parse(struct argp_state *state, const char *text,
			  struct ctl_durability *ret);

struct bftm_conf_server;

/**
 * ctl_durability_conf() - what the configuration says where no option does
 * @server: of this server, NULL for nothing
 *
 * Return: 0, or an exit code after saying what does not go together.
 */
int ctl_durability_conf(struct ctl_durability *d, const struct bftm_conf_server *server);

/**
 * ctl_durability_begin() - open or make the file, and note that a server starts
 * @state: state directory, in which that start was noted by ctl_state_begin()
 * @known: the server never was before
 *
 * Return: 0 or an exit code after saying why.
 */
int ctl_durability_begin(struct ctl_durability *d, const char *state,
			 const struct bftm_master *master, bool known);

/** ctl_durability_put() - add it to the message that starts the server. 0 or -NLE_*. */
int ctl_durability_put(const struct ctl_durability *d, struct nl_msg *msg);

/** ctl_durability_load() - tell the server that was started; 0 or an exit code */
int ctl_durability_load(struct ctl_durability *d);

/** ctl_durability_end() - close; @undo: no server was started, nor ever before */
void ctl_durability_end(struct ctl_durability *d, bool undo);

/** ctl_journal_failed() - say why a file failed with @error; the exit code */
int ctl_journal_failed(const char *path, const struct bftm_journal_file *j, int error);

/** ctl_journal_attach() - become the journal of the server here; 0 or an exit code */
int ctl_journal_attach(struct bftm_nl *nl, const char *path, u64 id);

/**
 * struct ctl_arriving - an object of which pieces arrive
 * @any:    a message came since this was cleared
 * @head:   the first message was there
 * @more:   others follow
 * @change: number to confirm it by
 * @object: without bodies
 * @id:     of the body that comes, in @object; NULL: none with this message
 * @len:    bytes of it that are here
 * @data:   these
 */
struct ctl_arriving {
	bool any;
	bool head;
	bool more;
	u64 change;
	struct bftm_journal_object object;
	const struct bftm_body_id *id;
	u32 len;
	u8 data[BFTM_STATE_MAX];
};

/** ctl_journal_pulled() - a message about the object @arg, a ctl_arriving; -EPROTO or 0 */
int ctl_journal_pulled(struct nlattr **attr, void *arg);

#endif /* BFTM_CTL_JOURNAL_H */
