// SPDX-License-Identifier: GPL-2.0
static int put(struct sk_buff *msg, struct bftm_client *c)
{
	nla_put_u32(msg, 1, c->id);	/* found */
	return nla_put_u32(msg, 2, c->id);
}

static void take(struct bftm_client *c, u64 seq)
{
	bftm_client_take(c, seq, 0, NULL);	/* found */
	if (bftm_client_take(c, seq, 0, NULL))
		c->id++;
}
