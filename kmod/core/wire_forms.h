/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The forms of the messages about locks; core/form.h says how they are read. Those of HELLO,
 * STALE, CHALLENGE, REFUSED and VERSION are the same in each protocol.
 */
#ifndef BFTM_CORE_WIRE_FORMS_H
#define BFTM_CORE_WIRE_FORMS_H

#define BFTM_COMMON_FORMS(FORM) \
	FORM(HELLO, NAMELESS, NO_MODE, 0, 0, \
	     ZERO(8) ZERO(8) ZERO(8) FIELD(features, 4) ZERO(4)) \
	FORM(STALE, NAMED_AS_ASKED, NO_MODE, 0, 0, FIELD(attempt, 8)) \
	FORM(CHALLENGE, NAMELESS, NO_MODE, 0, 0, \
	     FIELD(gno, 8) FIELD(lease_ns, 8) FIELD(token, 8) FIELD(features, 4) \
	     FIELD(spared, 1) FIELD(recovering, 1) ZERO(2)) \
	FORM(REFUSED, NAMED_AS_ASKED, NO_MODE, 0, 255, FIELD(attempt, 8)) \
	FORM(VERSION, NAMELESS, NO_MODE, 0, 255, NOTHING)

#define BFTM_LOCK_FORMS(FORM) \
	FORM(TRY, NAMED, MODES(1, 5), BFTM_FLAG_NOQUEUE | BFTM_FLAG_REASSERT | BFTM_FLAG_VALUE, 5, \
	     FILLED(attempt, 8) FILLED(k, 4) ZERO(4) FILLED(lease_ns, 8) FIELD(prio, 8) ZERO(8)) \
	FORM(RELEASE, NAMED, NO_MODE, BFTM_FLAG_VALUE | BFTM_FLAG_DOUBT, 0, FILLED(attempt, 8)) \
	FORM(YIELD, NAMED, NO_MODE, 0, 5, FILLED(attempt, 8) FIELD(gno, 8)) \
	FORM(STAMP, NAMED, MODES(1, 5), 0, 0, FILLED(attempt, 8) FILLED(token, 8) ZERO(8)) \
	FORM(RECOVER, NAMELESS, NO_MODE, 0, 0, ZERO(8) ZERO(8) FIELD(token, 8) ZERO(8)) \
	FORM(SYNC, NAMELESS, NO_MODE, 0, 0, FILLED(incarnation, 4) ZERO(4)) \
	FORM(ASK, NAMED, NO_MODE, 0, 0, ZERO(40)) \
	FORM(FREE, NAMED, MODES(1, 5), BFTM_FLAG_VALUE | BFTM_FLAG_DOUBT | BFTM_FLAG_DEADLOCK, 63, \
	     FILLED(attempt, 8) FILLED(k, 4) ZERO(4) FIELD(gno, 8) FIELD(prio, 8) FIELD(token, 8)) \
	FORM(LOCKED, NAMED, NO_MODE, 0, 0, \
	     FILLED(attempt, 8) FIELD(gno, 4) ZERO(4) FIELD(lease_ns, 8) FIELD(prio, 8) \
	     FIELD(token, 8)) \
	FORM(WAIT, NAMED, NO_MODE, BFTM_FLAG_DEADLOCK, 0, \
	     FILLED(attempt, 8) FIELD(gno, 4) FIELD(position, 4) FIELD(lease_ns, 8) \
	     FIELD(prio, 8) FIELD(token, 8)) \
	FORM(RELEASED, NAMED, NO_MODE, 0, 0, FILLED(attempt, 8)) \
	FORM(INQUIRE, NAMED, MODES(1, 5), 0, 0, \
	     FILLED(attempt, 8) FILLED(k, 4) ZERO(4) FIELD(gno, 8) FIELD(prio, 8) FIELD(token, 8)) \
	FORM(SACK, NAMED, NO_MODE, 0, 63, FILLED(attempt, 8) FIELD(gno, 8) FIELD(token, 8)) \
	FORM(SNACK, NAMED, NO_MODE, 0, 63, FILLED(attempt, 8) FIELD(gno, 8) FIELD(token, 8)) \
	FORM(SYNCED, NAMELESS, NO_MODE, 0, 0, FILLED(incarnation, 4) ZERO(4)) \
	FORM(OWNER, NAMED, MODES(0, 5), 0, 0, \
	     FIELD(attempt, 8) FIELD(owner, 4) FIELD(waiters, 4) FIELD(lease_ns, 8) \
	     FIELD(holders, 4) ZERO(4) FIELD(token, 8)) \
	FORM(PROBE, NAMED, MODES(1, 5), 0, 0, \
	     FILLED(attempt, 8) FILLED(k, 4) ZERO(4) FIELD(gno, 8) FIELD(prio, 8) FIELD(token, 8))

#endif /* BFTM_CORE_WIRE_FORMS_H */
