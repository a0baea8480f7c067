/* SPDX-License-Identifier: GPL-2.0 */
/* The command line of a model: a table says which words it has. */
#ifndef BFTM_MODEL_COMMAND_H
#define BFTM_MODEL_COMMAND_H

#include "core/wire.h"

/**
 * struct command_option - one option, "--NAME"; only one of the pointers is set
 * @name:   without the dashes; NULL ends a table
 * @number: takes a number from @low to @high
 * @flag:   takes no argument, and is true then
 * @text:   takes any argument
 * @read:   reads the argument by itself; exits with 2 if it is wrong
 */
struct command_option {
	const char *name;
	u32 *number, low, high;
	bool *flag;
	const char **text;
	void (*read)(const char *argument);
};

/**
 * command_read() - read the options of main()
 * @options: ends with a name that is NULL; at most 31
 * @help:    printed for --help
 *
 * Exits with 0 after --help, and with 2 and a message for whatever the table does not allow.
 */
void command_read(int argc, char **argv, const struct command_option *options, const char *help);

/** command_mode - the names of modes */
extern const char *const command_mode[BFTM_MODES];

/** command_modes() - "PR,EX" as bits of enum bftm_mode; exits with 2 when it is no such list. */
u32 command_modes(const char *argument);

/** command_line() - the words of main() as one line. Return: to be freed. */
char *command_line(int argc, char **argv);

#endif /* BFTM_MODEL_COMMAND_H */
