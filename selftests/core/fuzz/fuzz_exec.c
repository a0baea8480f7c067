// SPDX-License-Identifier: GPL-2.0
/* The output of a program that is a type of objects: it is read exactly, or refused. */
#include <stdio.h>

#include "types/exec.h"
#include "fuzz.h"

/* The same output, written as helper/types/exec.h says; numbers may have zeroes before them. */
static bool is_written(const struct bftm_exec_output *out, const u8 *text, size_t len)
{
	unsigned int status, at = 0, size;
	int n = 0;

	if (sscanf((const char *)text, "status %u%n", &status, &n) != 1 || status != out->status)
		return false;
	at = (unsigned int)n + 1;
	if (out->state) {
		if (sscanf((const char *)text + at, "state %u%n", &size, &n) != 1 ||
		    size != out->state_len)
			return false;
		at += (unsigned int)n + 1;
		if (text + at != out->state)
			return false;
		at += size + 1;
	}
	if (out->response) {
		if (sscanf((const char *)text + at, "response %u%n", &size, &n) != 1 ||
		    size != out->response_len)
			return false;
		at += (unsigned int)n + 1;
		if (text + at != out->response)
			return false;
		at += size + 1;
	}
	return at == len;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	static u8 text[1 << 16];
	struct bftm_exec_output out, untouched;

	if (len >= sizeof(text))
		return 0;
	memset(&out, 0xa5, sizeof(out));
	untouched = out;
	if (!bftm_exec_parse(data, (u32)len, &out)) {
		must(!memcmp(&out, &untouched, sizeof(out)));
		return 0;
	}
	must(out.status <= 4095);
	/* Bytes that follow it are no part of it. */
	memcpy(text, data, len);
	text[len] = '\0';
	must(bftm_exec_parse(text, (u32)len, &out));
	must(is_written(&out, text, len));
	return 0;
}
