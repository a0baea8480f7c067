// SPDX-License-Identifier: GPL-2.0
static u32 place(const struct bftm_acquire *arg)
{
	return jhash(arg->name, arg->name_len, 0);	/* found */
}

static u64 place_of(const struct bftm_acquire *arg, const siphash_key_t *secret)
{
	return siphash(arg->name, arg->name_len, secret);
}
