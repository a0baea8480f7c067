// SPDX-License-Identifier: GPL-2.0
static struct bftm_fast *new(void)
{
	return kmalloc(sizeof(struct bftm_fast), GFP_KERNEL);	/* found */
}

static struct bftm_fast *right(void)
{
	return kmalloc(sizeof(struct bftm_fast), GFP_ATOMIC);
}
