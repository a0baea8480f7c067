// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdarg.h>

#include "story.h"

/* Lines about a violation that are shown, and how many of them are datagrams. */
#define SHOWN_MAIN	24
#define SHOWN_ALL	80

static char *next_text(size_t *size)
{
	static __thread char text[16][160];
	static __thread unsigned int next;

	*size = sizeof(text[0]);
	return text[next++ % 16];
}

const char *story_span(u64 ns)
{
	static const struct {
		const char *name;
		u64 ns;
	} unit[] = {
		{ "s", BFTM_NS_PER_SEC }, { "ms", BFTM_NS_PER_MS }, { "us", BFTM_NS_PER_US },
		{ "ns", 1 },
	};
	size_t size, len, i = 0;
	char *text = next_text(&size);

	while (i < 3 && ns < unit[i].ns)
		i++;
	len = (size_t)snprintf(text, size, "%" PRIu64, ns / unit[i].ns);
	if (ns % unit[i].ns) {
		u64 rest = ns % unit[i].ns;
		int digits = i == 0 ? 9 : i == 1 ? 6 : 3;

		for (; rest % 10 == 0; digits--)
			rest /= 10;
		len += (size_t)snprintf(text + len, size - len, ".%0*" PRIu64, digits, rest);
	}
	snprintf(text + len, size - len, " %s", unit[i].name);
	return text;
}

const char *story_lock(u32 lock)
{
	size_t size;
	char *text = next_text(&size);

	if (lock < 26)
		snprintf(text, size, "%c", 'A' + (char)lock);
	else
		snprintf(text, size, "L%u", lock);
	return text;
}

const char *story_mode(enum bftm_mode mode)
{
	static const char *const names[BFTM_MODES] = { "NL", "CR", "CW", "PR", "PW", "EX" };

	return names[mode];
}

const char *story_number(u64 number)
{
	size_t size;
	char *text = next_text(&size);

	snprintf(text, size, "%" PRIu64, number);
	return text;
}

const char *story_servers(const struct world *w, u32 mask)
{
	size_t size, len = 0;
	char *text = next_text(&size);
	u32 u;

	if (!mask)
		return "none";
	if (mask == (u32)((1ull << w->plan->n) - 1) && w->plan->n > 1)
		return "all";
	for (u = 0; u < w->plan->n; u++)
		if (mask >> u & 1)
			len += (size_t)snprintf(text + len, size - len, "%ss%u", len ? " " : "",
						u + 1);
	return text;
}

const char *story_attempt(const struct world *w, u64 attempt)
{
	size_t size;
	char *text = next_text(&size);

	(void)w;
	snprintf(text, size, "#%" PRIu64 ".%" PRIu64, attempt >> 32, attempt & 0xffffffff);
	return text;
}

static void print(FILE *out, u64 at, const char *text)
{
	fprintf(out, "%10" PRIu64 ".%06" PRIu64 "  %s\n", (u64)(at / MS),
		(u64)(at % MS), text);
}

void story_add(struct world *w, u32 lock, bool is_main, u64 at, const char *format, ...)
{
	struct story *s = w->story;
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (s->out) {
		print(s->out, at, text);
		return;
	}
	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : 1024;
		s->line = realloc(s->line, s->room * sizeof(*s->line));
		if (!s->line)
			abort();
	}
	s->line[s->count++] = (struct line){
		.at = at, .lock = lock, .main = is_main, .text = strdup(text),
	};
}

/* Of lines about this lock or about no lock, the last so many. */
static size_t first_shown(const struct story *s, u32 lock)
{
	size_t i = s->count, mains = 0, all = 0;

	while (i && mains < SHOWN_MAIN && all < SHOWN_ALL) {
		i--;
		if (s->line[i].lock != lock && !(s->line[i].lock == NO_LOCK && s->line[i].main))
			continue;
		mains += s->line[i].main;
		all++;
	}
	return i;
}

void story_print_end(const struct story *s, const struct violation *failed, FILE *out)
{
	size_t first = first_shown(s, failed->lock), left = 0, i;
	const struct line *line;

	for (i = 0; i < first; i++)
		left += s->line[i].main && s->line[i].lock == failed->lock;
	if (left)
		fprintf(out, "                   … %zu lines about %s before\n", left,
			failed->lock == NO_LOCK ? "the cluster" : story_lock(failed->lock));
	for (i = first; i < s->count; i++) {
		line = &s->line[i];
		if (line->lock == failed->lock || (line->lock == NO_LOCK && line->main))
			print(out, line->at, line->text);
	}
}

void story_free(struct story *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		free(s->line[i].text);
	free(s->line);
	*s = (struct story){};
}
