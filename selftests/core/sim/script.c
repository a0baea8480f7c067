// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "order.h"
#include "script.h"
#include "story.h"

/* "5ms", "80us", "1s" */
static bool parse_time(const char *word, u64 *ret)
{
	char unit[4] = {};
	double value;

	if (sscanf(word, "%lf%3s", &value, unit) != 2 || value < 0)
		return false;
	if (!strcmp(unit, "s"))
		*ret = (u64)(value * 1e9);
	else if (!strcmp(unit, "ms"))
		*ret = (u64)(value * 1e6);
	else if (!strcmp(unit, "us"))
		*ret = (u64)(value * 1e3);
	else
		return false;
	return true;
}

/* "c2" is client 1 */
static bool parse_who(const char *word, char kind, u32 count, u32 *ret)
{
	u32 number;

	if (word[0] != kind || sscanf(word + 1, "%u", &number) != 1 || !number || number > count)
		return false;
	*ret = number - 1;
	return true;
}

/* "ask first" */
static bool parse_ask(const char *word, u32 *ret)
{
	for (*ret = 0; *ret < ASKS; ++*ret)
		if (!strcmp(word, ask_names[*ret]))
			return true;
	return false;
}

static bool parse_pair(struct script *s, const char *name, const char *value)
{
	struct plan *p = &s->plan;
	u32 number = (u32)strtoul(value, NULL, 10);

	if (!strcmp(name, "servers"))
		p->n = number;
	else if (!strcmp(name, "b"))
		p->b = number;
	else if (!strcmp(name, "m"))
		p->m = number;
	else if (!strcmp(name, "spared"))
		p->spared = p->forget = number;
	else if (!strcmp(name, "clients"))
		p->clients = number;
	else if (!strcmp(name, "seed"))
		p->seed = number;
	else if (!strcmp(name, "lease"))
		return parse_time(value, &p->lease_max);
	else if (!strcmp(name, "delay"))
		return parse_time(value, &s->delay);
	else if (!strcmp(name, "values"))
		p->values = number ? PPM : 0;
	else if (!strcmp(name, "ask") && parse_ask(value, &p->ask))
		return true;
	else if (!strcmp(name, "kernel"))
		p->kernel = number;
	else if (!strcmp(name, "leaseless"))
		p->leaseless = number ? PPM : 0;
	else if (!strcmp(name, "continues"))
		p->order.continues = number ? PPM : 0;
	else if (!strcmp(name, "alone"))
		p->order.alone = number;
	else if (!strcmp(name, "signed"))
		p->order.signed_ranks = number;
	else if (!strcmp(name, "protocol") && !strcmp(value, protocol_order.name))
		p->protocol = &protocol_order;
	else
		return false;
	return true;
}

/* "at 0ms c1 submits add 1" */
static bool parse_submit(struct script *s, struct script_line *l, char **word, u32 words)
{
	size_t len = 0;
	u32 i;

	l->verb = SCRIPT_SUBMITS;
	for (i = 4; i < words && len < sizeof(l->request); i++)
		len += (size_t)snprintf(l->request + len, sizeof(l->request) - len, "%s%s",
					i > 4 ? " " : "", word[i]);
	return words > 4 && len < sizeof(l->request) && s->plan.protocol->orders &&
	       parse_who(word[2], 'c', s->plan.clients, &l->client);
}

/* "at 20ms c1 converts EX" */
static bool parse_convert(struct script *s, struct script_line *l, char **word, u32 words)
{
	l->verb = SCRIPT_CONVERTS;
	for (l->mode = BFTM_MODE_CR; l->mode < BFTM_MODES; l->mode++)
		if (words == 5 && !strcmp(word[4], story_mode(l->mode)))
			return parse_who(word[2], 'c', s->plan.clients, &l->client);
	return false;
}

/* "at 20ms c1 leaves 7" */
static bool parse_leaves(struct script *s, struct script_line *l, char **word, u32 words)
{
	l->verb = SCRIPT_LEAVES;
	return words == 5 && sscanf(word[4], "%lu", &l->value) == 1 && l->value &&
	       parse_who(word[2], 'c', s->plan.clients, &l->client);
}

/* "at 20ms s2 evicts c1" */
static bool parse_evict(struct script *s, struct script_line *l, char **word, u32 words)
{
	l->verb = SCRIPT_EVICTS;
	return words == 5 && parse_who(word[2], 's', s->plan.n, &l->server) &&
	       parse_who(word[4], 'c', s->plan.clients, &l->client);
}

static bool parse_verb(struct script *s, struct script_line *l, char **word, u32 words)
{
	static const struct {
		const char *name;
		enum script_verb verb;
		u32 words;
	} verbs[] = {
		{ "wants", SCRIPT_WANTS, 5 }, { "queues", SCRIPT_QUEUES, 5 },
		{ "keeps", SCRIPT_KEEPS, 5 }, { "fences", SCRIPT_FENCES, 5 },
		{ "reads", SCRIPT_READS, 5 }, { "writes", SCRIPT_WRITES, 5 }, { "gives", SCRIPT_GIVES, 4 },
		{ "stays", SCRIPT_STAYS, 4 }, { "dies", SCRIPT_DIES, 4 }, { "stops", SCRIPT_STOPS, 5 },
		{ "restarts", SCRIPT_RESTARTS, 4 }, { "takes", SCRIPT_TAKES, 6 },
	};
	u32 n = s->plan.n, clients = s->plan.clients, i, place = words == 6 ? 4 : 3;

	if (words < 4 || !parse_time(word[1], &l->at))
		return false;
	if (!strcmp(word[3], "submits"))
		return parse_submit(s, l, word, words);
	if (!strcmp(word[3], "leaves"))
		return parse_leaves(s, l, word, words);
	if (!strcmp(word[3], "evicts"))
		return parse_evict(s, l, word, words);
	if (!strcmp(word[3], "converts"))
		return parse_convert(s, l, word, words);
	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(word[place], verbs[i].name) && words == verbs[i].words)
			break;
	if (i == sizeof(verbs) / sizeof(verbs[0]))
		return false;
	l->verb = verbs[i].verb;
	if (words >= 5 && !parse_time(word[words - 1], &l->ns))
		return false;
	l->to = word[2][0] == 'c' ? TO_SERVER : TO_CLIENT;
	if (l->verb == SCRIPT_RESTARTS && l->to == TO_CLIENT)
		return parse_who(word[2], 's', n, &l->server);
	if (l->verb != SCRIPT_TAKES)
		return parse_who(word[2], 'c', clients, &l->client);
	return parse_who(word[l->to == TO_SERVER ? 2 : 3], 'c', clients, &l->client) &&
	       parse_who(word[l->to == TO_SERVER ? 3 : 2], 's', n, &l->server);
}

static bool parse_line(struct script *s, char *text)
{
	char *word[16], *rest = NULL;
	u32 words = 0, i;

	for (word[0] = strtok_r(text, " \t", &rest); words < 15 && word[words];)
		word[++words] = strtok_r(NULL, " \t", &rest);
	if (!words || word[0][0] == '#')
		return true;
	if (!strcmp(word[0], "at"))
		return s->lines < SCRIPT_LINES &&
		       parse_verb(s, &s->line[s->lines++], word, words);
	if (!strcmp(word[0], "end"))
		return words == 2 && parse_time(word[1], &s->end);
	if (!strcmp(word[0], "liar")) {
		s->plan.liars = 1;
		s->plan.faults = 1u << FAULT_LIARS;
		return words == 2 && snprintf(s->strategy, sizeof(s->strategy), "%s", word[1]) > 0;
	}
	for (i = 0; i + 1 < words; i += 2)
		if (!parse_pair(s, word[i], word[i + 1]))
			return false;
	return i == words;
}

bool script_parse(struct script *s, const char *path, char *text)
{
	char *line, *next;
	u32 number = 1;

	*s = (struct script){
		.plan = {
			.protocol = &protocol_ours, .seed = 1, .n = 4, .b = 1, .clients = 1,
			.handles = 1, .locks = 1, .rho = 2000, .lease_max = 100 * MS,
			.delay = DELAY_CONSTANT, .exponent = 2, .retry_max = 100 * 100 * MS,
			.hello = true, .fence = PPM,
			.order = {
				.careless = PPM, .state_max = BFTM_STATE_DEFAULT,
				.response_room = BFTM_ORDER_ROOM_SURE, .caches = true,
			},
		},
		.delay = 5 * MS, .end = 1000 * MS,
	};
	for (line = text; line; line = next, number++) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		if (!strncmp(line, "---", 3)) {
			s->expected = next;
			break;
		}
		if (!parse_line(s, line)) {
			fprintf(stderr, "%s:%u: not understood\n", path, number);
			return false;
		}
	}
	s->plan.delta = 2 * s->delay;
	s->plan.resend = 4 * s->plan.delta;
	s->plan.lease_min = s->plan.lease_max;
	s->plan.safety = s->end + 1;
	s->plan.order.limit = s->plan.lease_max;
	return s->plan.n && s->plan.n <= BFTM_SERVERS_MAX && s->plan.clients &&
	       s->plan.b < s->plan.n && s->plan.liars <= s->plan.n;
}

void script_start(struct world *w)
{
	u32 links = w->plan->clients * w->plan->n, i;

	for (i = 0; i < 2; i++)
		w->link_ns[i] = arena_array(&w->arena, u64, links);
	for (i = 0; i < links; i++)
		w->link_ns[TO_SERVER][i] = w->link_ns[TO_CLIENT][i] = w->script->delay;
	for (i = 0; i < w->script->lines; i++)
		queue_push(&w->queue, w->script->line[i].at, EVENT_SCRIPT, 0)->part = i;
	w->end = w->script->end;
}

static void wants(struct world *w, const struct script_line *l)
{
	struct handle *h = &w->client[l->client].handle[0];

	h->app = APP_ASKING;
	h->stamp++;
	h->want = (struct bftm_want){
		.lease_ns = l->verb == SCRIPT_STAYS ? BFTM_LEASE_NONE : l->ns,
		.wait = l->verb == SCRIPT_WANTS ? BFTM_WAIT_BACKOFF : BFTM_WAIT_QUEUE,
		.renew = l->verb == SCRIPT_KEEPS || l->verb == SCRIPT_READS ||
			 l->verb == SCRIPT_WRITES,
		.fence = l->verb == SCRIPT_FENCES,
		.mode = l->verb == SCRIPT_READS ? BFTM_MODE_PR :
			l->verb == SCRIPT_WRITES ? BFTM_MODE_PW : BFTM_MODE_EX,
		.value = w->plan->values,
	};
	client_begin(w, l->client, 0);
}

void script_line(struct world *w, u32 i)
{
	const struct script_line *l = &w->script->line[i];
	struct handle *h = &w->client[l->client].handle[0];

	switch (l->verb) {
	case SCRIPT_SUBMITS:
		order_app_script(w, l->client, l->request);
		break;
	case SCRIPT_WANTS:
	case SCRIPT_QUEUES:
	case SCRIPT_KEEPS:
	case SCRIPT_FENCES:
	case SCRIPT_READS:
	case SCRIPT_WRITES:
	case SCRIPT_STAYS:
		wants(w, l);
		break;
	case SCRIPT_CONVERTS:
		client_convert(w, l->client, 0, &(struct bftm_conversion){
			.mode = l->mode, .fence = h->want.fence,
		});
		break;
	case SCRIPT_LEAVES:
		h->leaves = l->value;
		break;
	case SCRIPT_GIVES:
		h->app = APP_IDLE;
		client_end(w, l->client, 0);
		break;
	case SCRIPT_EVICTS:
		server_evict(w, l->server, l->client, (u32)w->client[l->client].incarnation);
		break;
	case SCRIPT_DIES:
		client_down(w, l->client, true, NEVER / 2);
		break;
	case SCRIPT_STOPS:
		w->client[l->client].busy_until = w->now + l->ns;
		tell(w, NO_LOCK, "c%u stops for %s", l->client + 1, story_span(l->ns));
		break;
	case SCRIPT_RESTARTS:
		if (l->to == TO_SERVER)
			client_down(w, l->client, false, 0);
		else
			server_crash(w, l->server, 0);
		break;
	case SCRIPT_TAKES:
		w->link_ns[l->to][link_of(w, l->client, l->server)] = l->ns;
	}
}
