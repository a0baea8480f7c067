/* SPDX-License-Identifier: GPL-2.0 */
/* The report of bftmutex-trace about two holders. */
#ifndef BFTM_TRACE_REPORT_H
#define BFTM_TRACE_REPORT_H

#include "trace/trace.h"

/** trace_report() - the verdict, each pair that messages do not order, and what else was found */
void trace_report(const struct trace *t, const struct trace_pairs *p, bool json, FILE *out);

#endif /* BFTM_TRACE_REPORT_H */
