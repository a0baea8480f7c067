/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the commands that use the journal of a server. */
#ifndef BFTM_CTL_JOURNAL_H
#define BFTM_CTL_JOURNAL_H

#include <limits.h>

#include "ctl/ctl.h"
#include "journal/journal.h"

struct bftm_master;

/**
 * struct ctl_durability - how much of its objects outlives a server that is started
 * @given:   @mode was given
 * @mode:    BFTMUTEX_DURABILITY_*
 * @path:    of the file; empty: the default in the state directory
 * @trust:   believe the file, whatever happened since
 * @start:   number of this start
 * @created: the file was made for this start
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
 * ctl_durability_conf() - take values for which there is no option from the configuration
 * @d:      the user's choice
 * @server: section of this server, NULL for none
 *
 * Return: 0, or an exit code after reporting options that contradict each other.
 */
int ctl_durability_conf(struct ctl_durability *d, const struct bftm_conf_server *server);

/**
 * ctl_durability_begin() - open or make the file, and note that a server starts
 * @d:      the user's choice
 * @state:  state directory, in which that start was noted by ctl_state_begin()
 * @master: the server's key file
 * @known:  the server never ran before
 *
 * Return: 0 or an exit code after saying why.
 */
int ctl_durability_begin(struct ctl_durability *d, const char *state,
			 const struct bftm_master *master, bool known);

/** ctl_durability_put() - add the attributes to the message that starts the server. 0 or -NLE_*. */
int ctl_durability_put(const struct ctl_durability *d, struct nl_msg *msg);

/** ctl_durability_load() - load the objects into the started server; 0 or an exit code */
int ctl_durability_load(struct ctl_durability *d);

/** ctl_durability_end() - close; @undo: no server was started, now or ever before */
void ctl_durability_end(struct ctl_durability *d, bool undo);

/* Behind what is wrong with a file whose content cannot be right. */
#define CTL_JOURNAL_BROKEN	"; if it is the journal and broken, stop this server alone, move " \
	"the file away with its -wal and -shm, and start it again: clients bring its objects back, " \
	"see \"State after a restart\" in operating.rst"

/** ctl_journal_failed() - print why a file failed with @error; the exit code */
int ctl_journal_failed(const char *path, const struct bftm_journal_file *j, int error);

/** ctl_journal_attach() - become the journal of the server here; 0 or an exit code */
int ctl_journal_attach(struct bftm_nl *nl, const char *path, u64 id);

/**
 * struct ctl_arriving - an object that arrives in pieces
 * @any:    a message came since this was cleared
 * @head:   the first message has come
 * @more:   further messages follow
 * @change: number to confirm it by
 * @object: without bodies
 * @id:     of the arriving body, in @object; NULL: none with this message
 * @len:    bytes of it that have come
 * @data:   these bytes
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
