// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"

#define OPTIONS_MAX	62
#define HELP		OPTIONS_MAX

static u32 read_number(const struct command_option *o, const char *argument)
{
	char *end;
	unsigned long value = strtoul(argument, &end, 10);

	if (end == argument || *end || value < o->low || value > o->high)
		errx(2, "--%s '%s': a number from %u to %u is expected", o->name, argument, o->low,
		     o->high);
	return (u32)value;
}

static void take(const struct command_option *o, const char *argument)
{
	if (o->number)
		*o->number = read_number(o, argument);
	else if (o->flag)
		*o->flag = true;
	else if (o->text)
		*o->text = argument;
	else
		o->read(argument);
}

void command_read(int argc, char **argv, const struct command_option *options, const char *help)
{
	struct option words[OPTIONS_MAX + 2] = { 0 };
	int count, which;

	for (count = 0; count < OPTIONS_MAX && options[count].name; count++)
		words[count] = (struct option){ options[count].name, !options[count].flag, NULL, count };
	words[count] = (struct option){ "help", no_argument, NULL, HELP };
	while ((which = getopt_long(argc, argv, "", words, NULL)) != -1) {
		if (which == HELP && fputs(help, stdout) >= 0)
			exit(0);
		if (which < 0 || which >= count)
			errx(2, "see --help");
		take(&options[which], optarg);
	}
	if (optind < argc)
		errx(2, "'%s': no argument is expected", argv[optind]);
}

const char *const command_mode[BFTM_MODES] = { "NL", "CR", "CW", "PR", "PW", "EX" };

u32 command_modes(const char *argument)
{
	const char *p = argument;
	u32 set = 0, m;

	for (;;) {
		for (m = BFTM_MODE_CR; m < BFTM_MODES; m++)
			if (!strncmp(p, command_mode[m], 2))
				break;
		if (m == BFTM_MODES || (p[2] && p[2] != ','))
			errx(2, "--modes '%s': a list as PR,EX is expected, of CR, CW, PR, PW and EX",
			     argument);
		set |= 1u << m;
		if (!p[2])
			return set;
		p += 3;
	}
}

char *command_line(int argc, char **argv)
{
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);
	int i;

	if (!f)
		err(2, "no memory");
	for (i = 0; i < argc; i++)
		fprintf(f, "%s%s", i ? " " : "", argv[i]);
	if (fclose(f))
		err(2, "no memory");
	return text;
}
