// SPDX-License-Identifier: GPL-2.0
/* Options that several commands have. */
#include <stdlib.h>
#include <string.h>

#include "config/conf.h"
#include "ctl/ctl.h"

bool ctl_json;

static const struct argp_option options[] = {
	{ "json", 'j', NULL, 0, "Print JSON instead of text for people", -1 },
	{}
};

static error_t options_parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'j':
		ctl_json = true;
		return 0;
	case ARGP_KEY_ARG:	/* an argument that the command itself does not take */
		argp_error(state, "'%s': no such argument is expected", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp common = { .options = options, .parser = options_parse };

const struct argp_child ctl_common[] = { { .argp = &common }, {} };

u64 ctl_number(struct argp_state *state, const char *option, const char *text, u64 min, u64 max)
{
	u64 value;

	if (bftm_parse_number(text, &value) < 0 || value < min || value > max)
		argp_error(state, "%s '%s': must be %llu to %llu", option, text,
			   (unsigned long long)min, (unsigned long long)max);
	return value;
}

u64 ctl_duration(struct argp_state *state, const char *option, const char *text, u64 min,
		 u64 max)
{
	char low[32], high[32];
	u64 value;

	if (bftm_parse_duration(text, &value) < 0 || value < min || value > max)
		argp_error(state, "%s '%s': must be %s to %s", option, text,
			   bftm_format_duration(min, low, sizeof(low)),
			   bftm_format_duration(max, high, sizeof(high)));
	return value;
}

const char *ctl_state_dir(struct argp_state *state, const char *text)
{
	if (*text != '/')
		argp_error(state, "--state '%s': must be an absolute path, or the next start does "
			   "not find the files of this one", text);
	return text;
}

void ctl_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input)
{
	error_t error = argp_parse(argp, argc, argv, flags, NULL, input);

	/*
	 * Mistakes in the command line end the program; an error here means that memory is short.
	 */
	if (error)
		exit(ctl_fail(EX_OSERR, "the command line cannot be read: %s", strerror(error)));
}

bool ctl_asks_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-?") || !strcmp(word, "--usage");
}

void ctl_no_options(int argc, char **argv, const char *doc)
{
	const struct argp argp = { .doc = doc, .children = ctl_common };

	ctl_parse(&argp, argc, argv, 0, NULL);
}
