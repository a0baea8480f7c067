// SPDX-License-Identifier: GPL-2.0
/* A violation, for people. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define LINES 12
#define TEXT 60

void lin_print_text(FILE *to, const u8 *data, u32 len)
{
	u32 i;

	for (i = 0; i < len && i < TEXT; i++) {
		if (data[i] < 0x20 || data[i] > 0x7e || data[i] == '\\')
			fprintf(to, "\\x%02x", data[i]);
		else
			fputc(data[i], to);
	}
	if (len > TEXT)
		fprintf(to, "… (%u bytes)", len);
}

static void print_call(FILE *to, const struct lin_call *call, u64 zero)
{
	const struct lin_op *op = call->op;

	fprintf(to, "  %12.6f ", (double)(op->invoke_ns - zero) / 1e6);
	if (op->return_ns == LIN_NEVER)
		fprintf(to, "%12s", "never");
	else
		fprintf(to, "%12.6f", (double)(op->return_ns - zero) / 1e6);
	fprintf(to, "  %4u/%-6" PRIu64 " '", op->client, op->process);
	lin_print_text(to, op->request, op->request_len);
	if (op->return_ns == LIN_NEVER) {
		fputs("' no answer", to);
	} else {
		fputs(op->status ? "' " : "' → '", to);
		if (op->status)
			fprintf(to, "%s → '", strerrorname_np((int)op->status) ?: "?");
		lin_print_text(to, op->response, op->response_len);
		fputc('\'', to);
	}
	if (op->version)
		fprintf(to, " (version %" PRIu64 ")", op->version);
	fputc('\n', to);
}

/* The last moment before @until at which something returned; 0 for none. */
static u64 moment_before(const struct lin_call *call, u32 calls, u64 until)
{
	u64 last = 0;
	u32 i;

	for (i = 0; i < calls; i++)
		if (call[i].op->return_ns < until && call[i].op->return_ns > last)
			last = call[i].op->return_ns;
	return last;
}

void lin_print(FILE *to, const char *object, const struct lin_model *model,
	       const struct lin_texts *texts, struct lin_call *call, u32 calls, bool exists,
	       u64 until)
{
	u32 *order = calloc(calls + 1, sizeof(*order)), ordered = 0, i, shown = 0;
	u64 steps = UINT64_MAX, zero = calls ? call[0].op->invoke_ns : 0;
	bool *placed = calloc(calls + 1, sizeof(*placed));

	if (!order || !placed)
		abort();
	fprintf(to, "object %s, a %s: not linearizable.\n", object, model->name);
	lin_search(model, texts, call, calls, exists, moment_before(call, calls, until), &steps,
		   order, &ordered);
	fputs("       invoked     returned  client/process, times in ms\n", to);
	if (ordered > LINES)
		fprintf(to, "  … %u before\n", ordered - LINES);
	for (i = 0; i < ordered; i++) {
		placed[order[i]] = true;
		if (i + LINES >= ordered)
			print_call(to, &call[order[i]], zero);
	}
	fputs(ordered ? "explain all answers before, in this order; but none explains\n" :
			"nothing explains\n", to);
	for (i = 0; i < calls; i++)
		if (call[i].op->return_ns == until)
			print_call(to, &call[i], zero);
	for (i = 0; i < calls && call[i].op->invoke_ns <= until; i++) {
		if (placed[i] || call[i].op->return_ns == until)
			continue;
		if (!shown++)
			fputs("as well, with or without\n", to);
		if (shown <= LINES)
			print_call(to, &call[i], zero);
	}
	if (shown > LINES)
		fprintf(to, "  … %u more\n", shown - LINES);
	free(order);
	free(placed);
}
