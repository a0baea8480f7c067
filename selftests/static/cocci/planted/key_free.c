// SPDX-License-Identifier: GPL-2.0
static void forget(struct bftm_client *c, struct bftm_entry *e, struct bftm_session *s)
{
	kfree(e);
	kfree(c);	/* found */
	kvfree(s);	/* found */
}

static void right(struct bftm_client *c)
{
	kfree_sensitive(c);
}
