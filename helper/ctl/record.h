/* SPDX-License-Identifier: GPL-2.0 */
/* bftmutexctl trace record: entries wait until those before them can be no more, and are printed. */
#ifndef BFTM_CTL_RECORD_H
#define BFTM_CTL_RECORD_H

#include <json-c/json.h>

#include "config/conf.h"
#include "core/wire.h"

/**
 * struct record_entry - an event of this host
 * @at:      time of day, ns
 * @order:   of entries with the same time
 * @attempt: of a datagram
 * @release: RELEASE of this @attempt, that leaves
 * @line:    what will be printed
 */
struct record_entry {
	u64 at, order, attempt;
	bool release;
	struct json_object *line;
};

/** struct record_held - a lock that this host holds, by the number of its handle's request */
struct record_held {
	u64 id, attempt;
	u32 client;
};

/** struct record_asker - who sent TRY for an attempt last */
struct record_asker {
	u64 attempt;
	u32 client;
};

#define RECORD_HOST_LEN_MAX 64u	/* bytes, as bftmutex-trace reads them and gethostname() has them */
#define RECORD_ASKERS 4096	/* a power of 2 */

/** struct record - a recording; zeroed, but for @host, @port and @packets */
struct record {
	const char *host;
	u16 port;
	int packets;
	struct record_entry *entry;
	struct record_held *held;
	struct record_asker asker[RECORD_ASKERS];
	u32 entries, room, helds, helds_room;
	u64 order, n;
};

/** struct record_lock - a lock event, as the module tells it; @mode and @state by its interface */
struct record_lock {
	u64 id, attempt, deadline_ns;
	u32 state, mode;
	bool renewed;
	const void *name;
	size_t name_len;
};

/** record_clusters() - print what the clusters of a configuration are like, a line each */
void record_clusters(const struct record *r, const struct bftm_conf *conf);
/** record_datagram() - one left or arrived, at @at ns of the time of day */
void record_datagram(struct record *r, bool sends, const struct bftm_msg *msg, u64 at);
/** record_event() - a lock event was read at @at */
void record_event(struct record *r, const struct record_lock *lock, u64 at);
/** record_flush() - print and forget entries up to @until */
void record_flush(struct record *r, u64 until);

#endif /* BFTM_CTL_RECORD_H */
