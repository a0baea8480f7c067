// SPDX-License-Identifier: GPL-2.0
static void arm(struct bftm_session *s, u64 at_ns)
{
	s->timer_ns = at_ns;
	hrtimer_start(&s->timer, ns_to_ktime(at_ns), HRTIMER_MODE_ABS_SOFT);	/* found */
}

static void right(struct bftm_session *s, u64 at_ns)
{
	lockdep_assert_held(&s->bn->upcall.lock);
	if (s->timer_ns)
		return;
	hrtimer_start(&s->timer, ns_to_ktime(at_ns), HRTIMER_MODE_ABS_SOFT);
}
