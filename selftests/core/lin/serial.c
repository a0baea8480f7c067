// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "serial.h"

#define NOBODY UINT32_MAX

const char *const serial_words[SERIAL_DOES] = { "read", "write", "update", "commit", "abort" };
const char *const serial_levels[SERIAL_LEVELS] = {
	"serializable", "recoverable", "cascadeless", "strict",
};

/** struct step - an operation; @at: index of the object, 0 for commit and abort */
struct step {
	u32 who;
	u32 at;
	u32 line;
	enum serial_does does;
};

/** struct names - texts that are numbered as they come */
struct names {
	char **name;
	u32 count;
};

/** struct serial - @end: of each transaction, the index of its last step if it has ended */
struct serial {
	struct names who;
	struct names object;
	struct step *step;
	u32 steps;
	u32 *end;
};

/** struct edge - @first is before @then, which conflicts with it */
struct edge {
	const struct step *first;
	const struct step *then;
};

/** struct graph - conflicts of transactions */
struct graph {
	struct edge *edge;
	u32 edges;
};

static void *grow(void *array, u32 count, size_t size)
{
	void *ret;

	/* A power of two has just been filled. */
	if (count & (count - 1))
		return array;
	ret = realloc(array, (count ? 2 * (size_t)count : 1) * size);
	if (!ret)
		abort();
	return ret;
}

static u32 number_of(struct names *names, const char *name, bool *new)
{
	u32 i;

	for (i = 0; i < names->count; i++)
		if (!strcmp(names->name[i], name))
			return i;
	names->name = grow(names->name, names->count, sizeof(*names->name));
	names->name[i] = strdup(name);
	if (!names->name[i])
		abort();
	names->count++;
	*new = true;
	return i;
}

static void names_free(struct names *names)
{
	while (names->count)
		free(names->name[--names->count]);
	free(names->name);
}

struct serial *serial_new(void)
{
	struct serial *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	return s;
}

void serial_free(struct serial *s)
{
	names_free(&s->who);
	names_free(&s->object);
	free(s->step);
	free(s->end);
	free(s);
}

static bool is_end(enum serial_does does)
{
	return does == SERIAL_COMMIT || does == SERIAL_ABORT;
}

bool serial_add(struct serial *s, const char *transaction, enum serial_does does,
		const char *object, u32 line)
{
	struct step step = { .does = does, .line = line };
	bool new = false, other;

	step.who = number_of(&s->who, transaction, &new);
	if (new) {
		s->end = grow(s->end, s->who.count - 1, sizeof(*s->end));
		s->end[step.who] = NOBODY;
	}
	if (s->end[step.who] != NOBODY)
		return false;
	if (is_end(does))
		s->end[step.who] = s->steps;
	else
		step.at = number_of(&s->object, object, &other);
	s->step = grow(s->step, s->steps, sizeof(*s->step));
	s->step[s->steps++] = step;
	return true;
}

static bool reads(const struct step *step)
{
	return step->does == SERIAL_READ || step->does == SERIAL_UPDATE;
}

static bool writes(const struct step *step)
{
	return step->does == SERIAL_WRITE || step->does == SERIAL_UPDATE;
}

/* Has it ended so before step @before? */
static bool ended(const struct serial *s, u32 who, enum serial_does how, u32 before)
{
	return s->end[who] < before && s->step[s->end[who]].does == how;
}

static void say_pair(const struct serial *s, FILE *to, const struct step *first,
		     const struct step *then)
{
	fprintf(to, "%s does %s %s (line %u), then %s does %s it (line %u)",
		s->who.name[first->who], serial_words[first->does], s->object.name[first->at],
		first->line, s->who.name[then->who], serial_words[then->does], then->line);
}

/* Who wrote last what step @at reads or writes, and was not undone before it? */
static const struct step *writer_before(const struct serial *s, u32 at)
{
	u32 i;

	for (i = at; i-- > 0;)
		if (!is_end(s->step[i].does) && s->step[i].at == s->step[at].at &&
		    writes(&s->step[i]) && !ended(s, s->step[i].who, SERIAL_ABORT, at))
			return &s->step[i];
	return NULL;
}

/* Does step @at contradict the property? *@ret_by is the write that it comes too early after. */
static bool contradicts(const struct serial *s, enum serial_level level, u32 at,
			const struct step **ret_by)
{
	const struct step *step = &s->step[at];
	u32 until = at;

	if (is_end(step->does) || (level != SERIAL_STRICT && !reads(step)))
		return false;
	if (level == SERIAL_RECOVERABLE) {
		if (!ended(s, step->who, SERIAL_COMMIT, s->steps))
			return false;
		until = s->end[step->who];
	}
	*ret_by = writer_before(s, at);
	return *ret_by && (*ret_by)->who != step->who &&
	       !ended(s, (*ret_by)->who, SERIAL_COMMIT, until);
}

static bool check_level(const struct serial *s, enum serial_level level, FILE *to)
{
	static const char *const why[] = {
		[SERIAL_RECOVERABLE] = "and the latter commits before the former",
		[SERIAL_CASCADELESS] = "before the former has committed",
		[SERIAL_STRICT] = "before the former has committed",
	};
	const struct step *by;
	u32 i;

	for (i = 0; i < s->steps; i++) {
		if (!contradicts(s, level, i, &by))
			continue;
		if (to) {
			fprintf(to, "not %s: ", serial_levels[level]);
			say_pair(s, to, by, &s->step[i]);
			fprintf(to, ", %s\n", why[level]);
		}
		return false;
	}
	if (to)
		fprintf(to, "%s\n", serial_levels[level]);
	return true;
}

static void add_edges(const struct serial *s, struct graph *g, u32 at)
{
	const struct step *then = &s->step[at], *first;
	u32 i;

	for (i = at; i-- > 0;) {
		first = &s->step[i];
		if (is_end(first->does) || first->at != then->at || first->who == then->who ||
		    ended(s, first->who, SERIAL_ABORT, s->steps) ||
		    (!writes(first) && !writes(then)))
			continue;
		g->edge = grow(g->edge, g->edges, sizeof(*g->edge));
		g->edge[g->edges++] = (struct edge){ first, then };
		/* A step before this write comes before @then by it. */
		if (writes(first))
			return;
	}
}

/**
 * struct search - removes transactions that nobody left has to be before
 * @left:  not removed yet; aborted ones are none
 * @order: the removed ones, @count of them
 */
struct search {
	bool *left;
	u32 *order;
	u32 count;
};

static const struct edge *edge_into(const struct graph *g, const struct search *f, u32 who)
{
	u32 i;

	for (i = 0; i < g->edges; i++)
		if (g->edge[i].then->who == who && f->left[g->edge[i].first->who])
			return &g->edge[i];
	return NULL;
}

/* All that are left have an edge from another one: back along them there is a cycle. */
static void say_cycle(const struct serial *s, const struct graph *g, const struct search *f,
		      u32 who, FILE *to)
{
	u32 i, start;

	for (i = 0; i < s->who.count; i++)
		who = edge_into(g, f, who)->first->who;
	fputs("not serializable:\n", to);
	start = who;
	do {
		const struct edge *edge = edge_into(g, f, who);

		fprintf(to, "\t%s before %s: ", s->who.name[edge->first->who],
			s->who.name[edge->then->who]);
		say_pair(s, to, edge->first, edge->then);
		fputc('\n', to);
		who = edge->first->who;
	} while (who != start);
}

static bool check_order(const struct serial *s, const struct graph *g, struct search *f, FILE *to)
{
	u32 i, left;

	do {
		left = NOBODY;
		for (i = 0; i < s->who.count; i++) {
			if (!f->left[i])
				continue;
			left = i;
			if (edge_into(g, f, i))
				continue;
			f->left[i] = false;
			f->order[f->count++] = i;
			break;
		}
	} while (i < s->who.count);
	if (left != NOBODY) {
		if (to)
			say_cycle(s, g, f, left, to);
		return false;
	}
	if (to) {
		fputs("serializable, as", to);
		for (i = 0; i < f->count; i++)
			fprintf(to, "%s %s", i ? "," : "", s->who.name[f->order[i]]);
		fputc('\n', to);
	}
	return true;
}

static bool check_serializable(const struct serial *s, FILE *to)
{
	struct search f = {
		.left = calloc(s->who.count + 1, sizeof(*f.left)),
		.order = calloc(s->who.count + 1, sizeof(*f.order)),
	};
	struct graph g = {};
	bool good;
	u32 i;

	if (!f.left || !f.order)
		abort();
	for (i = 0; i < s->who.count; i++)
		f.left[i] = !ended(s, i, SERIAL_ABORT, s->steps);
	for (i = 0; i < s->steps; i++)
		if (!is_end(s->step[i].does) && f.left[s->step[i].who])
			add_edges(s, &g, i);
	good = check_order(s, &g, &f, to);
	free(f.left);
	free(f.order);
	free(g.edge);
	return good;
}

u32 serial_check(const struct serial *s, FILE *to)
{
	u32 level, ret = check_serializable(s, to) ? 1 << SERIAL_SERIALIZABLE : 0;

	for (level = SERIAL_RECOVERABLE; level < SERIAL_LEVELS; level++)
		if (check_level(s, level, to))
			ret |= 1u << level;
	return ret;
}
