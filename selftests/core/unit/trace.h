/* SPDX-License-Identifier: GPL-2.0 */
/* Traces as text, for unit tests of bftmutex-trace. */
#ifndef BFTM_UNIT_TRACE_H
#define BFTM_UNIT_TRACE_H

#include "trace/trace.h"

/* One server, ρ = 10 %, Δ = 1000 ns: a grant lasts 1100 ns by its clock, and 900 ns by the client's. */
#define CLUSTER "{'e':'cluster','servers':1,'b':0,'rho_ppm':100000}\n"
#define MESSAGE(host, n, t, e, type, client, seq, attempt, more) \
	"{'host':'" host "','n':" #n ",'t':'" #t "','e':'" e "','type':'" type "','client':" #client \
	",'server':1,'seq':" #seq ",'attempt':" #attempt ",'name':'A'" more "}\n"
#define HELD(host, n, t, e, client, attempt) \
	"{'host':'" host "','n':" #n ",'t':" #t ",'e':'" e "','client':" #client ",'attempt':" #attempt \
	",'name':'A'}\n"

/* Client 1 sends at 100 and holds to @end; the server granted at 50. */
#define FIRST(end, how) \
	MESSAGE("c1", 1, 100, "send", "TRY", 1, 1, 5, ",'k':1,'lease_ns':1000") \
	MESSAGE("s1", 1, 50, "recv", "TRY", 1, 1, 5, ",'k':1,'lease_ns':1000") \
	MESSAGE("s1", 2, 50, "send", "FREE", 1, 1, 5, ",'k':1,'gno':1") \
	MESSAGE("c1", 2, 150, "recv", "FREE", 1, 1, 5, ",'k':1,'gno':1") \
	HELD("c1", 3, 150, "won", 1, 5) HELD("c1", 4, end, how, 1, 5)
/* Client 2 gets it when the server's clock shows @grant. */
#define SECOND(grant) \
	MESSAGE("c2", 1, 7, "send", "TRY", 2, 1, 6, ",'k':1,'lease_ns':1000") \
	MESSAGE("s1", 4, grant, "recv", "TRY", 2, 1, 6, ",'k':1,'lease_ns':1000") \
	MESSAGE("s1", 5, grant, "send", "FREE", 2, 1, 6, ",'k':1,'gno':2") \
	MESSAGE("c2", 2, 8, "recv", "FREE", 2, 1, 6, ",'k':1,'gno':2") \
	HELD("c2", 3, 8, "won", 2, 6) HELD("c2", 9, 20, "released", 2, 6)

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
	if (!trace_read(t, file, "lines", &why) || !trace_cluster_choose(t, &why) ||
	    !trace_sort(t, &why))
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

/* The verdict, with the order of all events. */
static inline struct trace_pairs judge(struct trace *t, bool no_leases, u64 within)
{
	struct trace_pairs p;
	char *why = NULL;

	if (!trace_two_holders(t, no_leases, within, &p, &why))
		fail_msg("%s", why);
	return p;
}

#endif /* BFTM_UNIT_TRACE_H */
