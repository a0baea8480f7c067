/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Races on the real module: something ends, or is put in another's place, while
 * traffic arrives. One process makes what is to end, over and over; others, begun
 * before it, are the traffic and never stop for it.
 */
#ifndef BFTM_RACES_H
#define BFTM_RACES_H

#include <stdbool.h>
#include <stdint.h>

#define RACES_CLUSTER	9
#define RACES_SERVER	1
/* Clients: two of locks, one of objects, and the one that helpers are. */
#define RACES_CLIENT	50
#define RACES_LOCKS	4
#define RACES_ORDER	54
#define RACES_HELPER	57
/* From so many iterations on, everything that can happen must have happened. */
#define RACES_ENOUGH	100
/* Client number of datagrams that are not authentic: the capture leaves them out. */
#define RACES_STRANGER	99

/**
 * struct races_shared - what all processes of a run count, each adding atomically
 * @sent:     datagrams about locks
 * @heard:    answers to them that are authentic
 * @granted:  FREE among them
 * @lasting:  those without a lease
 * @synced:   SYNCED
 * @pushed:   those that nobody asked for
 * @ordered:  answers about objects
 * @acquired: acquires through the device that succeeded
 * @pending:  those that did not at once
 * @converted: conversions that began
 * @submits:  submits that came to their end
 * @captured: datagrams that the capture has seen
 * @wrong:    what must not be: an answer with a wrong tag, an error nobody may get
 * @ready:    the helper of this iteration serves
 * @waiting:  helpers that came before the one before was gone
 * @killed:   helpers that were
 */
struct races_shared {
	uint64_t sent, heard, granted, lasting, synced, pushed, ordered;
	uint64_t acquired, pending, converted, submits;
	uint64_t captured, wrong, ready, waiting, killed;
};

/** struct races - a run; @dir is the folder of keys */
struct races {
	const char *dir, *ko, *dyndbg;
	const char *address;	/* of the server, for the traffic */
	bool capture;
	uint64_t iterations, seed;
	uint64_t hot;		/* iterations in which traffic was answered */
	struct races_shared *shared;
};

/**
 * struct scenario - what is raced
 * @name:  a word
 * @about: what ends, for people
 * @begin: once, before there is traffic; may be NULL
 * @once:  an iteration; false when something is wrong, and said
 * @end:   once, after it; false as above; may be NULL
 * @home:  the initial network namespace, not one of its own
 * @device: traffic through /dev/bftmutex too
 */
struct scenario {
	const char *name, *about;
	bool (*begin)(struct races *r);
	bool (*once)(struct races *r, uint64_t i);
	bool (*end)(struct races *r);
	bool home, device;
};

extern const struct scenario races_modules[], races_netns[], races_servers[];
extern const struct scenario races_members[], races_ingress[];
extern const struct scenario races_helpers[], races_dumps[], races_journal[];

/* Traffic; each is a process, and does not return. */
void races_traffic_locks(struct races *r, unsigned int number);
void races_traffic_order(struct races *r);
void races_traffic_device(struct races *r, unsigned int number);
void races_capture(struct races *r);

/** races_start() - a child that ends when we do; @traffic does not return. Its pid. */
int races_start(struct races *r, void (*traffic)(struct races *r, unsigned int number),
		unsigned int number);

/** races_random() - of this process, from the seed: 0 to @below - 1. */
uint32_t races_random(uint32_t below);
void races_seed(uint64_t seed);

/** races_pause() - between 0 and @most_us microseconds, at random. */
void races_pause(uint32_t most_us);

/** races_until() - @counter is above @value within @ms. Return: it is. */
bool races_until(const uint64_t *counter, uint64_t value, uint32_t ms);

/** races_failed() - say what is wrong. Return: false. */
__attribute__((format(printf, 1, 2)))
bool races_failed(const char *format, ...);

static inline void races_add(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

static inline uint64_t races_get(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

#endif /* BFTM_RACES_H */
