/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The forms of the messages about objects; core/form.h says how they are read. ordering/wire.h
 * says for each type what follows the body. HELLO, STALE, CHALLENGE, REFUSED and VERSION
 * have the forms of core/wire_forms.h.
 */
#ifndef BFTM_CORE_ORDER_WIRE_FORMS_H
#define BFTM_CORE_ORDER_WIRE_FORMS_H

#define BFTM_ORDER_FORMS(FORM) \
	FORM(SUBMIT, NAMED, NO_MODE, BFTM_ORDER_FLAG_BODY, 0, \
	     FILLED(op, 8) FIELD(id.len, 4) FIELD(offset, 4) FIELD(id.digest, 32)) \
	FORM(GET, NAMED, NO_MODE, BFTM_ORDER_FLAG_SIGNED, 0, \
	     FILLED(rank.count, 8) FIELD(rank.incarnation, 4) FIELD(from, 4)) \
	FORM(PROPOSE, NAMED, NO_MODE, BFTM_ORDER_FLAG_BODY, 0, \
	     FILLED(rank.count, 8) FIELD(rank.incarnation, 4) ZERO(4) \
	     FIELD(id.version, 8) FIELD(id.len, 4) ZERO(4) FIELD(id.digest, 32)) \
	FORM(COMMIT, NAMED, NO_MODE, BFTM_ORDER_FLAG_BODY, 0, \
	     FILLED(rank.count, 8) FIELD(rank.incarnation, 4) ZERO(4) \
	     FIELD(id.version, 8) FIELD(id.len, 4) ZERO(4) FIELD(id.digest, 32)) \
	FORM(INSTALL, NAMED, NO_MODE, BFTM_ORDER_FLAG_BODY, 0, \
	     FILLED(rank.count, 8) FIELD(rank.incarnation, 4) ZERO(4) \
	     FIELD(id.version, 8) FIELD(id.len, 4) ZERO(4) FIELD(id.digest, 32)) \
	FORM(FETCH, NAMED, NO_MODE, 0, 0, \
	     FIELD(id.version, 8) FIELD(id.len, 4) FIELD(offset, 4) FIELD(id.digest, 32)) \
	FORM(PUT, NAMED, NO_MODE, 0, 0, \
	     FIELD(id.version, 8) FIELD(id.len, 4) FIELD(offset, 4) FIELD(id.digest, 32)) \
	FORM(COMMIT_GET, NAMED, NO_MODE, BFTM_ORDER_FLAG_BODY | BFTM_ORDER_FLAG_SIGNED, 0, \
	     FILLED(rank.count, 8) FIELD(rank.incarnation, 4) ZERO(4) \
	     FIELD(id.version, 8) FIELD(id.len, 4) ZERO(4) FIELD(id.digest, 32) \
	     FILLED(then.count, 8) FIELD(then.incarnation, 4) FIELD(from, 4)) \
	FORM(LIST, NAMELESS, NO_MODE, 0, 0, \
	     FIELD(cursor, 8)) \
	FORM(RESPONSE, NAMED, NO_MODE, 0, 0, \
	     FILLED(op, 8) FIELD(id.len, 4) FIELD(offset, 4)) \
	FORM(PENDING, NAMED, NO_MODE, 0, 0, \
	     FILLED(op, 8) FIELD(id.len, 4) FIELD(offset, 4)) \
	FORM(GOT, NAMED, NO_MODE, 0, 0, \
	     FILLED(rank.count, 8) FIELD(rank.incarnation, 4) FIELD(pending, 4) \
	     FIELD(id.version, 8) FIELD(id.len, 4) ZERO(4) FIELD(id.digest, 32) \
	     FIELD(sp.version, 8) FIELD(sp.len, 4) ZERO(4) FIELD(sp.digest, 32) \
	     FIELD(prop.count, 8) FIELD(prop.incarnation, 4) FIELD(prop.client, 4)) \
	FORM(RECOVERING, NAMED, NO_MODE, 0, 0, \
	     FILLED(rank.count, 8) FIELD(rank.incarnation, 4) ZERO(4)) \
	FORM(PROPOSED, NAMED, NO_MODE, 0, 0, \
	     FILLED(rank.count, 8) FIELD(rank.incarnation, 4) ZERO(4)) \
	FORM(COMMITTED, NAMED, NO_MODE, 0, 0, \
	     FILLED(rank.count, 8) FIELD(rank.incarnation, 4) ZERO(4)) \
	FORM(INSTALLED, NAMED, NO_MODE, 0, 0, \
	     FILLED(rank.count, 8) FIELD(rank.incarnation, 4) ZERO(4)) \
	FORM(EXCEPTION, NAMED, NO_MODE, BFTM_ORDER_FLAG_SIGNED, 0, \
	     FILLED(rank.count, 8) FIELD(rank.incarnation, 4) ZERO(4) \
	     FIELD(max.count, 8) FIELD(max.incarnation, 4) FIELD(max.client, 4)) \
	FORM(NEEDBODY, NAMED, NO_MODE, 0, 0, \
	     FILLED(op, 8) FIELD(id.len, 4) FIELD(offset, 4)) \
	FORM(BODY, NAMED, NO_MODE, 0, 0, \
	     FIELD(id.version, 8) FIELD(id.len, 4) FIELD(offset, 4) FIELD(id.digest, 32)) \
	FORM(NOBODY, NAMED, NO_MODE, 0, 0, \
	     FIELD(id.version, 8) FIELD(id.len, 4) FIELD(offset, 4) FIELD(id.digest, 32)) \
	FORM(STORED, NAMED, NO_MODE, 0, 0, \
	     FIELD(id.version, 8) FIELD(id.len, 4) FIELD(offset, 4) FIELD(id.digest, 32)) \
	FORM(COMMITTED_GOT, NAMED, NO_MODE, 0, 0, \
	     FILLED(rank.count, 8) FIELD(rank.incarnation, 4) ZERO(4) \
	     FILLED(then.count, 8) FIELD(then.incarnation, 4) FIELD(pending, 4)) \
	FORM(LISTED, NAMELESS, NO_MODE, 0, 0, \
	     FIELD(cursor, 8) FIELD(next, 8) FIELD(recovering, 1) ZERO(7))

#endif /* BFTM_CORE_ORDER_WIRE_FORMS_H */
