// SPDX-License-Identifier: GPL-2.0
/* Parses the output of programs; see exec.h. */
#include "types/exec.h"

#define STATUS_MAX 4095

struct reader {
	const u8 *at;
	u32 left;
};

static bool skip(struct reader *in, const char *word)
{
	u32 len = (u32)strlen(word);

	if (in->left < len || memcmp(in->at, word, len))
		return false;
	in->at += len;
	in->left -= len;
	return true;
}

/* "WORD NUMBER\n" */
static bool exec_text_number(struct reader *in, const char *word, u32 max, u32 *ret)
{
	u64 value = 0;
	u32 digits = 0;

	if (!skip(in, word))
		return false;
	for (; digits < in->left && in->at[digits] >= '0' && in->at[digits] <= '9'; digits++) {
		value = value * 10 + (in->at[digits] - (u32)'0');
		if (value > max)
			return false;
	}
	in->at += digits;
	in->left -= digits;
	*ret = value;
	return digits && skip(in, "\n");
}

/* "WORD LEN\n", the bytes, "\n"; or none of these. */
static bool bytes(struct reader *in, const char *word, u32 max, const u8 **ret, u32 *ret_len)
{
	if (!in->left || *in->at != (u8)*word)
		return true;
	if (!exec_text_number(in, word, max, ret_len) || in->left < *ret_len)
		return false;
	*ret = in->at;
	in->at += *ret_len;
	in->left -= *ret_len;
	return skip(in, "\n");
}

bool bftm_exec_parse(const u8 *text, u32 len, struct bftm_exec_output *ret)
{
	struct reader in = { text, len };
	struct bftm_exec_output output = {};

	if (!exec_text_number(&in, "status ", STATUS_MAX, &output.status) ||
	    !bytes(&in, "state ", BFTM_STATE_MAX, &output.state, &output.state_len) ||
	    !bytes(&in, "response ", BFTM_OP_MAX, &output.response, &output.response_len) ||
	    in.left)
		return false;
	*ret = output;
	return true;
}
