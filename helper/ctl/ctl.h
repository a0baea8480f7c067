/* SPDX-License-Identifier: GPL-2.0 */
/* bftmutexctl: shared by its commands. */
#ifndef BFTM_CTL_H
#define BFTM_CTL_H

#include <argp.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <sysexits.h>

#include "core/limits.h"
#include "kernel/nl.h"

#ifndef BFTM_VERSION
#define BFTM_VERSION "unknown"
#endif

#define CTL_NAME "bftmutexctl"
#define CTL_STATE_DIR "/var/lib/bftmutex"

/* Commands: options in argv as main() gets them; the result is the exit code. */
int ctl_server_start(int argc, char **argv);
int ctl_server_stop(int argc, char **argv);
int ctl_server_show(int argc, char **argv);
int ctl_server_access(int argc, char **argv);
int ctl_server_journal(int argc, char **argv);
int ctl_server_roll(int argc, char **argv);
int ctl_server_members(int argc, char **argv);
int ctl_client_evict(int argc, char **argv);
int ctl_cluster_show(int argc, char **argv);
int ctl_locks(int argc, char **argv);
int ctl_objects(int argc, char **argv);
int ctl_clients(int argc, char **argv);
int ctl_holders(int argc, char **argv);
int ctl_servers(int argc, char **argv);
int ctl_who(int argc, char **argv);
int ctl_stats(int argc, char **argv);
int ctl_check(int argc, char **argv);

/**
 * ctl_check_words() - the words of "check" about the servers of a cluster
 * @cluster: its name, NULL for all
 * Return: sentences, valid until the next call; "" when all is well.
 */
const char *ctl_check_words(const char *cluster);
int ctl_watch(int argc, char **argv);
int ctl_trace_record(int argc, char **argv);
int ctl_top(int argc, char **argv);
int ctl_object_create(int argc, char **argv);
int ctl_object_submit(int argc, char **argv);
int ctl_object_show(int argc, char **argv);
int ctl_object_watch(int argc, char **argv);
int ctl_object_history(int argc, char **argv);
int ctl_object_list(int argc, char **argv);
int ctl_object_delete(int argc, char **argv);
int ctl_object_dump(int argc, char **argv);
int ctl_object_restore(int argc, char **argv);
int ctl_keygen(int argc, char **argv);
int ctl_dev_up(int argc, char **argv);
int ctl_dev_down(int argc, char **argv);

/* options.c: options */

/** ctl_json - --json was given */
extern bool ctl_json;
/** ctl_common - --json, for argp's children of every command */
extern const struct argp_child ctl_common[];

/* An argument's value, or a usage error that names option, value and range. */
u64 ctl_number(struct argp_state *state, const char *option, const char *text, u64 min, u64 max);
u64 ctl_duration(struct argp_state *state, const char *option, const char *text, u64 min,
		 u64 max);
/** ctl_state_dir() - --state's folder: from / on, or a usage error */
const char *ctl_state_dir(struct argp_state *state, const char *text);

/** ctl_parse() - argp_parse(); ends the program when memory is short */
void ctl_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input);

/** ctl_asks_help() - is this --help, or another word for it? */
bool ctl_asks_help(const char *word);

/** ctl_no_options() - parse a command line that has only the common options */
void ctl_no_options(int argc, char **argv, const char *doc);

/* print.c: output */

/** ctl_fail() - print an error on stderr; returns @code, an exit code */
__attribute__((format(printf, 2, 3)))
int ctl_fail(int code, const char *format, ...);

/**
 * ctl_progress() - print the present step on stderr, at most once a second, after the first second
 * @format: as of printf(), with its arguments
 */
__attribute__((format(printf, 1, 2)))
void ctl_progress(const char *format, ...);

/** ctl_member() - a member of a value; NULL if the value is no object or has no such member */
struct json_object *ctl_member(struct json_object *object, const char *key);

/** ctl_length() - length of an array; 0 for any other value */
size_t ctl_length(struct json_object *array);

/** ctl_print_json() - an object or array as a document of its own */
void ctl_print_json(struct json_object *object);

/** ctl_print_json_line() - an object in a line */
void ctl_print_json_line(struct json_object *object);

/** ctl_describe() - an object as "key value" lines, without null; keys in _ns as durations */
void ctl_describe(struct json_object *object);

/** ctl_shown() - a member's value as text for people: a string, to be put; "-" for null */
struct json_object *ctl_shown(const char *key, struct json_object *value);

/** ctl_print() - an object as JSON or as lines, as the user has chosen */
void ctl_print(struct json_object *object);

/**
 * struct ctl_column - of a table, ended by one without a title
 * @key:   of the value in a row's object
 * @title: heading
 * @width: characters; a longer value moves the next ones to the right, the last
 *         column has any width. Negative: left-aligned.
 */
struct ctl_column {
	const char *key;
	const char *title;
	int width;
};

/**
 * struct ctl_list - rows printed as they come, for tables of any length
 * @column: of the table
 * @rows:   number of rows printed so far
 */
struct ctl_list {
	const struct ctl_column *column;
	u32 rows;
};

/** ctl_list_row() - print a row and drop it */
void ctl_list_row(struct ctl_list *list, struct json_object *row);
/** ctl_list_end() - finish; @nothing is printed when there was no row */
void ctl_list_end(struct ctl_list *list, const char *nothing);

/** ctl_add_time() - "time": now, as RFC 3339 has it, in UTC with microseconds */
void ctl_add_time(struct json_object *o);

/* netlink.c: the module */

enum ctl_set {
	CTL_SERVER, CTL_LOCK, CTL_OBJECT, CTL_CLIENT, CTL_HANDLE, CTL_SUSPECT, CTL_RULE, CTL_LOCAL,
	CTL_MEMBER
};

/** ctl_object() - attributes of a set as an object, keys with _ for - */
struct json_object *ctl_object(enum ctl_set set, struct nlattr **attr);
/** ctl_set_max() - the highest attribute of a set */
int ctl_set_max(enum ctl_set set);

/** ctl_open() - connect to the module; 0, or an exit code after an error message */
int ctl_open(struct bftm_nl *ret);
/** ctl_refused() - print why a call failed with @error; the exit code */
int ctl_refused(const struct bftm_nl *nl, int error, enum ctl_set set);

/* server.c: the server here */

/** ctl_server_get() - the server's description; 0, -ENOENT for none, -errno */
int ctl_server_get(struct bftm_nl *nl, struct json_object **ret);

/* evicted.c: evictions, which must survive a restart of a server */

/**
 * struct ctl_evicted - clients that an administrator has cut off, at a server
 * @count:       how many
 * @client:      their numbers
 * @incarnation: of each the last one that is evicted
 */
struct ctl_evicted {
	u32 count;
	u32 client[BFTM_MEMBERS_MAX];
	u32 incarnation[BFTM_MEMBERS_MAX];
};

/**
 * ctl_evicted_load() - read the evictions that were noted
 * @dir:     state directory
 * @cluster: number of the cluster
 * @server:  number of the server
 * @ret:     the evictions
 * Return: 0, also if there is no note; or an exit code after an error message.
 */
int ctl_evicted_load(const char *dir, u32 cluster, u16 server, struct ctl_evicted *ret);

/** ctl_evicted_note() - note one more, of a server that was started; 0, or an exit code */
int ctl_evicted_note(const char *dir, u32 cluster, u16 server, u32 client, u32 incarnation);

/* rights.c: which clients may hold locks without a lease */

struct bftm_conf_access;
struct ctl_roll;

/** ctl_rights_check() - do these rules leave each noted client its right? 0, or an exit code */
int ctl_rights_check(const char *dir, u32 cluster, u16 server,
		     const struct bftm_conf_access *access);

/** ctl_rights_note() - note the clients to which these rules give the right; 0, or an exit code */
int ctl_rights_note(const char *dir, u32 cluster, u16 server,
		    const struct bftm_conf_access *access);

/* access.c: access rules */

/** ctl_rules_msg() - a request with rules, what was evicted, and @roll or NULL; NULL: no memory */
struct nl_msg *ctl_rules_msg(struct bftm_nl *nl, u8 cmd, const struct bftm_conf_access *access,
			     const struct ctl_evicted *evicted, const struct ctl_roll *roll);

/* A list without rules means this. */
#define CTL_ACCESS_ALL "every client may take every lock"

/** ctl_warn_rules() - warn of rules behind others that hide them, and if all deny every lock */
void ctl_warn_rules(const struct bftm_conf_access *access);

/** ctl_conf_failed() - exit code for an error of bftm_conf_load() */
int ctl_conf_failed(int error);

/* state.c: notes that must survive a restart of a server */

/** ctl_state_path() - path of the file, in @ret of PATH_MAX bytes */
const char *ctl_state_path(const char *dir, u32 cluster, u16 server, char *ret);

/**
 * ctl_state_begin() - note that a server starts here
 * @dir:       state directory, made if it does not exist
 * @cluster:   number of the cluster
 * @server:    number of the server
 * @ret_first: it never started here before
 *
 * Return: 0, or -errno when it could not be noted.
 */
int ctl_state_begin(const char *dir, u32 cluster, u16 server, bool *ret_first);

/** ctl_state_last() - number of the last start that was noted, 0 for none */
u64 ctl_state_last(const char *dir, u32 cluster, u16 server);

/** ctl_state_journal() - the journal of that start, in @ret of PATH_MAX bytes; "" for none */
const char *ctl_state_journal(const char *dir, u32 cluster, u16 server, char *ret);

/**
 * ctl_state_note() - note the number of a start, after ctl_state_begin()
 * @dir:     state directory
 * @cluster: number of the cluster
 * @server:  number of the server
 * @start:   number of the start
 * @journal: file of the journal, NULL for none
 *
 * Return: 0 or -errno.
 */
int ctl_state_note(const char *dir, u32 cluster, u16 server, u64 start, const char *journal);

/**
 * ctl_state_hold() - have the notes of a server that was started for this process alone
 * @dir:     state directory
 * @cluster: number of the cluster
 * @server:  number of the server
 * @unknown: completes "the next start does not know …"
 * @ret_fd:  to be closed
 *
 * Return: 0, or an exit code after an error message: that start was noted elsewhere.
 */
int ctl_state_hold(const char *dir, u32 cluster, u16 server, const char *unknown, int *ret_fd);

/** ctl_state_write() - replace the file @path as a whole by @text, or not at all; 0 or -errno */
int ctl_state_write(const char *dir, const char *path, const char *text);

/** ctl_state_undo() - forget the first start of a server, which failed */
void ctl_state_undo(const char *dir, u32 cluster, u16 server);

/* helper.c: the daemon */

/**
 * ctl_connect_helper() - connect to the daemon of the namespace of file @netns; a socket or -errno
 * @netns: path of the file
 */
int ctl_connect_helper(const char *netns);

/**
 * ctl_ask_helper() - put a question to the bftmutexd of this namespace
 * @question: "servers", "stats", "objects" or "history CLUSTER NAME"
 * @ret:      the answer
 *
 * Return: 0, -ECONNREFUSED when no daemon runs, -EBADMSG when it does not know the question, or
 * another -errno.
 */
int ctl_ask_helper(const char *question, struct json_object **ret);

/** ctl_ask_helper_for() - likewise "list CLUSTER MS" or "who CLUSTER MS NAME"; @patience_ns 0: no limit */
int ctl_ask_helper_for(const char *question, u64 patience_ns, struct json_object **ret);

/** ctl_default_cluster() - name of the default cluster, to be freed; or NULL */
char *ctl_default_cluster(void);

/** ctl_helper_failed() - print why a question failed; an exit code */
int ctl_helper_failed(int error);

/* check.c */

/**
 * ctl_judge() - the verdict of "bftmutexctl check" on the daemon's answer to "servers"
 * @answer: the daemon's answer
 * @text:   gets the line
 * @room:   bytes at @text
 *
 * Return: 0 all well, 1 degraded, 2 failed.
 */
int ctl_judge(struct json_object *answer, char *text, size_t room);

/* keygen_make.c, and keygen_rank.c */

/** struct ctl_range - consecutive client numbers */
struct ctl_range {
	u32 first, last;
};

/**
 * ctl_make_keys() - new masters for servers 1 to @servers, and credentials
 * @dir:     folder, made if it does not exist
 * @cluster: number of the cluster
 * @servers: number of servers
 * @client:  clients whose credentials to make
 * @clients: entries of @client
 * @ret:     array of the files that were made: objects with file, kind, id
 *
 * Return: 0, or an exit code after an error message; then no file is left behind.
 */
int ctl_make_keys(const char *dir, u32 cluster, u32 servers, const struct ctl_range *client,
		  u32 clients, struct json_object *ret);

/** ctl_add_clients() - make credentials for the masters that are in @dir; as ctl_make_keys() */
int ctl_add_clients(const char *dir, const struct ctl_range *client, u32 clients,
		    struct json_object *ret);

/** ctl_undo_made() - remove the files that were made */
void ctl_undo_made(struct json_object *made);

/** ctl_made_kind() - what the @i-th file is, as ctl_note_made() was told; NULL without memory */
const char *ctl_made_kind(struct json_object *made, size_t i);

/** ctl_made_file() - the path of the @i-th file that was made */
const char *ctl_made_file(struct json_object *made, size_t i);

/** ctl_note_made() - note a file that was made, for the user and for undoing it */
void ctl_note_made(struct json_object *made, const char *file, const char *kind, u32 id);

/**
 * ctl_make_ranks() - rank keys of clients, in @dir beside their credentials
 * @dir:     folder of the credentials
 * @cluster: number of the cluster
 * @range:   numbers of the clients
 * @count:   of ranges
 * @made:    gets the files that were made; the public keys come last
 *
 * Return: 0, or an exit code after saying why.
 */
int ctl_make_ranks(const char *dir, u32 cluster, const struct ctl_range *range, u32 count,
		   struct json_object *made);

/**
 * ctl_ranks_undo() - undo the change of ctl_make_ranks() to the public keys; before
 * ctl_ranks_done()
 * @path: of the file with the public keys
 */
void ctl_ranks_undo(const char *path);

/** ctl_ranks_done() - make the change final */
void ctl_ranks_done(const char *dir);

/* cluster.c */

/** ctl_tokens_learned() - does a restarted server learn fencing tokens from the others? */
bool ctl_tokens_learned(u32 n, u32 b);

/* run.c: other programs, never through a shell */

/**
 * ctl_run() - run a program to its end
 * @program: looked up in PATH; its arguments follow, then NULL
 *
 * Return: 0, or an exit code after printing which command failed, with its output.
 */
__attribute__((sentinel))
int ctl_run(const char *program, ...);

/** ctl_spawn() - start a program in a session of its own, output to file @log */
__attribute__((sentinel))
int ctl_spawn(const char *log, pid_t *ret, const char *program, ...);

#endif /* BFTM_CTL_H */
