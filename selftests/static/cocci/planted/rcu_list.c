// SPDX-License-Identifier: GPL-2.0
static struct bftm_client *find(struct hlist_head *head, u32 id)
{
	struct bftm_client *c;

	hlist_for_each_entry_rcu(c, head, hash) {
		if (c->id == id)
			return c;
	}
	return NULL;
}

static void forget(struct bftm_client *c, struct bftm_entry *e)
{
	hlist_del_init(&c->hash);	/* found */
	hlist_del(&e->hash);
	hlist_del_rcu(&c->hash);
}
