// SPDX-License-Identifier: GPL-2.0
/*
 * libconfuse, with corrections: by itself it miscounts lines at comments, accepts the end of the
 * file for a missing brace, silently lets a repeated key win, and stops at the first mistake.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "loop/log.h"
#include "config/syntax.h"
#include "text/distance.h"

#define FILE_MAX (1 << 20)

/* libconfuse passes no argument to its callbacks, and its lexer is global as well. */
static struct bftm_syntax *reading;

/*
 * May this mistake be a consequence of an unknown key, which may be a section's? Then it is left
 * out, and the rest read again.
 */
static bool is_consequence(const struct bftm_syntax *syntax, unsigned int line)
{
	return syntax->unknown_line && line > syntax->unknown_line && !syntax->secret;
}

static void print_mistake(struct bftm_syntax *syntax, unsigned int line, const char *format,
			  va_list args)
{
	char text[1024];

	syntax->mistakes++;
	if (line <= syntax->said_line || is_consequence(syntax, line))
		return;
	vsnprintf(text, sizeof(text), format, args);
	bftm_log(LOG_ERR, "%s:%u: %s", syntax->path, line, text);
}

void bftm_mistake(struct bftm_syntax *syntax, unsigned int line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_mistake(syntax, line, format, args);
	va_end(args);
}

static void report_unknown(cfg_t *section, const char *name)
{
	size_t distance, best = SIZE_MAX;
	const char *nearest = NULL;
	unsigned int i;

	for (i = 0; i < cfg_num(section); i++) {
		distance = bftm_edit_distance(section->opts[i].name, name);
		if (distance < best) {
			best = distance;
			nearest = section->opts[i].name;
		}
	}
	if (reading->secret)
		bftm_mistake(reading, section->line, "unknown key, not shown here");
	else if (reading->whole && !strcmp(name, "cluster"))
		bftm_mistake(reading, section->line, "unknown key 'cluster': %s", reading->whole);
	else if (nearest && best <= (strlen(name) + 2) / 3)
		bftm_mistake(reading, section->line, "unknown key '%s'; did you mean '%s'?",
			     name, nearest);
	else
		bftm_mistake(reading, section->line, "unknown key '%s'", name);
}

static void report_twice(cfg_t *section, const char *title)
{
	unsigned int i;

	for (i = 0; i < cfg_num(section); i++)
		if ((section->opts[i].flags & CFGF_NO_TITLE_DUPES) &&
		    cfg_opt_gettsec(&section->opts[i], title))
			bftm_mistake(reading, section->line, "%s '%s' is there twice",
				     section->opts[i].name,
				     reading->secret ? "(not shown)" : title);
}

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* libconfuse's messages about text that it cannot read; the format tells them apart. */
__attribute__((format(printf, 2, 0)))
static void syntax_report(cfg_t *section, const char *format, va_list args)
{
	if (!reading)
		return;		/* callers that need a section check whether it exists */
	if (starts_with(format, "no such option")) {
		report_unknown(section, va_arg(args, const char *));
		/* Skip it and go on. The next known key takes this back. */
		section->flags |= CFGF_IGNORE_UNKNOWN;
		if (!reading->unknown_line && (unsigned int)section->line > reading->said_line)
			reading->unknown_line = section->line;
		return;
	}
	if (!reading->failed_line)
		reading->failed_line = section->line;
	if (starts_with(format, "found duplicate title")) {
		report_twice(section, va_arg(args, const char *));
	} else if (reading->unknown_line) {
		/* The next mistakes may be consequences of the unknown section. */
		reading->mistakes++;
	} else if (reading->secret) {
		bftm_mistake(reading, section->line, "syntax error");
	} else {
		print_mistake(reading, section->line, format, args);
	}
}

int bftm_syntax_value(cfg_t *section, cfg_opt_t *key, const char *text, void *ret)
{
	struct bftm_value *value, *earlier;
	size_t size;

	section->flags &= ~CFGF_IGNORE_UNKNOWN;
	for (earlier = reading->value; earlier; earlier = earlier->next)
		if (earlier->key == key)
			bftm_mistake(reading, section->line,
				     "key '%s' was given before, on line %u", key->name,
				     earlier->line);

	size = strlen(text) + 1;
	value = malloc(sizeof(*value) + size);
	if (!value)
		return -1;
	value->next = reading->value;
	value->key = key;
	value->line = section->line;
	memcpy(value->text, text, size);
	reading->value = value;
	*(struct bftm_value **)ret = value;
	return 0;
}

const struct bftm_value *bftm_value(cfg_t *section, const char *key)
{
	return cfg_getptr(section, key);
}

/* Does an escape in double quotes stand for the byte 0, which ends the value for libconfuse? */
static bool is_zero(const char *escape)
{
	const char *digits = escape + (escape[1] == 'x' ? 2 : 1);
	size_t zeros = strspn(digits, "0");

	if (escape[1] == 'x')
		return zeros > 1 || (zeros && !isxdigit((unsigned char)digits[1]));
	return zeros && !isdigit((unsigned char)digits[zeros]);
}

/*
 * libconfuse puts variables of the environment into the text, and nothing for one that is not set:
 * what a rule is about would depend on who reads the file. In single quotes it does not.
 */
static void find_surprise(struct bftm_syntax *syntax, const char *p, char quote, unsigned int line)
{
	if (quote == '"' && *p == '\\' && is_zero(p))
		bftm_mistake(syntax, line, "a value cannot have the byte 0");
	else if (quote != '\'' && starts_with(p, "${"))
		bftm_mistake(syntax, line, "'${' in a value: the environment has no part in this file; write ${ in single quotes if it is meant");
}

/*
 * Turns comments into spaces, and finds quotes and braces that are never closed, before libconfuse
 * reads the text.
 */
static int blank_comments(struct bftm_syntax *syntax, char *text)
{
	unsigned int line = 1, quoted = 0, opened = 0, depth = 0;
	char quote = '\0', *p;

	/* NOLINTNEXTLINE: @text is not NULL after a successful read */
	for (p = text; *p; p++) {
		if (*p == '\n')
			line++;
		find_surprise(syntax, p, quote, line);
		if (quote) {
			if (*p == quote)
				quote = '\0';
			else if (*p == '\\' && p[1] && p[1] != '\n')
				p++;
		} else if (*p == '"' || *p == '\'') {
			quote = *p;
			quoted = line;
		} else if (*p == '#') {
			memset(p, ' ', strcspn(p, "\n"));
		} else if (*p == '{') {
			if (!depth++)
				opened = line;
		} else if (*p == '}' && depth) {
			depth--;
		}
	}
	if (quote)
		bftm_mistake(syntax, quoted, "%c is never closed", quote);
	else if (depth)
		bftm_mistake(syntax, opened, "{ is never closed");
	return syntax->mistakes ? -EINVAL : 0;
}

static int read_text(struct bftm_syntax *syntax, FILE *file, char **ret)
{
	char *text;
	size_t len;
	int error;

	text = calloc(1, FILE_MAX + 1);
	if (!text)
		return -ENOMEM;
	errno = EIO;
	len = fread(text, 1, FILE_MAX + 1, file);
	error = errno;
	if (ferror(file)) {
		free(text);
		return -error;
	}
	if (len > FILE_MAX || strlen(text) < len) {
		bftm_mistake(syntax, 1, len > FILE_MAX ? "longer than 1 MiB" : "not a text file");
		free(text);
		return -EINVAL;
	}
	*ret = text;
	return 0;
}

/*
 * Turns the statement that begins on a line into spaces: the line, and the text in braces that open
 * there. Return: false when the line is empty, or closes an earlier brace.
 */
static bool blank_statement(char *text, unsigned int line, bool *ret_section)
{
	bool any = false;
	int depth = 0;
	char quote = '\0', *p = text, *end;

	while (--line && p)
		p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL;
	if (!p)
		return false;
	for (end = p; *end && (*end != '\n' || depth); end++) {
		any |= !strchr(" \t\r\n", *end);
		if (quote && *end == '\\' && end[1])
			end++;
		else if (quote)
			quote = *end == quote ? '\0' : quote;
		else if (*end == '"' || *end == '\'')
			quote = *end;
		else if (*end == '{')
			depth++;
		else if (*end == '}' && !depth--)
			return false;
	}
	*ret_section = memchr(p, '{', (size_t)(end - p));
	for (; p < end; p++)
		if (*p != '\n')
			*p = ' ';
	return any;
}

static void forget_values(struct bftm_syntax *syntax)
{
	struct bftm_value *value;

	while ((value = syntax->value)) {
		syntax->value = value->next;
		explicit_bzero(value->text, strlen(value->text));
		free(value);
	}
	if (syntax->root)
		cfg_free(syntax->root);
	syntax->root = NULL;
}

static int syntax_parse(struct bftm_syntax *syntax, const char *text, cfg_opt_t *table)
{
	int r;

	syntax->root = cfg_init(table, CFGF_NONE);
	if (!syntax->root)
		return -ENOMEM;
	cfg_set_error_function(syntax->root, syntax_report);

	reading = syntax;
	errno = 0;
	r = cfg_parse_buf(syntax->root, text);
	reading = NULL;
	if (r == CFG_SUCCESS)
		return 0;
	/* A table that libconfuse could not finish for lack of memory, it cannot free either. */
	if (errno == ENOMEM)
		syntax->root = NULL;
	return syntax->mistakes ? -EINVAL : -ENOMEM;
}

/* Parse again without the statement that failed, as long as there is one. */
static int parse_parts(struct bftm_syntax *syntax, char *text, cfg_opt_t *table)
{
	unsigned int line;
	bool section;
	int r;

	for (;;) {
		syntax->unknown_line = 0;
		syntax->failed_line = 0;
		/* libconfuse cannot read a buffer of length 0. */
		r = syntax_parse(syntax, *text ? text : "\n", table);
		line = syntax->unknown_line ?: syntax->failed_line;
		if ((r && r != -EINVAL) || syntax->secret || !line ||
		    !blank_statement(text, line, &section))
			break;
		/* An unknown key leaves no gap in its section; an unknown section does. */
		syntax->partial |= section || !syntax->unknown_line;
		syntax->said_line = line;
		forget_values(syntax);
	}
	syntax->said_line = 0;
	return r;
}

/* Some editors put this invisible mark before UTF-8 text. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

int bftm_syntax_read(struct bftm_syntax *syntax, FILE *file, cfg_opt_t *table)
{
	char *text = NULL, *begin;
	int r;

	r = read_text(syntax, file, &text);
	if (!text)
		return r;
	begin = text;
	if (starts_with(begin, BYTE_ORDER_MARK))
		begin += strlen(BYTE_ORDER_MARK);
	r = blank_comments(syntax, begin);
	if (r == 0)
		r = parse_parts(syntax, begin, table);
	explicit_bzero(text, strlen(text));
	free(text);
	return r;
}

void bftm_syntax_free(struct bftm_syntax *syntax)
{
	forget_values(syntax);
}
