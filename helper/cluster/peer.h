/* SPDX-License-Identifier: GPL-2.0 */
/* A server of a cluster: what is known of it, and what it did. */
#ifndef BFTM_PEER_H
#define BFTM_PEER_H

#include "core/peer.h"
#include "core/replay.h"
#include "config/conf.h"
#include "cluster/lies.h"
#include "crypto/keys.h"

/**
 * struct bftm_record - what a server did, since the daemon started
 * @sent:       datagrams to it
 * @received:   authentic answers
 * @free:       of these, FREE
 * @locked:     of these, LOCKED
 * @waited:     of these, WAIT
 * @refused:    of these, REFUSED
 * @released:   of these, RELEASED
 * @bad:        datagrams in its name that were not authentic or malformed
 * @repeated:   answers that had come before
 * @late:       answers that took longer than a repetition waits for
 * @rounds:     rounds of try() in which it was asked
 * @unanswered: those in which it did not answer
 * @disagreed:  those in which it said LOCKED though enough others said FREE
 * @lately:     the same, of the last rounds that were won
 * @lies:       answers that no honest server gives, by kind; [BFTM_LIE_NONE] are all others
 * @pushed:     FREE, INQUIRE and PROBE that were not asked for
 * @ordered:    answers of the ordering protocol
 * @false_bodies: bodies that do not have the digest by which they were asked for
 * @false_responses: responses other than what b + 1 servers say
 * @false_signatures: ranks with a signature that is not their client's
 */
struct bftm_record {
	u64 sent;
	u64 received;
	u64 free;
	u64 locked;
	u64 waited;
	u64 refused;
	u64 released;
	u64 bad;
	u64 repeated;
	u64 late;
	u64 rounds;
	u64 unanswered;
	u64 disagreed;
	u64 lately;
	u64 lies[BFTM_LIES];
	u64 pushed;
	u64 ordered;
	u64 false_bodies;
	u64 false_responses;
	u64 false_signatures;
};

/**
 * struct bftm_peer - one server
 * @conf:          its section of the configuration
 * @pair:          keys, of the cluster's credentials
 * @request_mac:   prepared key of what is sent to it
 * @reply_mac:     prepared key of what it sends
 * @known:         its epoch, as CHALLENGE and STALE said
 * @epochs:        what it was before
 * @lease_max_ns:  the longest lease that it grants, as CHALLENGE said; 0 before
 * @quarantine_until_ns: as it said, by our clock
 * @asked_ns:      when the oldest request was sent that is not answered, 0 for none
 * @heard_ns:      when it was heard last, 0 for never
 * @hello_ns:      when HELLO was sent to it, last
 * @locked_gno:    grant named by its last LOCKED, the low half
 * @counted_gno:   the same, when it last disagreed with a round won
 * @counted_ns:    and when that was
 * @token:         no higher fencing token was stamped there, or
 *                 BFTM_TOKEN_UNKNOWN
 * @sent_seq:      sequence number of the last request to it
 * @version:       of the wire format, when it says that it speaks another; else 0
 * @taken:         it has taken a number of this daemon's, whatever it answered
 * @ahead:         highest number of this client that it has taken, when it said last that ours
 *                 are behind; 0 when it answers
 * @hasty_epoch:   of a start whose quarantine is too short, after that was reported
 * @suspect:       there is evidence against it, and that was reported
 * @reported_ns:   when, the last time
 * @evicted:       highest incarnation of this client that it has refused as evicted
 * @denied:        that it refuses SYNC was logged, and it has taken none since
 * @recovering:    it waits for SYNC of members, as CHALLENGE said
 * @unnoted:       it said last, when it was asked for a lock without a lease, that its roll does not
 *                 name this host
 * @spared:        servers that may restart without a quarantine, as it said that it does; else 0
 * @forgetful_ns:  when it was logged, last, that its grants do not count
 * @silent:        that it does not answer was reported
 * @answers:       the numbers of its answers that were taken
 * @record:        what it did
 * @restarted_ns:  when it was logged, last, that it has restarted
 * @hasty_ns:      when it was logged, last, that its quarantine is too short
 * @short_ns:      when it was logged, last, that it refuses a lock
 * @refusal:       enum bftm_refusal: it has refused a lock for lack of rights or room, or its lease,
 *                 and answered no request for one since; else 0
 * @refused_ns:    when it did so, last
 * @forgot_ns:     when an object could not be had, last, since this server and others have lost their
 *                 memory of objects; 0 for never, or it was restarted since
 * @mute_ns:       the same, since this server gave no answer about objects, and others none either
 * @learned_ns:    when it was logged, last, that it has learned of tokens
 * @silent_ns:     when that was reported, last: @silent
 */
struct bftm_peer {
	const struct bftm_conf_server *conf;
	const struct bftm_pair *pair;
	struct bftm_mac *request_mac;
	struct bftm_mac *reply_mac;
	struct bftm_peer_epochs known;
	struct bftm_epochs epochs;
	u64 lease_max_ns;
	u64 quarantine_until_ns;
	u64 asked_ns;
	u64 heard_ns;
	u64 hello_ns;
	u64 counted_ns;
	u64 token;
	u64 sent_seq;
	u64 reported_ns;
	u64 restarted_ns;
	u64 hasty_ns;
	u64 short_ns;
	u64 refused_ns;
	u64 forgot_ns;
	u64 mute_ns;
	u64 learned_ns;
	u64 silent_ns;
	u64 forgetful_ns;
	u64 hasty_epoch;
	u64 ahead;
	u32 locked_gno;
	u32 counted_gno;
	u32 evicted;
	u8 version;
	u8 spared;
	u8 refusal;
	bool taken;
	bool suspect;
	bool denied;
	bool recovering;
	bool unnoted;
	bool silent;
	struct bftm_window answers;
	struct bftm_record record;
};

#endif /* BFTM_PEER_H */
