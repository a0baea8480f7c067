// SPDX-License-Identifier: GPL-2.0
static void *locked(struct bftm_clients *t)
{
	void *c;

	spin_lock_bh(&t->lock);
	c = kzalloc(sizeof(struct bftm_client), GFP_KERNEL);	/* found */
	spin_unlock_bh(&t->lock);
	return c;
}

static void reader(struct bftm_net *bn)
{
	rcu_read_lock();
	mutex_lock(&bn->mutex);	/* found */
	rcu_read_unlock();
}

static void *right(struct bftm_clients *t)
{
	void *c;

	spin_lock_bh(&t->lock);
	t->count++;
	spin_unlock_bh(&t->lock);
	c = kzalloc(sizeof(struct bftm_client), GFP_KERNEL);
	return c;
}
