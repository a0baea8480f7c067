// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl(8): finds the command and hands over to it. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "ctl/ctl.h"
#include "loop/descriptors.h"
#include "crypto/keys.h"
#include "loop/log.h"
#include "text/json.h"

static const struct command {
	const char *group;	/* first of two words, or NULL */
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "server", "start", ctl_server_start, "start the lock server of this host" },
	{ "server", "stop", ctl_server_stop, "stop the server" },
	{ "server", "show", ctl_server_show, "describe the server, with its counters" },
	{ "server", "access", ctl_server_access, "set or show the access rules: which clients may take which locks" },
	{ "server", "journal", ctl_server_journal, "keep the server's objects in a file" },
	{ "server", "roll", ctl_server_roll, "keep the roll: which clients may hold locks without a lease" },
	{ "server", "members", ctl_server_members, "list the clients that may hold locks without a lease" },
	{ "client", "evict", ctl_client_evict, "free the locks without a lease of a client that was cut off" },
	{ "cluster", "show", ctl_cluster_show, "check and explain the configuration" },
	{ NULL, "locks", ctl_locks, "list the locks in the server's table" },
	{ NULL, "objects", ctl_objects, "list the objects in the server's table" },
	{ NULL, "clients", ctl_clients, "list the clients that the server has authenticated" },
	{ NULL, "holders", ctl_holders, "list the handles of this host that hold or wait for locks" },
	{ NULL, "who", ctl_who, "ask the servers who has a lock" },
	{ NULL, "servers", ctl_servers, "show the servers' health and signs of lying" },
	{ NULL, "check", ctl_check, "tell a monitor by the exit status whether programs get locks" },
	{ NULL, "stats", ctl_stats, "show all counters of this host" },
	{ NULL, "top", ctl_top, "show servers, holders and rates on the terminal, each second anew" },
	{ NULL, "watch", ctl_watch, "print each lock that is acquired, released or lost" },
	{ "trace", "record", ctl_trace_record, "record messages and locks of this host for bftmutex-trace" },
	{ "object", "create", ctl_object_create, "make an object that all clients share" },
	{ "object", "list", ctl_object_list, "list the objects of the cluster" },
	{ "object", "submit", ctl_object_submit, "apply a request to an object" },
	{ "object", "show", ctl_object_show, "show the content of an object" },
	{ "object", "watch", ctl_object_watch, "print each change of an object" },
	{ "object", "history", ctl_object_history, "list this host's requests to an object" },
	{ "object", "delete", ctl_object_delete, "delete an object" },
	{ "object", "dump", ctl_object_dump, "print objects for a backup" },
	{ "object", "restore", ctl_object_restore, "make objects from a dump" },
	{ NULL, "keygen", ctl_keygen, "make key files for servers and clients" },
	{ "dev", "up", ctl_dev_up, "start a whole cluster on this machine, to try it out" },
	{ "dev", "down", ctl_dev_down, "remove that cluster" },
	{}
};

/* Name of the program for messages of argp: "bftmutexctl server start". */
static char program[64];

/* @group: print only the commands of this group, NULL for all */
static void print_commands(FILE *to, const char *group)
{
	const struct command *c;

	for (c = commands; c->name; c++)
		if (!group || (c->group && !strcmp(c->group, group)))
			fprintf(to, "  %s%s%-*s %s\n", c->group ? c->group : "", c->group ? " " : "",
				c->group ? 14 - (int)strlen(c->group) : 15, c->name, c->help);
}

static void print_help(FILE *to)
{
	fputs("Usage: " CTL_NAME " COMMAND [OPTION...]\n"
	      "Administration of locks of a cluster whose servers may lie.\n\n", to);
	print_commands(to, NULL);
	fputs("\nEvery command has --help and --version, and all but top have --json. See "
	      CTL_NAME "(8).\n", to);
}

static void print_group_help(const char *group)
{
	printf("Usage: " CTL_NAME " %s COMMAND [OPTION...]\n\n", group);
	print_commands(stdout, group);
	printf("\nEvery command has --help: " CTL_NAME " %s COMMAND --help.\n", group);
}

/* Lists the words of a group after a missing or wrong one. */
static int bad_group(const char *group)
{
	const struct command *c;
	char words[64] = "";

	for (c = commands; c->name; c++)
		if (c->group && !strcmp(c->group, group))
			snprintf(words + strlen(words), sizeof(words) - strlen(words), " %s",
				 c->name);
	return ctl_fail(EX_USAGE, "after '%s' comes one of:%s", group, words);
}

static int command_run(const struct command *c, int argc, char **argv)
{
	int words = c->group ? 2 : 1;

	snprintf(program, sizeof(program), CTL_NAME " %s%s%s", c->group ? c->group : "",
		 c->group ? " " : "", c->name);
	argv[words] = program;
	return c->run(argc - words, argv + words);
}

/* A command fails when its output is not whole, or could not be written. */
static int printed(int r)
{
	bftm_output_trust();
	if (bftm_json_lacks())
		return ctl_fail(EX_OSERR, "no memory: the output is not whole");
	if (fflush(stdout) || ferror(stdout))
		return ctl_fail(EX_IOERR, "cannot write the output");
	return r;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	const struct command *c;
	bool group = false;
	int r;

	setlocale(LC_CTYPE, "");
	argp_program_version = CTL_NAME " " BFTM_VERSION;
	argp_err_exit_status = EX_USAGE;
	bftm_log_stderr(NULL);
	r = bftm_standard_fds();
	if (r < 0)
		return ctl_fail(EX_OSERR, "cannot take the place of a closed standard stream: %s",
				strerror(-r));
	bftm_keys_no_dump();
	bftm_output_watch();

	if (!word) {
		print_help(stderr);
		return EX_USAGE;
	}
	if (ctl_asks_help(word) || !strcmp(word, "help")) {
		print_help(stdout);
		return printed(0);
	}
	if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
		puts(argp_program_version);
		return printed(0);
	}
	for (c = commands; c->name; c++) {
		if (strcmp(word, c->group ? c->group : c->name))
			continue;
		group = c->group;
		if (group && (argc < 3 || strcmp(argv[2], c->name)))
			continue;
		return printed(command_run(c, argc, argv));
	}
	if (group && argc > 2 && (ctl_asks_help(argv[2]) || !strcmp(argv[2], "help"))) {
		print_group_help(word);
		return printed(0);
	}
	if (group)
		return bad_group(word);
	return ctl_fail(EX_USAGE, "unknown command '%s'; see " CTL_NAME " --help", word);
}
