// SPDX-License-Identifier: GPL-2.0
/* Scripted scenarios and the stories that must come of them. */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"
#include "story.h"

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	ssize_t len;

	if (!f)
		return NULL;
	len = getdelim(&text, &room, '\0', f);
	fclose(f);
	if (len < 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* The outcome of the script, as text; NULL when it breaks a rule. */
static char *tell_story(const struct script *s, struct outcome *o)
{
	struct story story = {};
	struct world w = {};
	char *text = NULL;
	size_t len;

	story.out = open_memstream(&text, &len);
	if (!story.out)
		return NULL;
	world_run(&w, &s->plan, s, &story, o);
	fclose(story.out);
	world_free(&w);
	return text;
}

static bool write_back(const char *path, const char *original, const char *story)
{
	const char *cut = strstr(original, "\n---");
	int head = cut ? (int)(cut - original) + 1 : (int)strlen(original);
	FILE *f = fopen(path, "we");

	if (!f)
		return false;
	fprintf(f, "%.*s---\n%s", head, original, story);
	return fclose(f) == 0;
}

/* The first line in which two stories differ, for TAP. */
static void show_difference(const char *expected, const char *story)
{
	size_t number = 1, i, start = 0;

	for (i = 0; expected[i] && expected[i] == story[i]; i++) {
		if (expected[i] == '\n') {
			number++;
			start = i + 1;
		}
	}
	printf("# line %zu of the story:\n# expected %.*s\n# but was  %.*s\n", number,
	       (int)strcspn(expected + start, "\n"), expected + start,
	       (int)strcspn(story + start, "\n"), story + start);
}

static bool run_file(const char *path, bool rewrite)
{
	char *text = read_file(path), *copy = text ? strdup(text) : NULL, *story = NULL;
	struct outcome o = {};
	struct script s;
	bool ok = false;

	if (copy && script_parse(&s, path, copy))
		story = tell_story(&s, &o);
	if (story && rewrite)
		ok = write_back(path, text, story);
	else if (story && s.expected)
		ok = !strcmp(s.expected, story);
	if (story && !ok)
		show_difference(s.expected ? s.expected : "", story);
	if (o.failed.checker) {
		printf("# %s: %s\n", o.failed.checker->name, o.failed.text);
		ok = false;
	}
	free(text);
	free(copy);
	free(story);
	return ok;
}

int golden_run(const char *dir, bool rewrite)
{
	char pattern[4096];
	glob_t files;
	size_t i;
	int differ = 0;

	snprintf(pattern, sizeof(pattern), "%s/*.txt", dir);
	if (glob(pattern, 0, NULL, &files)) {
		printf("1..0 # SKIP no scripts in %s\n", dir);
		return 1;
	}
	printf("1..%zu\n", files.gl_pathc);
	for (i = 0; i < files.gl_pathc; i++) {
		const char *name = strrchr(files.gl_pathv[i], '/') + 1;
		bool ok = run_file(files.gl_pathv[i], rewrite);

		printf("%s %zu - %.*s\n", ok ? "ok" : "not ok", i + 1,
		       (int)(strlen(name) - 4), name);
		differ += !ok;
	}
	globfree(&files);
	return differ;
}
