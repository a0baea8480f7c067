// SPDX-License-Identifier: GPL-2.0
/* bftmutexctl top: the screen. */
#include <curses.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include "config/conf.h"
#include "ctl/top.h"

/* Colours that top.c has made, for the verdicts of ctl_judge(): well, degraded, failed. */
#define COLOR(verdict) (COLOR_PAIR((verdict) + 1) | ((verdict) ? A_BOLD : 0))

#define TEXT_MAX 1024

static int line;

/*
 * Draws text from column @x on, in @width columns of the terminal, right-aligned when that is
 * negative. A character may have several bytes, or be wide. Returns the next column.
 */
static int draw_put(int x, int width, const char *text)
{
	wchar_t wide[TEXT_MAX];
	size_t n = mbstowcs(wide, text, TEXT_MAX), i;
	int room = abs(width), columns = 0, w;

	if (n == (size_t)-1)
		return x + room;
	for (i = 0; i < n && i < TEXT_MAX; i++) {
		w = wcwidth(wide[i]);
		if (w < 0 || columns + w > room || x + columns + w > COLS)
			break;
		columns += w;
	}
	mvaddnwstr(line, width < 0 ? x + room - columns : x, wide, (int)i);
	return x + room;
}

__attribute__((format(printf, 1, 2)))
static void put_line(const char *format, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	draw_put(0, COLS, text);
	line++;
}

/* Titles of a table; the title of column @key gets a "*". */
static void put_titles(const struct ctl_column *column, const char *key)
{
	char title[64];
	int x = 0;

	attron(A_REVERSE);
	mvhline(line, 0, ' ', COLS);
	for (; column->title; column++) {
		snprintf(title, sizeof(title), "%s%s", column->title,
			 key && !strcmp(key, column->key) ? "*" : "");
		x = draw_put(x, column[1].title ? -column->width : COLS, title) + 2;
	}
	attroff(A_REVERSE);
	line++;
}

static void put_row(const struct ctl_column *column, struct json_object *row)
{
	struct json_object *text;
	int x = 0;

	for (; column->title; column++) {
		text = ctl_shown(column->key, ctl_member(row, column->key));
		x = draw_put(x, column[1].title ? -column->width : COLS,
			     json_object_get_string(text) ?: "") + 2;
		json_object_put(text);
	}
	line++;
}

/* Draws rows in at most @most lines, the last of which gives the number of further rows. */
static void put_table(const char *what, const struct ctl_column *column, struct json_object *rows,
		      const struct top_order *order, int most)
{
	u32 count = (u32)ctl_length(rows), i = order->first < count ? order->first : 0;
	int end = line + most - 1;

	if (most < 3)
		return;
	put_line("%s: %u", what, count);
	if (!count)
		return;
	top_sort(rows, order);
	put_titles(column, top_key(order->by));
	for (; i < count && (line < end || (line == end && i + 1 == count)); i++)
		put_row(column, json_object_array_get_idx(rows, i));
	if (i < count)
		put_line("  and %u more", count - i);
}

/* A rate in a few characters, "-" when it is not known. */
static void add_rate(struct json_object *row, const char *key, double rate)
{
	char text[32];

	snprintf(text, sizeof(text), rate < 0 ? "-" : rate < 10 ? "%.1f" : "%.0f", rate);
	json_object_object_add(row, key, json_object_new_string(text));
}

static void put_servers(struct json_object *cluster, struct json_object *before, u64 elapsed_ns)
{
	static const struct ctl_column columns[] = {
		{ "id", "ID", 5 }, { "state", "STATE", -10 }, { "suspect", "SUSPECT", -7 },
		{ "quarantine_ns", "QUARANTINE", 10 }, { "rtt_ns", "RTT", 8 },
		{ "sent_rate", "SENT/s", 8 }, { "unanswered_rate", "SILENT/s", 8 },
		{ "disagreed", "DISAGREED", 9 }, { "bad", "BAD", 6 }, { "address", "ADDRESS", 0 }, {}
	};
	struct json_object *servers = ctl_member(cluster, "servers"), *row, *old;
	const char *state;
	size_t i;
	int bad;

	put_titles(columns, NULL);
	for (i = 0; i < ctl_length(servers); i++) {
		row = json_object_array_get_idx(servers, i);
		old = top_same(ctl_member(before, "servers"), row, "id");
		add_rate(row, "sent_rate", top_rate(row, old, "sent", elapsed_ns));
		add_rate(row, "unanswered_rate", top_rate(row, old, "unanswered", elapsed_ns));
		state = json_object_get_string(ctl_member(row, "state")) ?: "";
		bad = json_object_get_boolean(ctl_member(row, "suspect")) ? 2 :
		      strcmp(state, "ok") && strcmp(state, "slow");
		attron(COLOR(bad));
		put_row(columns, row);
		attroff(COLOR(bad));
	}
}

static void put_clusters(const struct top_look *now, const struct top_look *before)
{
	struct json_object *clusters = ctl_member(now->servers, "clusters"), *cluster;
	char text[TEXT_MAX];
	int verdict = 2;
	size_t i;

	if (now->error)
		snprintf(text, sizeof(text), "failed: bftmutexd %s",
			 now->error == -ECONNREFUSED ? "is not running in this network namespace" :
			 now->error == -EAGAIN ? "does not answer" : strerror(-now->error));
	else
		verdict = ctl_judge(now->servers, text, sizeof(text));
	attron(COLOR(verdict));
	put_line("%s", text);
	attroff(COLOR(verdict));
	for (i = 0; i < ctl_length(clusters); i++) {
		cluster = json_object_array_get_idx(clusters, i);
		line++;
		put_line("cluster %s: %s servers, %s of them may lie; the kernel took %s locks by itself",
			 json_object_get_string(ctl_member(cluster, "name")),
			 json_object_get_string(ctl_member(cluster, "n")),
			 json_object_get_string(ctl_member(cluster, "b")),
			 json_object_get_string(ctl_member(cluster, "fast_won")));
		put_servers(cluster, top_same(ctl_member(before->servers, "clusters"), cluster, "name"),
			    now->at_ns - before->at_ns);
	}
}

/* "3.1/s" of each counter */
static void put_rates(const char *what, struct json_object *now, struct json_object *before,
		      u64 elapsed_ns, const char *const *key)
{
	char text[TEXT_MAX];
	size_t len = (size_t)snprintf(text, sizeof(text), "%s", what);
	double rate;

	for (; *key && len < sizeof(text); key++) {
		rate = top_rate(now, before, *key, elapsed_ns);
		len += (size_t)snprintf(text + len, sizeof(text) - len, rate < 0 ? "  %s -" : "  %s %.1f/s",
					*key, rate);
	}
	put_line("%s", text);
}

static void put_server(const struct top_look *now, const struct top_look *before)
{
	static const char *const keys[] = {
		"received", "granted", "locked", "queued", "refused", "bad_tag", NULL
	};
	struct json_object *left = ctl_shown("quarantine_ns", ctl_member(now->server, "quarantine_ns"));

	line++;
	put_line("server %s of cluster %s runs here; its quarantine: %s; clients: %s",
		 json_object_get_string(ctl_member(now->server, "id")),
		 json_object_get_string(ctl_member(now->server, "cluster")),
		 json_object_get_string(left),
		 json_object_get_string(ctl_member(now->server, "clients")));
	json_object_put(left);
	put_rates("requests:", ctl_member(now->server, "stats"), ctl_member(before->server, "stats"),
		  now->at_ns - before->at_ns, keys);
}

static void put_heading(const struct top_order *order)
{
	time_t now = time(NULL);
	char text[64];
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(text, sizeof(text), "%H:%M:%S", &tm);
	attron(A_BOLD);
	put_line(CTL_NAME " top  %s  q: quit  s: sort, by %s  r: turn round  up, down: scroll", text,
		 top_key(order->by));
	attroff(A_BOLD);
}

void top_draw(const struct top_look *now, const struct top_look *before,
	      const struct top_order *order)
{
	static const char *const keys[] = {
		"won", "released", "renewed", "busy", "timeouts", "failed", "lost", NULL
	};
	static const struct ctl_column handles[] = {
		{ "state", "STATE", -8 }, { "mode", "MODE", -5 }, { "goal", "TO", -3 },
		{ "reason", "REASON", -11 },
		{ "remaining_ns", "REMAINING", 10 }, { "token", "TOKEN", 8 },
		{ "attempts", "TRIES", 6 }, { "pid", "PID", 8 }, { "comm", "COMMAND", -15 },
		{ "name", "LOCK", 0 }, {}
	};
	static const struct ctl_column locks[] = {
		{ "client", "CLIENT", 10 }, { "mode", "MODE", -5 }, { "holders", "HOLDERS", 8 },
		{ "remaining_ns", "REMAINING", 10 }, { "waiters", "WAITERS", 8 }, { "token", "TOKEN", 8 }, { "name", "LOCK", 0 }, {}
	};
	int most;

	erase();
	line = 0;
	put_heading(order);
	put_clusters(now, before);
	if (now->server)
		put_server(now, before);
	line++;
	put_rates("locks of this host:", now->local, before->local, now->at_ns - before->at_ns, keys);
	/*
	 * Each table gets half of the remaining lines, and the lines that the other one does not
	 * need.
	 */
	most = LINES - line;
	if (now->server && (int)ctl_length(now->locks) + 3 < most / 2)
		most -= (int)ctl_length(now->locks) + 3;
	else if (now->server)
		most -= most / 2;
	put_table("held here, waited for or lost", handles, now->handles, order, most);
	line++;
	if (now->server)
		put_table("in the table of the server", locks, now->locks, order, LINES - line);
	refresh();
}
