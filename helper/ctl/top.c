// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl top: servers, holders and rates on a screen. */
#include <curses.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <term.h>
#include <unistd.h>

#include "config/conf.h"
#include "ctl/top.h"

#define INTERVAL_MIN_NS (100 * BFTM_NS_PER_MS)
#define INTERVAL_MAX_NS (3600 * BFTM_NS_PER_SEC)

static bool begin_screen(void)
{
	static const short colors[] = { -1, COLOR_YELLOW, COLOR_RED };
	short i;

	if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO) ||
	    setupterm(NULL, STDOUT_FILENO, &(int){ 0 }) == ERR || !tigetstr("cup") ||
	    !newterm(NULL, stdout, stdin))
		return false;
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	if (has_colors()) {
		start_color();
		use_default_colors();
		for (i = 0; i < 3; i++)
			init_pair((short)(i + 1), colors[i], -1);
	}
	return true;
}

/* Obeys a key; false: it ends the program. */
static bool take_key(int key, struct top_order *order)
{
	switch (key) {
	case 'q':
	case 'Q':
		return false;
	case 's':
		order->by = top_key(order->by + 1) ? order->by + 1 : 0;
		break;
	case 'r':
		order->reverse = !order->reverse;
		break;
	case KEY_DOWN:
		order->first++;
		break;
	case KEY_UP:
		order->first -= order->first > 0;
		break;
	}
	return true;
}

/* Looks and draws until a key ends it; 0, or -errno of a look. */
static int top_show(u64 interval_ns, struct top_look *now)
{
	struct top_look before = {};
	struct top_order order = {};
	int key, r = 0;

	timeout((int)(interval_ns / BFTM_NS_PER_MS));
	do {
		top_draw(now, &before, &order);
		key = getch();
		if (key != ERR)
			continue;
		top_forget(&before);
		before = *now;
		r = top_look(now);
		/* The module may come back. */
		if (r == -ENOENT || r == -EPROTONOSUPPORT)
			r = 0;
	} while (!r && isatty(STDIN_FILENO) && take_key(key, &order));
	top_forget(&before);
	return r;
}

static error_t top_parse(int key, char *arg, struct argp_state *state)
{
	u64 *interval_ns = state->input;

	if (key != 'n')
		return ARGP_ERR_UNKNOWN;
	*interval_ns = ctl_duration(state, "--interval", arg, INTERVAL_MIN_NS, INTERVAL_MAX_NS);
	return 0;
}

int ctl_top(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "interval", 'n', "DUR", 0, "Time between two looks, 100ms to 1h (1s)", 0 },
		{}
	};
	static const struct argp argp = {
		.options = options,
		.parser = top_parse,
		.children = ctl_common,
		.doc = "Show servers, holders, locks and counters on the terminal, and how much the "
		       "counters grow in a second. Keys: q quits, s sorts by the next column, r reverses "
		       "the order, up and down scroll.",
	};
	u64 interval_ns = BFTM_NS_PER_SEC;
	struct bftm_nl nl;
	struct top_look now = {};
	int r;

	ctl_parse(&argp, argc, argv, 0, &interval_ns);
	if (ctl_json)
		return ctl_fail(EX_USAGE, "top is for a terminal and takes no --json; servers, "
				"holders, locks and stats have it");
	/* A missing module or permission is reported before the screen hides the message. */
	r = ctl_open(&nl);
	if (r)
		return r;
	r = top_look(&now);
	if (!r && !begin_screen()) {
		r = ctl_fail(EX_USAGE, "top needs a terminal as standard input and output, of a kind whose "
			     "cursor can be moved; TERM is '%s'", getenv("TERM") ?: "");
	} else if (!r) {
		r = top_show(interval_ns, &now);
		endwin();
	}
	if (r < 0)
		r = ctl_refused(&nl, r, CTL_HANDLE);
	top_forget(&now);
	bftm_nl_close(&nl);
	return r;
}
