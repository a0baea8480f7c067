/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How long each server takes for an answer: of a host and a cluster, for all its locks. An
 * answer names the number of its request, so it is counted from the send of that request and
 * of no other: neither losses nor repetitions lengthen it.
 */
#ifndef BFTM_CORE_SPEED_H
#define BFTM_CORE_SPEED_H

#include "core/limits.h"
#include "core/quorum.h"
#include "core/types.h"

/** struct bftm_speed - smoothed round trip of each server, 0 while it is not known */
struct bftm_speed {
	u64 srtt_ns[BFTM_SERVERS_MAX];
};

/**
 * bftm_speed_answered() - server @u has answered at @now what was sent to it at @sent_ns
 * @s:       zeroed before first use
 * @u:       its number, less than BFTM_SERVERS_MAX
 * @sent_ns: by the clock of leases, ns
 * @now:     likewise
 *
 * The first answer is believed, each further one moves the mean by an eighth (RFC 6298). The
 * mean never leaves the range of what was measured.
 */
static inline void bftm_speed_answered(struct bftm_speed *s, u32 u, u64 sent_ns, u64 now)
{
	u64 rtt = now > sent_ns ? now - sent_ns : 1;
	u64 *srtt = &s->srtt_ns[u];

	if (!*srtt)
		*srtt = rtt;
	else if (rtt > *srtt)
		*srtt += (rtt - *srtt) / 8;
	else
		*srtt -= (*srtt - rtt) / 8;
}

/** bftm_speed_slow() - does server @u take longer than this, as far as is known? */
static inline bool bftm_speed_slow(const struct bftm_speed *s, u32 u, u64 most_ns)
{
	return s->srtt_ns[u] > most_ns;
}

/**
 * bftm_speed_of() - R: how long @f servers take, the fastest ones that are known
 * @s:          round trips of the cluster's servers
 * @f:          number of servers that have to answer, at least 1
 * @unknown_ns: what is returned while fewer than @f are known, ns
 *
 * The @f-th smallest: b liars move it to no value that no correct server among @f has.
 */
static inline u64 bftm_speed_of(const struct bftm_speed *s, u32 f, u64 unknown_ns)
{
	u64 known[BFTM_SERVERS_MAX];
	u32 u, count = 0;

	for (u = 0; u < BFTM_SERVERS_MAX; u++)
		if (s->srtt_ns[u])
			known[count++] = s->srtt_ns[u];
	return count < f ? unknown_ns : bftm_kth_largest(known, count, count - f + 1);
}

#endif /* BFTM_CORE_SPEED_H */
