/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Server side of the ordering protocol (Figure 3, corrected). One struct
 * bftm_object per name; the caller keeps it and its bodies, serialises the calls
 * and authenticates what it passes in.
 *
 * Bodies are the caller's: the core stores and drops pointers. After each step
 * the caller compares @sc and @sp with what they were before, and finds pending
 * operations that were dropped behind @pend->count, up to the count before, or as
 * @replaced.
 */
#ifndef BFTM_CORE_ORDER_SERVER_H
#define BFTM_CORE_ORDER_SERVER_H

#include "core/admit.h"
#include "core/ordering/state.h"
#include "core/ordering/wire.h"

/**
 * struct bftm_body - a state or an operation; never changes
 * @id:   with the digest of @data, which the caller has computed itself
 * @data: @id.len bytes
 */
struct bftm_body {
	struct bftm_body_id id;
	const u8 *data;
};

/** bftm_state_id() - the id of a state; that of σ0, for which there is no body, is all zero */
static inline const struct bftm_body_id *bftm_state_id(const struct bftm_body *body)
{
	static const struct bftm_body_id initial;

	return body ? &body->id : &initial;
}

/** bftm_is_initial() - is it the id of σ0? */
static inline bool bftm_is_initial(const struct bftm_body_id *id)
{
	return bftm_body_same(id, bftm_state_id(NULL));
}

/**
 * struct bftm_pending - an operation that waits
 * @op:     its number
 * @client: whose
 * @room:   of its SUBMIT: no response that comes unasked takes more
 * @body:   what it is
 */
struct bftm_pending {
	u64 op;
	u32 client;
	u32 room;
	struct bftm_body *body;
};

/**
 * struct bftm_pendings - what waits, one entry a client, ascending
 * @count: entries in use
 * @room:  entries there are; the caller provides them
 * @entry: @count of @room are in use
 */
struct bftm_pendings {
	u32 count;
	u32 room;
	struct bftm_pending entry[];
};

/**
 * struct bftm_object - an object at a server
 * @max:        maxRank of Figure 3
 * @prop:       proposer: the rank that @sp was proposed or committed with
 * @told:       rank of the last GET that was answered RECOVERING
 * @signature:  of @max, all zero when it came without one
 * @sc:         σc, the state committed last; NULL for σ0
 * @sp:         σpc, proposed or committed last; likewise
 * @pend:       pending; NULL is none
 * @replaced:   body of an operation that the last step put another for, or NULL
 * @recovering: this server may have promised or stored what it does not know
 */
struct bftm_object {
	struct bftm_rank max;
	struct bftm_rank prop;
	struct bftm_rank told;
	u8 signature[BFTM_SIGNATURE_LEN];
	struct bftm_body *sc;
	struct bftm_body *sp;
	struct bftm_pendings *pend;
	struct bftm_body *replaced;
	bool recovering;
};

/** bftm_object_init() - an object in σ0. */
void bftm_object_init(struct bftm_object *o, bool recovering);

/** bftm_object_stored() - is the body of this PUT a state that the object has already? */
bool bftm_object_stored(const struct bftm_object *o, const struct bftm_order_msg *req);

/** bftm_object_body() - the body of this id that the object knows; or NULL. */
struct bftm_body *bftm_object_body(const struct bftm_object *o,
				   const struct bftm_body_id *id);

/**
 * bftm_object_wants() - would bftm_order_step() look at a body with this request?
 * @o:   the object that the request names
 * @req: the request, authentic
 *
 * If not, the caller need not make one of the data, nor look for an upload.
 */
bool bftm_object_wants(const struct bftm_object *o, const struct bftm_order_msg *req);

/**
 * bftm_object_lacks_room() - will this SUBMIT find no room in @o->pend?
 * @o:   the object that the request names
 * @req: the request, authentic
 *
 * The caller may then provide a larger one, of up to BFTM_PENDING_MAX entries
 * with the old ones copied; without it the request is refused.
 */
bool bftm_object_lacks_room(const struct bftm_object *o, const struct bftm_order_msg *req);

/**
 * bftm_order_step() - decide a request
 * @cfg:   the server
 * @o:     the object it names
 * @req:   any request but PUT, authentic, of this incarnation
 * @body:  the body @req->id if the caller has it, from the data or an upload and
 *         with a digest that it has checked; NULL if not
 * @now:   the clock of leases in ns
 * @out:   room for @req->room bytes: where the reply's body will be, data and signature of
 *         which it gets already
 * @reply: the answer, type BFTM_MSG_NONE for silence; type BFTM_MSG_REFUSED with
 *         enum bftm_refusal in @offset becomes a struct bftm_msg. May not be
 *         @req
 */
void bftm_order_step(const struct bftm_server_cfg *cfg, struct bftm_object *o,
		     const struct bftm_order_msg *req, struct bftm_body *body,
		     u64 now, u8 *out, struct bftm_order_msg *reply);

/**
 * bftm_order_response() - what a client whose operation was dropped is to hear
 * @o:   the object that the request names
 * @p:   the operation, of those behind @o->pend->count after a COMMIT
 * @out: room for @p->room bytes, as for bftm_order_step()
 * @ret: RESPONSE, all but @name, @cluster, @server and @server_epoch; type
 *       BFTM_MSG_NONE when there is none to this very operation
 */
void bftm_order_response(const struct bftm_object *o, const struct bftm_pending *p,
			 u8 *out, struct bftm_order_msg *ret);

#endif /* BFTM_CORE_ORDER_SERVER_H */
