/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The starts of one server, as a client knows them. A server that starts draws an epoch, and has
 * forgotten what it granted; a client learns of it by CHALLENGE. A member, which may hold locks
 * without a lease, then tells the server what it holds, and that this is all (SYNC).
 */
#ifndef BFTM_CORE_PEER_H
#define BFTM_CORE_PEER_H

#include "core/wire.h"

/**
 * struct bftm_peer_epochs - of one server; zeroed before its first answer
 * @epoch:         its epoch, as CHALLENGE said; 0 before
 * @sent_epoch:    the epoch that requests name: as STALE said, if that is newer
 * @challenge_seq: CHALLENGE of a request with this number, or an earlier one, is not believed
 * @stale_seq:     number of the request that the newest STALE answered
 * @synced_epoch:  the epoch that has heard all that is held without a lease
 * @sync_ns:       SYNC is not said again before this time
 */
struct bftm_peer_epochs {
	u64 epoch;
	u64 sent_epoch;
	u64 challenge_seq;
	u64 stale_seq;
	u64 synced_epoch;
	u64 sync_ns;
};

/** enum bftm_peer_news - what a CHALLENGE says */
enum bftm_peer_news {
	BFTM_PEER_OLD,		/* nothing: a newer was heard, or it may be of an earlier start */
	BFTM_PEER_SAME,		/* it has the epoch that is known */
	BFTM_PEER_NEW,		/* it has another epoch: what it granted before is forgotten */
};

/**
 * bftm_peer_challenge() - the server says which epoch it has
 * @p:        of the server
 * @msg:      CHALLENGE, authentic and fresh
 * @last_seq: the last number that this client has used; CHALLENGE of a higher one answers nothing
 *
 * An old CHALLENGE, kept by somebody, never turns the epoch back, and one older than the newest
 * STALE does not change where requests are sent. A new epoch voids all numbers
 * used so far: a HELLO that was sent before may have been answered by an earlier epoch.
 */
enum bftm_peer_news bftm_peer_challenge(struct bftm_peer_epochs *p, const struct bftm_msg *msg,
					u64 last_seq);

/**
 * bftm_peer_begin() - this client numbers its requests above @first_seq from now on
 * @p:         of the server
 * @first_seq: a CHALLENGE that answers this number, or a lower one, is not believed: another
 *             process drew that number, and may have sent it at any time
 */
void bftm_peer_begin(struct bftm_peer_epochs *p, u64 first_seq);

/**
 * bftm_line_follows() - may this client go on with numbers that another process counts?
 * @seq:         last sequence number of that process
 * @attempt:     its last attempt
 * @seq_before:  last sequence number that this client has used until now
 * @attempt_before: its last attempt until now
 *
 * Servers take lower numbers for old. They drop a request with a lower sequence number; and they
 * take RELEASE of an attempt for the end of all attempts with lower numbers.
 */
static inline bool bftm_line_follows(u64 seq, u64 attempt, u64 seq_before, u64 attempt_before)
{
	return seq >= seq_before && attempt >= attempt_before;
}

/**
 * bftm_peer_stale() - the server says that a request named an epoch that it does not have
 * @p:   of the server
 * @msg: STALE, authentic and fresh
 *
 * STALE says where to send, and no more: grants of that epoch count after its CHALLENGE.
 * Return: true when the epoch is another than requests name: HELLO is due at once.
 */
bool bftm_peer_stale(struct bftm_peer_epochs *p, const struct bftm_msg *msg);

/** bftm_peer_unsynced() - is SYNC due at @now, ns, if all that is held was told? */
bool bftm_peer_unsynced(const struct bftm_peer_epochs *p, u64 now);

/**
 * bftm_peer_sync() - is SYNC to be said now, to the epoch of the last CHALLENGE?
 * @p:         of the server
 * @told:      all that this host holds without a lease is known here, and the server has granted
 *             it again, as far as it is told of it (retold of struct bftm_client_ops)
 * @now:       the clock of leases, ns
 * @resend_ns: pause between two SYNC
 * Return: true; then the caller says it.
 */
bool bftm_peer_sync(struct bftm_peer_epochs *p, bool told, u64 now, u64 resend_ns);

/**
 * bftm_peer_synced() - the server has heard SYNC
 * @p:    of the server
 * @msg:  SYNCED, authentic and fresh
 * @boot: the incarnation that SYNC named
 */
void bftm_peer_synced(struct bftm_peer_epochs *p, const struct bftm_msg *msg, u32 boot);

/**
 * bftm_disowns() - does this client say that it does not hold by an attempt it does not know?
 * @attempt: of a FREE, INQUIRE or PROBE
 * @boot:    the first incarnation since this host booted; 0: it is not known
 * @all:     all that this host holds is known here
 *
 * An attempt of an earlier boot ends by SYNC, and one that an earlier helper has won may be held.
 */
static inline bool bftm_disowns(u64 attempt, u32 boot, bool all)
{
	return all && boot && attempt >> 32 >= boot;
}

#endif /* BFTM_CORE_PEER_H */
