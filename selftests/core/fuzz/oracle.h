/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The oracle of the fuzzers of clients judges an attempt. It holds only while F different
 * servers said FREE, by a grant that was not given back, to a send of this attempt that is not
 * longer ago than its lease; and until it was told when it took the lock over. With a fencing
 * token, q servers have stamped it. An end never moves back. The messages that it asks to be sent
 * are bounded. RELEASE goes to those that were asked.
 */
#ifndef BFTM_FUZZ_ORACLE_H
#define BFTM_FUZZ_ORACLE_H

#include "core/backoff/client.h"
#include "fuzz.h"

#define ORACLE_SENDS_MAX 4096

/**
 * struct oracle - of one attempt
 * @attempt: its number
 * @base:    sends of those that had it before
 * @sends:   number of the last send
 * @sent_ns: of @base + 1 and later ones
 * @asked:   servers that TRY went to
 * @known_end_ns: until then it was held when it was taken over
 * @end_ns:  highest that was seen while it was held
 * @token:   that it offers
 * @stamped: servers that accepted @token
 * @k:       highest send that each server said FREE to; 0 for none
 * @granted: highest grant that each named
 * @yielded: highest grant that was given back to each
 */
struct oracle {
	u64 attempt;
	u32 base, sends;
	u64 sent_ns[ORACLE_SENDS_MAX];
	u32 asked;
	u64 known_end_ns;
	u64 end_ns;
	u64 token;
	u32 stamped;
	u32 k[BFTM_SERVERS_MAX];
	u64 granted[BFTM_SERVERS_MAX], yielded[BFTM_SERVERS_MAX];
};

extern struct oracle oracle;

/** oracle_cfg() - draw a cluster; where it asks some servers first, all are equally fast */
void oracle_cfg(struct fuzz_bytes *in, struct bftm_client_cfg *cfg);

/** oracle_want() - draw a request */
void oracle_want(struct fuzz_bytes *in, struct bftm_want *want);

/** oracle_draw() - draw an answer to @c, or to the attempt before */
void oracle_draw(struct fuzz_bytes *in, const struct bftm_contend *c, struct bftm_msg *msg);

/** oracle_attempt() - if @c is another attempt, it has made @base sends */
void oracle_attempt(const struct bftm_contend *c, u32 base);

/** oracle_sends() - after each step of @c */
void oracle_sends(const struct bftm_contend *c, u64 now);

/** oracle_answer() - before the core of @c sees an answer of server @u */
void oracle_answer(const struct bftm_contend *c, u32 u, const struct bftm_msg *msg);

/** oracle_sets() - must: whom the messages of a step go to */
void oracle_sets(const struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		 const struct bftm_out *out);

/** oracle_judge() - must: oracle_sets(), and what the step has come to */
void oracle_judge(const struct bftm_contend *c, const struct bftm_client_cfg *cfg,
		  const struct bftm_out *out, u64 now);

#endif /* BFTM_FUZZ_ORACLE_H */
