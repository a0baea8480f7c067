// SPDX-License-Identifier: GPL-2.0
static bool over(u64 until_ns)
{
	return ktime_get_ns() > until_ns;	/* found */
}

static bool late(unsigned long at)
{
	return time_after(jiffies, at);	/* found */
}

static bool right(u64 until_ns)
{
	return ktime_get_boottime_ns() > until_ns;
}
