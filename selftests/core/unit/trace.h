/* SPDX-License-Identifier: GPL-2.0 */
/* Traces as text, for unit tests of bftmutex-trace. */
#ifndef BFTM_UNIT_TRACE_H
#define BFTM_UNIT_TRACE_H

#include "trace/trace.h"

/* A trace of these lines, sorted and with its holdings; a line may have ' for ". */
static inline struct trace *trace_of(const char *lines)
{
	struct trace *t = trace_new();
	char *text = strdup(lines), *at, *why = NULL;
	FILE *file;

	for (at = text; *at; at++)
		if (*at == '\'')
			*at = '"';
	file = fmemopen(text, strlen(text), "r");
	assert_non_null(file);
	if (!trace_read(t, file, "lines", &why) || !trace_sort(t, &why))
		fail_msg("%s", why);
	fclose(file);
	free(text);
	trace_holds(t);
	return t;
}

/* An event by its host and number. */
static inline u32 event_of(const struct trace *t, const char *host, u64 n)
{
	u32 i;

	for (i = 0; i < t->events; i++)
		if (t->event[i].n == n && !strcmp(t->host[t->event[i].host].name, host))
			return i;
	fail_msg("%s:%llu is not there", host, (unsigned long long)n);
	return 0;
}

#endif /* BFTM_UNIT_TRACE_H */
